"""Work in the background: made once, kept a while, its errors told and forgotten."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ragauge.dashboard.jobs import Jobs, progress
from ragauge.errors import UsageError

LONG_S = 30.0
"""More than anything here takes; only a fault waits so long."""


class Work:
    """Something to make that goes on until it is told to end, and counts how often it was begun."""

    def __init__(self, result: object = "made", error: Exception | None = None) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.times, self._result, self._error = 0, result, error

    def __call__(self) -> object:
        self.times += 1
        self.begun.set()
        assert self.may_end.wait(LONG_S)
        if self._error is not None:
            raise self._error
        return self._result


def test_what_is_quick_is_there_at_once():
    jobs = Jobs()
    assert jobs.get("key", lambda: 42, LONG_S) == 42
    jobs.close()


def test_what_takes_long_is_none_until_it_is_made_and_made_once():
    jobs, work = Jobs(), Work()
    assert jobs.get("key", work, 0) is None
    assert work.begun.wait(LONG_S)
    assert jobs.get("key", work, 0) is None
    work.may_end.set()
    assert jobs.get("key", work, LONG_S) == "made"
    assert jobs.get("key", work, 0) == "made"
    assert work.times == 1
    jobs.close()


def test_work_says_how_far_it_is():
    jobs, said, may_end = Jobs(), threading.Event(), threading.Event()

    def make():
        progress(1, 4)
        said.set()
        assert may_end.wait(LONG_S)
        return "made"

    progress(1, 2)  # of no job: nobody looks
    assert jobs.fraction("key") is None
    assert jobs.get("key", make, 0) is None
    assert said.wait(LONG_S)
    assert jobs.fraction("key") == 0.25
    may_end.set()
    assert jobs.get("key", make, LONG_S) == "made"
    jobs.close()


def test_many_who_ask_at_once_get_the_same():
    jobs, work = Jobs(), Work(result=object())
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(jobs.get, "key", work, LONG_S) for _ in range(8)]
        assert work.begun.wait(LONG_S)
        work.may_end.set()
        assert len({id(one.result()) for one in asked}) == 1
    assert work.times == 1
    jobs.close()


def test_an_error_is_raised_to_the_next_who_asks_and_then_tried_again():
    jobs, work = Jobs(), Work(error=UsageError("no run is that"))
    assert jobs.get("key", work, 0) is None
    work.may_end.set()
    with pytest.raises(UsageError, match="no run is that"):
        jobs.get("key", work, LONG_S)
    assert jobs.get("key", lambda: "there now", LONG_S) == "there now"
    jobs.close()


def test_all_who_wait_are_told_of_an_error():
    jobs, work = Jobs(), Work(error=UsageError("no"))
    begun = threading.Barrier(5)

    def ask() -> object:
        begun.wait(LONG_S)
        return jobs.get("key", work, LONG_S)

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask) for _ in range(4)]
        begun.wait(LONG_S)
        work.may_end.set()
        assert {type(one.exception()) for one in asked} == {UsageError}
    jobs.close()


def test_the_keys_asked_for_last_are_kept():
    jobs = Jobs(keep=2)
    made: list[str] = []

    def make(key: str):
        return lambda: made.append(key) or key

    for key in ("a", "b", "a", "c", "a", "b"):
        assert jobs.get(key, make(key), LONG_S) == key
    assert made == ["a", "b", "c", "b"]
    jobs.close()


def test_work_that_nobody_asks_for_any_more_is_not_begun():
    jobs, first = Jobs(keep=2), Work()
    begun: list[int] = []
    assert jobs.get("first", first, 0) is None
    assert first.begun.wait(LONG_S)
    for number in range(10):
        assert jobs.get(number, lambda number=number: begun.append(number) or number, 0) is None
    first.may_end.set()
    assert jobs.get(9, lambda: 9, LONG_S) == 9
    assert jobs.get("last", lambda: "last", LONG_S) == "last"
    assert begun[0] == 9, "the page that somebody looks at comes first"
    assert 0 not in begun
    jobs.close()


def test_what_is_being_made_is_not_forgotten_for_others():
    jobs, work = Jobs(keep=1), Work()
    assert jobs.get("long", work, 0) is None
    assert work.begun.wait(LONG_S)
    assert jobs.get("other", lambda: "other", 0) is None
    work.may_end.set()
    assert jobs.get("long", work, LONG_S) == "made"
    assert work.times == 1
    jobs.close()


def test_two_workers_make_two_things_at_once():
    jobs, left, right = Jobs(workers=2), Work("left"), Work("right")
    assert jobs.get("left", left, 0) is None
    assert jobs.get("right", right, 0) is None
    assert left.begun.wait(LONG_S)
    assert right.begun.wait(LONG_S)
    left.may_end.set()
    right.may_end.set()
    assert jobs.get("left", left, LONG_S) == "left"
    assert jobs.get("right", right, LONG_S) == "right"
    jobs.close()


def test_closing_waits_for_nothing():
    jobs, work = Jobs(), Work()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(jobs.get, "key", work, LONG_S)
        assert work.begun.wait(LONG_S)
        jobs.close()
        assert asked.result(LONG_S) is None
    work.may_end.set()
