# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/reference, each kind from one template."""
