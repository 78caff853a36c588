# SPDX-License-Identifier: Apache-2.0
"""A Record in formats of others: CycloneDX, model cards, reporting checklists."""
