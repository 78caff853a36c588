# SPDX-License-Identifier: Apache-2.0
"""Images and masks in files."""
