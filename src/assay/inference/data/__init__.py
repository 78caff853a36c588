# SPDX-License-Identifier: Apache-2.0
"""What chance does to data: errors in the truth, new values, two samples."""
