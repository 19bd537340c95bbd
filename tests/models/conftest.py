"""Fixtures of the tests of models."""

from __future__ import annotations

import asyncio

import pytest


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was slept, each time: nobody waits for it."""
    slept: list[float] = []
    turn = asyncio.sleep

    async def noted(seconds: float) -> None:
        slept.append(seconds)
        await turn(0)

    monkeypatch.setattr("ragauge.pipelines.attempts.sleep", noted)
    return slept
