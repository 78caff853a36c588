# SPDX-License-Identifier: Apache-2.0
"""The commands, one module for each or for a few that belong together."""
