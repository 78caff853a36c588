# SPDX-License-Identifier: Apache-2.0
"""From the answers of several models to a comparison."""
