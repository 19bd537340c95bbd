"""Calls in rounds: the next begins when the last call of the one before is answered."""

import asyncio

import pytest

from ragauge.contracts.run import PlannedRun, Variation
from ragauge.contracts.system import CallFailed
from ragauge.errors import SystemUnreachable
from ragauge.runners.calling import Call, Calling, Manner, ask_of, trace_line
from ragauge.store.journal import journal

HOW = Manner(concurrency=4, timeout_s=5.0, retries=0)


def call(number):
    run = PlannedRun(f"q{number}", Variation(), f"Question {number}?")
    return Call(run.run_id, run, ask_of(run, {}, ()))


class Echo:
    """A system that says what it was asked, the first asked last."""

    identity = {"kind": "echo"}  # noqa: RUF012 (a constant here)

    def __init__(self):
        self.asked = []
        self.closed = 0

    async def ask(self, ask):
        self.asked.append(ask.q)
        for _ in range(20 - len(self.asked)):
            await asyncio.sleep(0)
        return {"answer": ask.q}

    async def close(self):
        self.closed += 1


class Rounds:
    """Work in rounds, which writes down what happens."""

    def __init__(self, *rounds, stop_at=None):
        self._rounds, self._stop_at = rounds, stop_at
        self.events, self.counted = [], []

    def rounds(self):
        for number, each in enumerate(self._rounds):
            self.events.append(f"round {number}")
            yield [[call(one)] for one in each]

    def note(self, call, trace):
        self.events.append(trace.answer)

    def line(self, call, trace):
        return b"%r" % trace_line(trace)["qid"]

    def count(self, made):
        self.counted += [call.run.qid for call, _ in made]
        return "error_budget" if self._stop_at in self.counted else None


def run(tmp_path, work, system=None, how=HOW):
    with journal(tmp_path / "calls.jsonl") as lines:
        return asyncio.run(Calling(system or Echo(), how, lines, work).run())


def test_a_round_is_not_looked_at_before_the_one_before_has_ended(tmp_path):
    work, system = Rounds((1, 2, 3), (), (4, 5)), Echo()
    assert run(tmp_path, work, system) == "complete"
    places = [work.events.index(f"round {number}") for number in range(3)]
    answered = [work.events.index(f"Question {number}?") for number in range(1, 6)]
    assert max(answered[:3]) < places[1] < places[2] < min(answered[3:])
    assert sorted(work.counted) == ["q1", "q2", "q3", "q4", "q5"]
    assert (tmp_path / "calls.jsonl").read_text().split() == [f"'{qid}'" for qid in work.counted]
    assert system.closed == 1


def test_a_stop_ends_the_round_and_keeps_the_next_from_beginning(tmp_path):
    class Hanging(Echo):
        async def ask(self, ask):
            return await (asyncio.Event().wait() if "2" in ask.q else super().ask(ask))

    work = Rounds((1,), (2,), (3,), stop_at="q1")
    assert run(tmp_path, work, Hanging()) == "error_budget"
    assert work.counted == ["q1"]
    assert "round 2" not in work.events


def test_a_fault_of_our_own_is_not_passed_over_in_silence(tmp_path):
    class Broken(Rounds):
        def note(self, call, trace):
            raise ZeroDivisionError

    system = Echo()
    with pytest.raises(ZeroDivisionError):
        run(tmp_path, Broken((1, 2)), system)
    assert system.closed == 1


class Failing(Echo):
    """A system whose calls fail, one after the other, in these ways; then it answers."""

    place = "http://qa.example:8000/qa"

    def __init__(self, *failures):
        super().__init__()
        self._failures = list(failures)

    async def ask(self, ask):
        self.asked.append(ask.q)
        if self._failures:
            raise self._failures.pop(0)
        return {"answer": ask.q}


def test_the_first_call_is_made_alone_and_kept(tmp_path):
    class Counting(Echo):
        async def ask(self, ask):
            if not self.asked:
                await asyncio.sleep(0.05)
                assert not self.asked, "another call was made meanwhile"
            return await super().ask(ask)

    work, system = Rounds((1, 2, 3, 4, 5)), Counting()
    assert run(tmp_path, work, system) == "complete"
    assert system.asked[0] == "Question 1?"
    assert sorted(work.counted) == ["q1", "q2", "q3", "q4", "q5"]


def test_a_first_call_that_every_other_would_follow_ends_it_with_a_remedy(tmp_path):
    work, system = Rounds((1, 2, 3)), Failing(CallFailed("refused", "it refuses the connection"))
    with pytest.raises(SystemUnreachable) as refused:
        run(tmp_path, work, system)
    assert refused.value.problems == (
        "http://qa.example:8000/qa: the first call failed, and no other was made: refused: it "
        "refuses the connection; start the server, or correct the host and port of the URL",
    )
    assert (len(system.asked), system.closed, work.counted) == (1, 1, [])


def test_a_first_call_that_fails_by_itself_is_a_failed_run_like_any_other(tmp_path):
    work, system = Rounds((1, 2, 3)), Failing(CallFailed("http_500", "a bad question"))
    assert run(tmp_path, work, system) == "complete"
    assert len(system.asked) == 3
    assert sorted(work.counted) == ["q1", "q2", "q3"]


def test_a_long_wait_is_shown_once_and_waited_in_full(tmp_path, monkeypatch, caplog):
    slept, turn = [], asyncio.sleep

    async def noted(seconds):
        slept.append(seconds)
        await turn(0)

    monkeypatch.setattr("ragauge.pipelines.attempts.sleep", noted)
    busy = [CallFailed("http_429", "slow down", again=True, after_s=42.0) for _ in range(3)]
    how = Manner(concurrency=1, timeout_s=5.0, retries=3)
    assert run(tmp_path, Rounds((1, 2)), Failing(*busy), how) == "complete"
    assert [wait for wait in slept if wait] == [42.0, 42.0, 42.0]
    assert [record.getMessage() for record in caplog.records] == [
        "http://qa.example:8000/qa: waiting 42 s after http_429: slow down"
    ]
