# SPDX-License-Identifier: Apache-2.0
"""The questions of a comparison: what is asked of the tallies, and the answers."""
