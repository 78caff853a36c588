# SPDX-License-Identifier: Apache-2.0
"""What a report of classes shows beyond that of every task: the confusion matrix, scores and their curves."""
