# SPDX-License-Identifier: Apache-2.0
"""Every measure rests on at least two reference origins that know nothing of each other."""

from __future__ import annotations

import pytest

from assay.measures import REGISTRY
from assay.measures.catalogue import guidance_of
from tests.reference import by_definition, peers, worked

ALONE = {
    "uniform_chance_accuracy": "1 / K: nothing to compare with",
    "youden_index_micro": "no peer pools it; an identity ties it to micro recall and micro specificity",
    "false_omission_rate_micro": "no peer pools it; an identity ties it to micro specificity",
    "expected_cost": "two products and a sum; an identity ties it to the error rate",
    "p4_weighted": "no peer has it; its class values are compared with SciPy",
}


def origins(name):
    found = {"definition"} if by_definition.knows(name) else set()
    by_peer = {
        "scikit-learn": peers.BY_SCIKIT_LEARN,
        "PyCM": peers.BY_PYCM,
        "statsmodels": peers.BY_STATSMODELS,
        "SciPy": peers.BY_SCIPY,
    }
    found |= {peer for peer, names in by_peer.items() if name in names}
    found |= {"scikit-learn" for call in guidance_of(REGISTRY.find(name)).elsewhere if "sklearn.metrics." in call}
    for document, content in worked.documents().items():
        found |= {document} if any(e["measure"] == name for c in content["case"] for e in c["values"]) else set()
    return found


@pytest.mark.parametrize("name", [m.name for m in REGISTRY if m.from_labels])
def test_a_measure_has_two_reference_origins(name):
    known = origins(name)
    wanted = 1 if name in ALONE else 2
    assert len(known) >= wanted, (
        f"{name} needs {wanted} origins and has {', '.join(sorted(known)) or 'none'}: write its definition in "
        "tests/reference/by_definition.py, and name a call in elsewhere=, or add a worked value to a .toml beside it"
    )


def test_nothing_is_called_alone_that_has_company():
    assert not [name for name in ALONE if len(origins(name)) > 1]


def test_the_lists_of_peers_name_measures():
    named = peers.BY_SCIKIT_LEARN | peers.BY_PYCM | peers.BY_STATSMODELS | peers.BY_SCIPY
    assert not [name for name in named if name not in REGISTRY]
