# SPDX-License-Identifier: Apache-2.0
"""What columns are usually called, so that a call or command can be proposed; nothing is ever assumed from a name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WORDS: Final = {
    "truth": "y|truth|true|label|target|class|actual|gold|outcome|diagnosis|reference|ground_?truth",
    "predicted": "p|pred|predicted|prediction|yhat|y_hat|guess|called|output|decision",
    "score": "s|p|p_?1|score|prob|proba|probability|logit|confidence|risk",
}


def fits_role(column: str, role: str) -> bool:
    """Whether a column is called as columns of a role usually are.

    >>> fits_role("y_true", "truth"), fits_role("Predicted class", "predicted"), fits_role("sex", "truth")
    (True, True, False)
    """
    words = _WORDS[role]
    around = rf"((the_)?({words})(s|_?(label|class|value)s?)?|(y|label|class)_({words}))"
    return re.fullmatch(around, column.casefold().replace(" ", "_")) is not None


def likely_column(columns: Iterable[str], role: str) -> str | None:
    """The first column that is called so.

    >>> likely_column(["id", "label", "pred"], "predicted")
    'pred'
    """
    return next((column for column in columns if fits_role(column, role)), None)
