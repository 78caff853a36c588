# SPDX-License-Identifier: Apache-2.0
"""Small, exact, mergeable counts: the only layer that sees rows."""
