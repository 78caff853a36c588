# SPDX-License-Identifier: Apache-2.0
"""The doors: the command line."""
