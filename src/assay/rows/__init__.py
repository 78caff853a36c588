# SPDX-License-Identifier: Apache-2.0
"""Opening what users have: arrays, frames, files; columns by the role they play."""
