"""The pipeline, and what it answers when nothing is wrong with it."""

from __future__ import annotations

import pytest

from ragauge.demo.pipeline import Pipeline
from tests.demo.asking import QUESTIONS, WORDINGS, is_right, reply


@pytest.fixture(scope="session")
def pipeline() -> Pipeline:
    return Pipeline.of()


@pytest.fixture(scope="session")
def healthy(pipeline) -> dict[str, dict]:
    """The replies to the questions that the gold set does not ask."""
    return {question: reply(pipeline, question) for question in QUESTIONS}


@pytest.fixture(scope="session")
def gold_replies(pipeline) -> dict[str, dict]:
    """The replies to every wording of the gold set."""
    return {wording: reply(pipeline, wording) for wording in WORDINGS}


@pytest.fixture(scope="session")
def told_right(gold_replies) -> list[str]:
    """The wordings of the gold set that are answered right."""
    found = [wording for wording, made in gold_replies.items() if is_right(wording, made)]
    assert len(found) > 100
    return found
