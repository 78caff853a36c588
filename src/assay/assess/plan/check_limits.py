# SPDX-License-Identifier: Apache-2.0
"""Thresholds of the checks, which a plan may set."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from assay.assess.plan.field_types import Section, Share, says


class Thresholds(Section):
    """Thresholds of the checks; all of them are printed with their results."""

    imbalance_ratio: Annotated[float, Field(strict=True, ge=1)] = says(
        "Largest over smallest class up to which classes count as balanced.", 1.5, default=1.5
    )
    prevalence: tuple[Share, Share] = says(
        "Prevalences between which AUROC is trusted.", [0.2, 0.8], default=(0.2, 0.8)
    )
    alpha: Annotated[float, Field(strict=True, gt=0, lt=0.5)] = says("Level of the checks' tests.", 0.05, default=0.05)
    association: Share = says("Cramér's V from which an association counts.", 0.1, default=0.1)
    share_gap: Share = says("Difference of shares that counts.", 0.05, default=0.05)
    excess: Share = says("Excess of a channel-only guess over chance that counts.", 0.05, default=0.05)
    outside: Share = says(
        "Share of test values outside the range of training from which it counts.", 0.01, default=0.01
    )
    proxy_auroc: Share = says(
        "AUROC from which one feature alone is suspected to stand for the label.", 0.99, default=0.99
    )
    proxy_association: Share = says("Cramér's V from which it is.", 0.95, default=0.95)
    stable: Share = says("Share of relabellings that must leave the conclusion as it is.", 0.95, default=0.95)
    near: Share = says(
        "Standard deviations up to which numbers nearly coincide; less where chance would bring such rows.",
        0.001,
        default=0.001,
    )
    similarity: Share = says("Share of their shingles that like texts have in common.", 0.8, default=0.8)
    picture_distance: Annotated[int, Field(strict=True, ge=0, le=32)] = says(
        "Bits of 64 in which like pictures differ at most.", 4, default=4
    )
    distance: Share = says(
        "Gap between the distributions of a feature (Kolmogorov-Smirnov) that counts.", 0.1, default=0.1
    )
