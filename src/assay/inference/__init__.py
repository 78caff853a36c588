# SPDX-License-Identifier: Apache-2.0
"""How sure a number is: intervals from tallies, each with its method by name."""
