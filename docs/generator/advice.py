# SPDX-License-Identifier: Apache-2.0
"""What a page says on choosing a measure."""

from __future__ import annotations

from assay.measures.catalogue import guidance_of
from assay.measures.declare import Measure
from generator.markdown import plain


def advice(one: Measure) -> list[str]:
    """When a measure fits, when not, and its names in other libraries."""
    guidance = guidance_of(one)
    names = ", ".join(f"`{name}`" for name in guidance.elsewhere)
    return [
        f"- **Use it when** {plain(guidance.use)}.",
        f"- **Avoid it when** {plain(guidance.avoid)}.",
        f"- **Elsewhere**: {names}" if names else "- **Elsewhere**: we know no function for it in other libraries.",
    ]
