# SPDX-License-Identifier: Apache-2.0
"""Files as rows: which ones are meant, how they are read, and the checks of each format."""
