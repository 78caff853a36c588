# SPDX-License-Identifier: Apache-2.0
"""`python -m assay`."""

from __future__ import annotations

from assay.app.cli import main

if __name__ == "__main__":
    main()
