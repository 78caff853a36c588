# SPDX-License-Identifier: Apache-2.0
"""Words every layer shares: errors, values, traits, registry, text."""
