"""Public functions called where an event loop runs already, as in a notebook."""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
import signal
import threading
from pathlib import Path

import pytest

from ragauge import evaluate_answers, sweep
from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.sweep import SweepReport
from ragauge.pipelines.systems import system_of
from ragauge.pipelines.threads import run_async
from tests.models.judge_server import chatting
from tests.pipelines.misbehaving import serving
from tests.runners.test_judged_answers import ROWS, agreeable

TOLD = contextvars.ContextVar("TOLD", default="nothing")


def test_a_judge_is_asked_from_inside_a_loop() -> None:
    with chatting(agreeable) as server:

        async def cell() -> EvalReport:
            return evaluate_answers(ROWS, judge=server.at("v1"), judge_model="small").report

        report = asyncio.run(cell())
    assert report.metrics["answers.faithfulness"].value == 1.0


def test_a_sweep_is_made_from_inside_a_loop(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"qid": "q1", "question": "Why?", "answerable": False}) + "\n")

    with serving() as server:

        async def cell() -> SweepReport:
            system = system_of(http=server.at("qa"))
            return sweep(gold, system, tmp_path / "runs.jsonl", seeds=(0, 1), preset="pr")

        report = asyncio.run(cell())
    assert report.passed and report.coverage.done == report.coverage.planned > 1


def test_a_coroutine_has_the_callers_context_and_its_own_thread() -> None:
    async def inner() -> tuple[str, bool]:
        return TOLD.get(), threading.current_thread() is threading.main_thread()

    async def outer() -> tuple[str, bool]:
        TOLD.set("what the notebook knows")
        return run_async(inner())

    assert asyncio.run(outer()) == ("what the notebook knows", False)
    assert run_async(inner()) == ("nothing", True)


def test_an_interrupt_cancels_what_runs_and_is_raised() -> None:
    closed = []

    async def inner() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    async def outer() -> None:
        # As in a notebook, where the kernel leaves the signal to Python.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run_async(inner())

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(outer())
    assert closed == [True]
