# SPDX-License-Identifier: Apache-2.0
"""One folder for each machine-learning task; every folder declares a TASK by the contract in `core/task.py`."""
