# SPDX-License-Identifier: Apache-2.0
"""A Record made readable; nothing is computed again here."""
