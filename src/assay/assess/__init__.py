# SPDX-License-Identifier: Apache-2.0
"""From a plan to a Record: what is asked, what is run, what conforms, and where the sources are wrong."""
