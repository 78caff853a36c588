# SPDX-License-Identifier: Apache-2.0
"""The plan of an assessment: what is declared before anything is counted, from one model of its fields."""
