# SPDX-License-Identifier: Apache-2.0
"""Quotients of sums over images that say why they are undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import numpy as np

from assay.core.values import Number, Undefined, number
from assay.tasks.segmentation.tally import Masks

if TYPE_CHECKING:
    from assay.core.arrays import Floats
    from assay.core.values import Amount


NO_OBJECT: Final = "no mask holds an object"
NO_SPACING: Final = "the spacing of the pixels is not stated: spacing=1 counts in pixels"
NO_SURFACE: Final = "no image has an object in both masks"
MISSED: Final = "; state missed='skip' to leave such images out, or missed='worst' to score them with the diagonal"


def average(t: Masks, total: Amount, *, given: Amount | None = None, without: str = "") -> Number:
    """A sum over images over the images that have a value; none where `given` is 0."""
    if given is None:
        return number(total, over=t.defined, empty=NO_OBJECT)
    over = _plain(np.where(np.asarray(given) > 0, t.defined, 0))
    return number(total, over=over, empty=((given, without), (t.defined, NO_OBJECT)))


def divide_measured(t: Masks, top: Amount, over: Amount) -> Number:
    """A quotient of surfaces; undefined where an image was missed or has no spacing, unless a rule says what to do."""
    if isinstance(t.images, np.ndarray):
        over = np.where(t.blocked > 0, 0, over)
    else:
        if t.blocked:
            reason = f"{int(t.blocked)} of {int(t.images)} images have an object in one mask only" + MISSED
            return cast("Number", Undefined(reason=reason, code="one-side-empty"))
        if 0 < t.spaced < t.images:
            reason = f"{int(t.images - t.spaced)} of {int(t.images)} images have no spacing; state spacing="
            return cast("Number", Undefined(reason=reason, code="one-side-empty"))
    return number(top, over=over, empty=((t.spaced, NO_SPACING), (over, NO_SURFACE)))


def average_classes(top: Floats, over: Floats) -> Number:
    """The mean over classes; undefined where a class has no value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(over > 0, top / over, np.nan)
    empty = np.isnan(values).any(axis=-1) | (values.shape[-1] == 0)
    mean = np.where(empty, 0.0, np.nan_to_num(values).sum(axis=-1) / max(values.shape[-1], 1))
    return number(_plain(mean), over=_plain(np.where(empty, 0.0, 1.0)), empty="a class has no value, or there is none")


def _plain(x: Floats) -> Amount:
    """A single number as such."""
    return x if x.ndim else cast("Amount", float(x))
