# SPDX-License-Identifier: Apache-2.0
"""Reads files, folders, tables and arrays that hold boxes."""
