# SPDX-License-Identifier: Apache-2.0
"""The sections of reports as blocks: headings, paragraphs, tables, figures and notes, without any look."""
