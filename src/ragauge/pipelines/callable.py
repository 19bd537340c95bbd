"""A Python function as the system under test.

The function takes one dict, `{"q", "seed", "temperature", "jitter", "knobs"}`, and returns a dict
such as an endpoint replies, or the answer as text. It may be async, and then runs in a loop of its
own; one that is not runs in threads, so that many calls can wait at once.
"""

from __future__ import annotations

import asyncio
import difflib
import importlib
import inspect
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ragauge.contracts.system import Ask, CallFailed
from ragauge.errors import UsageError
from ragauge.pipelines.reply import decoded
from ragauge.pipelines.threads import DaemonExecutor, DaemonThreads
from ragauge.text.visible import one_line

_SHOWN = 300


class CallableSystem:
    """Asks a function, or `module:function`, imported once, from the current folder too."""

    def __init__(self, function: str | Callable[..., Any], *, concurrency: int = 16) -> None:
        if isinstance(function, str):
            self._name, called = function, _function_named(function)
        else:
            name = getattr(function, "__qualname__", type(function).__qualname__)
            self._name, called = f"{function.__module__}:{name}", function
        self._function = _takes_an_ask(self._name, called)
        self._async = inspect.iscoroutinefunction(self._function) or inspect.iscoroutinefunction(
            getattr(self._function, "__call__", None)  # noqa: B004  # an object whose call is async
        )
        self._threads = DaemonThreads(self._called, concurrency)
        self._loop = LoopThread()

    def __repr__(self) -> str:
        return f"CallableSystem({self._name!r})"

    @property
    def identity(self) -> dict[str, Any]:
        return {"kind": "callable", "function": self._name}

    async def ask(self, ask: Ask) -> Any:
        """What the function returned, as JSON has it."""
        body = msgspec.to_builtins(ask)  # its own copy: the function may change it
        if self._async:
            returned = await self._loop.call(_awaited(lambda: self._function(body)))
        else:
            returned = await self._threads.call(body)
            if inspect.isawaitable(returned):
                pending = returned
                returned = await self._loop.call(_awaited(lambda: pending))
        if isinstance(returned, CallFailed):
            raise returned
        try:
            # As JSON has it: lists for tuples, texts for keys, and nothing that is not JSON.
            content = json.dumps(returned).encode()
        except (TypeError, ValueError, RecursionError) as error:
            fact = f"what the function returned is not JSON: {described(error)}; return plain dicts"
            raise CallFailed("bad_reply", fact) from None
        return decoded(content, again=False)

    async def close(self) -> None:
        """Let go of idle threads; what a call still does there is not waited for."""
        self._threads.close()
        self._loop.close()

    def _called(self, body: dict[str, Any]) -> Any:
        """What the function returned, or the failure it raised: nothing may end the thread."""
        try:
            return self._function(body)
        except BaseException as error:
            return _failure(error)


async def _awaited(begin: Callable[[], Awaitable[Any]]) -> Any:
    """The same of an async function: nothing may end the loop."""
    try:
        return await begin()
    except BaseException as error:
        return _failure(error)


def _failure(error: BaseException) -> CallFailed:
    """What a function raised, as a failed call; a CallFailed of its own is taken at its word."""
    if isinstance(error, CallFailed):
        return error
    return CallFailed("raised", described(error))


def described(error: BaseException) -> str:
    """The kind of an exception and its words, on one line."""
    try:
        words = str(error)
    except Exception:  # an exception may fail to say what it is
        words = ""
    name = type(error).__name__
    return one_line(f"{name}: {words}" if words else name, _SHOWN)


def named_object(name: str, kind: str = "function", form: str = "module:function") -> Any:
    """What a name stands for, found from the current folder too.

    Raises UsageError with what is missing; `kind` and `form` say what was to be named, and how.

    >>> named_object("string:ascii_letters.upper")()[-3:]
    'XYZ'
    """
    module_name, colon, path = name.partition(":")
    if not module_name or not colon or not path:
        raise UsageError(f'"{name}" names no {kind}; write {form}')
    found = _module(name, module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, dir(found), n=1)
            hint = f'did you mean "{near[0]}"?' if near else "look at its spelling"
            raise UsageError(f'"{name}": {module_name} has no {part}; {hint}')
        found = getattr(found, part)
    return found


def _function_named(name: str) -> Any:
    found = named_object(name)
    if not callable(found):
        raise UsageError(f'"{name}" is {type(found).__name__}, which cannot be called')
    return found


def _takes_an_ask(name: str, function: Callable[..., Any]) -> Callable[[dict[str, Any]], Any]:
    """The function; raises UsageError where it cannot be called with one argument."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # one that is not written in Python does not tell
        return function
    try:
        signature.bind({})
    except TypeError:
        raise UsageError(
            f'"{name}" takes {signature}; it is called with one argument, the ask as a dict'
        ) from None
    return function


def _module(name: str, module_name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise UsageError(
                f'"{name}": there is no module {error.name}; go where it is, or install it'
            ) from None
        raise UsageError(f'"{name}": importing it failed: {described(error)}') from None
    except (Exception, SystemExit) as error:
        raise UsageError(f'"{name}": importing it failed: {described(error)}') from None


Result = TypeVar("Result")

_MOST_THREADS = 32


class LoopThread:
    """Runs coroutines that never raise, many at a time, in a daemon thread's loop.

    Cancelling a call leaves it at once: its coroutine is cancelled too, but nobody waits to see
    whether it heeds that, or whether it blocks the loop.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        # The loop itself holds tasks by weak references alone.
        self._going: set[asyncio.Task[Any] | None] = set()

    async def call(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """What the coroutine returns."""
        loop = self._loop or self._start()
        return await asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(self._held(coroutine), loop)
        )

    def close(self) -> None:
        """Let the thread end, when what still runs there has ended."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None

    def _start(self) -> asyncio.AbstractEventLoop:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(DaemonExecutor(_MOST_THREADS, "ragauge-loop-call"))
        threading.Thread(
            target=self._work, args=(self._loop,), name="ragauge-loop", daemon=True
        ).start()
        return self._loop

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:  # it cancels tasks at its end
            runner.get_loop()
            while True:
                with suppress(KeyboardInterrupt, SystemExit):  # of a task the function started
                    loop.run_forever()
                    return

    async def _held(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.current_task()
        self._going.add(task)
        try:
            return await coroutine
        finally:
            self._going.discard(task)
