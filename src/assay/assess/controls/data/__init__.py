# SPDX-License-Identifier: Apache-2.0
"""Controls of data sets."""
