"""The example of the published record is one, and can be shown in every form."""

import json

import jsonschema
import msgspec
import pytest

from ragauge.contracts.kinds import FORMS
from ragauge.contracts.schemas import examples, schema
from ragauge.contracts.stability import StabilityReport
from ragauge.reports.rendering import render
from tests.reports import sweeps


@pytest.fixture
def validator():
    found = schema("stability-report")
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def test_the_example_and_every_report_are_valid(validator):
    [example] = examples("stability-report")
    example = json.loads(json.dumps(example))
    validator.validate(example)
    for report in (sweeps.telling(), sweeps.reference()):
        validator.validate(json.loads(render(report, "json")))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**example, "cells": 3})


@pytest.mark.parametrize("form", FORMS)
def test_the_example_has_every_form(form):
    [example] = examples("stability-report")
    report = msgspec.convert(example, StabilityReport)
    assert "q1" in render(report, form)
