# SPDX-License-Identifier: Apache-2.0
"""Blocks drawn as HTML, PDF, Markdown, terminal text, notebook fragment, JUnit XML and GitHub annotations."""
