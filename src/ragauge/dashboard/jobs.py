"""Work that takes longer than a page may: done in the background, its result kept a while."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeVar, cast

T = TypeVar("T")

PATIENCE_S = 0.1
"""What a page that must be there within 200 ms can wait for a result."""


_here = threading.local()
"""The job that a thread is working on."""


def progress(done: int, of: int) -> None:
    """How far the job of this thread is; work that is no job has nobody who looks."""
    if (job := getattr(_here, "job", None)) is not None:
        job.fraction = done / of


class Jobs:
    """Results by key, each made once however many ask for it. Several threads may ask at once.

    The last `keep` requested keys are kept. An error is raised to all who wait for it, or to
    the next who asks, and is then forgotten: what failed because a run was missing is tried
    again once the run is there.
    """

    def __init__(self, workers: int = 1, keep: int = 16) -> None:
        self._workers, self._keep = workers, keep
        self._jobs: OrderedDict[Hashable, _Job] = OrderedDict()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._closed = False

    def get(self, key: Hashable, make: Callable[[], T], patience_s: float = PATIENCE_S) -> T | None:
        """What `make` gives, or None while it is still at work after `patience_s`.

        The first to ask for a key has it made; `make` of the others is not called.
        """
        with self._changed:
            job = self._asked(key, make)
            self._changed.wait_for(lambda: job.state == "done" or self._closed, patience_s)
            if job.state != "done":
                return None
            if job.error is not None:
                if self._jobs.get(key) is job:
                    del self._jobs[key]
                # A copy would lose what the class keeps beside its words; so the one error is
                # raised to all, without the traces of the others.
                raise job.error.with_traceback(None)
            return cast("T", job.result)

    def fraction(self, key: Hashable) -> float | None:
        """How far the work for a key is; None where it has not said so."""
        with self._changed:
            job = self._jobs.get(key)
            return None if job is None else job.fraction

    def close(self) -> None:
        """Takes up no more work. What is being made is left behind: its thread is a daemon."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _asked(self, key: Hashable, make: Callable[[], Any]) -> _Job:
        job = self._jobs.get(key)
        if job is None:
            job = self._jobs[key] = _Job(make)
            # Beyond `keep`, the least recently requested key, even if its job is not finished.
            for old, one in list(self._jobs.items())[: -self._keep]:
                if one.state != "working":
                    del self._jobs[old]
            if len(self._threads) < self._workers and not self._closed:
                thread = threading.Thread(target=self._work, name="ragauge job", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()
        self._jobs.move_to_end(key)
        return job

    def _work(self) -> None:
        """Runs the jobs, the most recently requested first: somebody is looking at that page."""

        def waiting() -> _Job | None:
            every = reversed(self._jobs.values())
            return next((job for job in every if job.state == "waiting"), None)

        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or waiting() is not None)
                if self._closed or (job := waiting()) is None:
                    return
                job.state = "working"
            result, error = None, None
            _here.job = job
            try:
                result = job.make()
            except Exception as problem:
                error = problem
            with self._changed:
                job.state, job.result, job.error = "done", result, error
                job.make = lambda: None  # what it holds on to may be large
                self._changed.notify_all()


class AtOnce(Jobs):
    """Work done while its asker waits: for a file, of which nobody waits for a part."""

    def get(self, key: Hashable, make: Callable[[], T], patience_s: float = PATIENCE_S) -> T | None:
        return make()


class _Job:
    """A piece of work and how far it is."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.state: Literal["waiting", "working", "done"] = "waiting"
        self.fraction: float | None = None
        self.result: Any = None
        self.error: Exception | None = None
