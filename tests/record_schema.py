# SPDX-License-Identifier: Apache-2.0
"""The schema of Records for tests: the schema itself is checked once, which takes longer than to check a Record."""

from __future__ import annotations

from functools import cache

from jsonschema.validators import validator_for

from assay.assess.record.record import schema


@cache
def _validator():
    validator = validator_for(schema())
    validator.check_schema(schema())
    return validator(schema())


def validate(content):
    """Check the content of a Record against its schema."""
    _validator().validate(content)
