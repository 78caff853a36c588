# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from importlib.metadata import version

import assay


def test_every_public_name_can_be_had():
    assert assay.__all__
    assert len(set(assay.__all__)) == len(assay.__all__)
    missing = [name for name in assay.__all__ if not hasattr(assay, name)]
    assert not missing


def test_every_public_name_is_listed_for_completion():
    assert set(assay.__all__) <= set(dir(assay))


def test_the_version_is_the_one_of_the_distribution():
    assert assay.__version__ == version("assay")
