"""Work spread over local processes, its results in the order of the work."""

from __future__ import annotations

import itertools
import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from ragauge.errors import RagaugeError

Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


def no_progress(done: int, of: int = 0) -> None:
    """Progress that nobody looks at."""


Work = TypeVar("Work")
Result = TypeVar("Result")

AHEAD = 2
"""Pieces handed out per worker before the first is taken back: keeps memory flat."""

_worker: Callable[[Any], Any] | None = None


def ordered(
    make: Callable[..., Callable[[Work], Result]],
    arguments: tuple[Any, ...],
    work: Iterable[Work],
    workers: int,
) -> Iterator[Result]:
    """Each piece's result, in order; `make(*arguments)` builds the worker once per process.

    With one worker, or one piece of work, no process is started.
    """
    pieces = iter(work)
    first = list(itertools.islice(pieces, 2))
    pieces = itertools.chain(first, pieces)
    if workers <= 1 or len(first) < 2:
        yield from map(make(*arguments), pieces)
        return
    # Spawned, not forked: polars and numpy run threads, and a fork of a threaded process can hang.
    pool = ProcessPoolExecutor(
        workers,
        multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(make, arguments),
    )
    try:
        waiting: deque[Future[Result]] = deque()
        for number, piece in enumerate(pieces):  # the first ones start the workers
            with _interrupts_held() if number < workers else nullcontext():
                waiting.append(pool.submit(_work, piece))
            if len(waiting) > AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise RagaugeError(
            "a worker process was killed, perhaps for want of memory; try --workers 1"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits meanwhile, and workers started here never hear it.

    It reaches the whole group of processes, but the parent alone should answer it, in words. A
    new process inherits what the thread that starts it holds back, from its first moment on; the
    handler is held too, because another thread of the parent may take the signal.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    met: list[int] = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: met.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if met:
        raise KeyboardInterrupt


def _begin(make: Callable[..., Callable[[Any], Any]], arguments: tuple[Any, ...]) -> None:
    global _worker
    _worker = make(*arguments)


def _work(piece: Any) -> Any:
    assert _worker is not None, "the pool calls _begin first"
    return _worker(piece)
