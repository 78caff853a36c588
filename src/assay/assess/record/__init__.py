# SPDX-License-Identifier: Apache-2.0
"""The Record: written, read, verified, signed."""
