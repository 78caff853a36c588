# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from assay.core.traits import EXTENSION, FUND, RAINIO, SCHLOSSER, TS4213, Better, Task


@pytest.mark.parametrize(
    ("source", "cited"),
    [
        (TS4213("6.3.4"), "ISO/IEC TS 4213:2022, clause 6.3.4"),
        (TS4213("Annex D"), "ISO/IEC TS 4213:2022, Annex D"),
        (TS4213("Table A.3"), "ISO/IEC TS 4213:2022, Table A.3"),
        (RAINIO("eq. 2"), "Rainio et al. 2024, eq. 2"),
        (FUND("metrics"), "Fund, metrics"),
        (SCHLOSSER("eq. 6"), "Schlosser et al. 2024, eq. 6"),
    ],
    ids=str,
)
def test_a_source_is_cited_with_its_place(source, cited):
    assert str(source) == cited


def test_a_source_can_be_compared_and_kept_in_a_set():
    assert len({TS4213("6.2.4"), TS4213("6.2.4"), EXTENSION}) == 2


def test_traits_read_as_words():
    assert {str(task) for task in Task} == {"binary", "multiclass"}
    assert str(Better.HIGHER) == "higher is better"
    assert str(Better.LOWER) == "lower is better"
