# SPDX-License-Identifier: Apache-2.0
"""Training and testing models ourselves: splits, running them, and keeping what is finished."""
