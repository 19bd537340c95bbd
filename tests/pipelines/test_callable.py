"""A function is asked: its dicts and texts come back, its exceptions become failed calls."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import threading

import pytest

from ragauge.contracts.system import Ask, CallFailed
from ragauge.errors import UsageError
from ragauge.pipelines.callable import CallableSystem
from tests.pipelines.asking import LONG_S, failure_of, reply_of, with_system

NUMBERS = itertools.count()
HEAD = "import asyncio, functools, os, sys, threading\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a module into the current folder and gives its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = []

    def write(source: str) -> str:
        names.append(f"written_for_a_test_{next(NUMBERS)}")
        (tmp_path / f"{names[-1]}.py").write_text(HEAD + source)
        return names[-1]

    yield write
    for name in names:
        sys.modules.pop(name, None)


REPLYING = {
    "a dict": ("def answer(ask): return {'answer': ask['q']}", {"answer": "Why?"}),
    "text": ("def answer(ask): return 'So.'", "So."),
    "async": ("async def answer(ask): return {'answer': ask['q']}", {"answer": "Why?"}),
    "an awaitable": (
        "async def slowly(ask): return 'So.'\ndef answer(ask): return slowly(ask)",
        "So.",
    ),
    "an object": (
        "class Pipeline:\n    def __call__(self, ask): return 'So.'\nanswer = Pipeline()",
        "So.",
    ),
    "an async object": (
        "class Pipeline:\n    async def __call__(self, ask): return 'So.'\nanswer = Pipeline()",
        "So.",
    ),
    "a partial": (
        "def both(word, ask): return word\nanswer = functools.partial(both, 'So.')",
        "So.",
    ),
    "tuples": ("def answer(ask): return {'citations': ('a', 'b')}", {"citations": ["a", "b"]}),
}


@pytest.mark.parametrize("form", REPLYING)
def test_what_a_function_returns_is_the_reply(written, form):
    source, reply = REPLYING[form]
    assert reply_of(CallableSystem(f"{written(source)}:answer")) == reply


def test_a_method_is_found_by_its_path(written):
    name = written("class Shop:\n    @staticmethod\n    def answer(ask): return 'So.'")
    assert reply_of(CallableSystem(f"{name}:Shop.answer")) == "So."


def test_the_function_gets_the_ask_as_a_dict_of_its_own(written):
    name = written(
        "def answer(ask):\n    was = dict(ask)\n    ask['knobs'].clear()\n    return was"
    )
    knobs = {"top_k": 5}
    fields = {"seed": 3, "temperature": 0.2, "jitter": "ws"}
    reply = reply_of(CallableSystem(f"{name}:answer"), "Why?", **fields, knobs=knobs)
    assert set(reply) == {"q", "seed", "temperature", "jitter", "knobs"}
    assert {"q": "Why?", **fields}.items() <= reply.items()
    assert knobs == {"top_k": 5}


RAISING = {
    "def answer(ask): raise ValueError('no\\n index')": "ValueError: no index",
    "async def answer(ask): raise ValueError('no index')": "ValueError: no index",
    "def answer(ask): raise KeyError": "KeyError",
    "def answer(ask): sys.exit('bye')": "SystemExit: bye",
    "async def answer(ask): sys.exit('bye')": "SystemExit: bye",
    "def answer(ask): raise KeyboardInterrupt": "KeyboardInterrupt",
    "def answer(ask): next(iter(()))": "StopIteration",
    "def answer(ask): raise asyncio.CancelledError": "CancelledError",
    "async def answer(ask): raise asyncio.CancelledError": "CancelledError",
    "class Odd(Exception):\n    def __str__(self): return 7\ndef answer(ask): raise Odd": "Odd",
}


@pytest.mark.parametrize("source", RAISING)
def test_what_a_function_raises_is_a_failed_call(written, source):
    failed = failure_of(CallableSystem(f"{written(source)}:answer"))
    assert (failed.kind, failed.again, failed.fact) == ("raised", False, RAISING[source])


@pytest.mark.parametrize("form", ["def", "async def"])
def test_a_function_can_say_itself_that_asking_again_may_help(written, form):
    source = (
        "from ragauge.contracts.system import CallFailed\n"
        f"{form} answer(ask): raise CallFailed('warming_up', 'soon', again=True, after_s=2)"
    )
    failed = failure_of(CallableSystem(f"{written(source)}:answer"))
    assert (failed.kind, failed.again, failed.after_s) == ("warming_up", True, 2)


NOT_JSON = {
    "{1, 2}": "what the function returned is not JSON: TypeError: Object of type set is not",
    "{'a': object()}": "what the function returned is not JSON: TypeError: Object of type object",
    "{'a': float('nan')}": "NaN is not a JSON number",
    "{'a': '\\ud800'}": "lone surrogate",
    "(lambda a: [a.append(a), a][1])([])": "not JSON: ValueError: Circular reference",
}


@pytest.mark.parametrize("value", NOT_JSON)
def test_what_is_not_json_is_a_bad_reply(written, value):
    failed = failure_of(CallableSystem(f"{written(f'def answer(ask): return {value}')}:answer"))
    assert (failed.kind, failed.again) == ("bad_reply", False)
    assert NOT_JSON[value] in failed.fact


def test_more_than_can_be_kept_is_too_large(written):
    name = written("def answer(ask): return 'x' * (17 << 20)")
    assert failure_of(CallableSystem(f"{name}:answer")).kind == "too_large"


UNUSABLE = {
    "answer": '"answer" names no function; write module:function',
    "module:": '"module:" names no function; write module:function',
    "no_such_module:f": '"no_such_module:f": there is no module no_such_module; go where it is',
    "json.no_such:f": '"json.no_such:f": there is no module json.no_such; go where it is',
    "json:dump_": '"json:dump_": json has no dump_; did you mean "dump"?',
    "json:xyzzy": '"json:xyzzy": json has no xyzzy; look at its spelling',
    "json:__name__": '"json:__name__" is str, which cannot be called',
    "json:dump": '"json:dump" takes (obj, fp,',
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_name_that_stands_for_no_function_is_refused_at_once(name):
    with pytest.raises(UsageError) as caught:
        CallableSystem(name)
    assert str(caught.value).startswith(UNUSABLE[name])


@pytest.mark.parametrize(
    ("source", "fact"),
    [
        ("import no_such_thing", "ModuleNotFoundError: No module named 'no_such_thing'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def answer(ask:", "SyntaxError"),
        ("sys.exit('no index')", "SystemExit: no index"),
    ],
)
def test_a_module_that_cannot_be_imported_is_refused_in_words(written, source, fact):
    name = f"{written(source)}:answer"
    with pytest.raises(UsageError) as caught:
        CallableSystem(name)
    assert str(caught.value).startswith(f'"{name}": importing it failed: {fact}')


def test_a_module_is_imported_once(written, tmp_path):
    name = written(
        "with open('imported', 'a') as file: file.write('.')\ndef answer(ask): return 'So.'"
    )
    system = CallableSystem(f"{name}:answer")
    reply_of(system)
    reply_of(CallableSystem(f"{name}:answer"))
    assert (tmp_path / "imported").read_text() == "."


WAITING = """
going, most, gate = 0, 0, threading.Event()
lock, changed = threading.Lock(), threading.Condition()

def answer(ask):
    global going, most
    with changed:
        going += 1
        most = max(most, going)
        changed.notify_all()
    gate.wait()
    with changed:
        going -= 1
        changed.notify_all()
    return threading.current_thread().name
"""


def until(module, count: int) -> None:
    with module.changed:
        assert module.changed.wait_for(lambda: module.going == count, LONG_S)


def test_calls_of_a_function_run_beside_each_other_up_to_the_limit(written):
    name = written(WAITING)
    system = CallableSystem(f"{name}:answer", concurrency=3)
    module = sys.modules[name]

    async def crowd(system):
        calls = [asyncio.ensure_future(system.ask(Ask(q=f"{n}"))) for n in range(9)]
        await asyncio.to_thread(until, module, 3)
        module.gate.set()
        return await asyncio.gather(*calls)

    threads = with_system(system, crowd)
    assert module.most == 3
    assert set(threads) == {"ragauge-call"}


def test_threads_that_hang_are_counted_and_said(written):
    name = written(WAITING)
    system = CallableSystem(f"{name}:answer", concurrency=2)
    module = sys.modules[name]

    async def hang(system):
        calls = [asyncio.ensure_future(system.ask(Ask(q=f"{n}"))) for n in range(2)]
        await asyncio.to_thread(until, module, 2)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        with pytest.raises(CallFailed) as caught:
            await system.ask(Ask(q="one more"))
        module.gate.set()
        await asyncio.to_thread(until, module, 0)
        while True:  # the loop hears of the ended calls in its own time
            try:
                return caught.value, await system.ask(Ask(q="and again"))
            except CallFailed:
                await asyncio.sleep(0)

    failed, reply = with_system(system, hang)
    assert (failed.kind, failed.again) == ("hung", True)
    assert failed.fact == "all 2 threads are held by earlier calls that have not ended"
    assert reply == "ragauge-call"


TOGETHER = """
going, all_here = 0, asyncio.Event()

async def answer(ask):
    global going
    going += 1
    if going == 20:
        all_here.set()
    await all_here.wait()
    return threading.current_thread().name
"""


def test_calls_of_an_async_function_wait_beside_each_other_in_one_loop(written):
    async def crowd(system):
        return await asyncio.gather(*(system.ask(Ask(q=f"{n}")) for n in range(20)))

    system = CallableSystem(f"{written(TOGETHER)}:answer", concurrency=20)
    assert with_system(system, crowd) == ["ragauge-loop"] * 20


LETTING_GO = """
asked, let_go = threading.Event(), threading.Event()

async def answer(ask):
    asked.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        let_go.set()
        raise
"""


def test_an_async_function_hears_that_its_call_was_cancelled(written):
    name = written(LETTING_GO)
    system = CallableSystem(f"{name}:answer")
    module = sys.modules[name]

    async def give_up(system):
        call = asyncio.ensure_future(system.ask(Ask(q="Why?")))
        assert await asyncio.to_thread(module.asked.wait, LONG_S)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return await asyncio.to_thread(module.let_go.wait, LONG_S)

    assert with_system(system, give_up)


LEAVING_A_TASK = """
async def leave(): sys.exit('bye')

async def answer(ask):
    left = asyncio.ensure_future(leave())
    await asyncio.wait({left})
    return str(left.exception())
"""


def test_a_task_that_exits_does_not_end_the_loop_of_the_calls(written):
    async def twice(system):
        return [await system.ask(Ask(q="Why?")) for _ in range(2)]

    assert with_system(CallableSystem(f"{written(LEAVING_A_TASK)}:answer"), twice) == ["bye"] * 2


IN_THREADS = "async def answer(ask): return await asyncio.to_thread(int, ask['q'])"


def test_an_async_function_may_use_threads(written):
    async def crowd(system):
        return await asyncio.gather(*(system.ask(Ask(q=f"{n}")) for n in range(100)))

    system = CallableSystem(f"{written(IN_THREADS)}:answer")
    assert with_system(system, crowd) == list(range(100))


def test_what_a_thread_of_an_async_function_raises_is_a_failed_call(written):
    failed = failure_of(CallableSystem(f"{written(IN_THREADS)}:answer"), "x")
    assert failed.fact == "ValueError: invalid literal for int() with base 10: 'x'"


@pytest.mark.parametrize("form", ["def", "async def"])
def test_idle_threads_end_when_the_system_is_closed(written, form):
    name = written(f"{form} answer(ask): return threading.current_thread().ident")
    ident = reply_of(CallableSystem(f"{name}:answer"))
    for thread in threading.enumerate():
        if thread.ident == ident:
            thread.join(LONG_S)
    assert ident not in {thread.ident for thread in threading.enumerate()}


HUNG = """
import asyncio, sys
from ragauge.contracts.system import Ask
from ragauge.pipelines.callable import CallableSystem

async def main():
    system = CallableSystem("hanging:answer")
    call = asyncio.ensure_future(system.ask(Ask(q="Why?")))
    while not sys.modules["hanging"].asked.is_set():
        await asyncio.sleep(0)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await system.close()
    print("left")

asyncio.run(main())
"""


HANGING = {
    "a function": "def answer(ask): hang()",
    "an async function that blocks": "async def answer(ask): hang()",
    "an awaitable that blocks": (
        "async def slowly(ask): hang()\ndef answer(ask): return slowly(ask)"
    ),
    "a thread of an async function": "async def answer(ask): await asyncio.to_thread(hang)",
    "an async function that will not be cancelled": """
async def answer(ask):
    asked.set()
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass
""",
}


@pytest.mark.parametrize("form", HANGING)
def test_a_call_that_hangs_does_not_keep_the_process_alive(tmp_path, form):
    (tmp_path / "hanging.py").write_text(
        "import asyncio, threading\nasked, never = threading.Event(), threading.Event()\n"
        f"def hang():\n    asked.set()\n    never.wait()\n{HANGING[form]}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", HUNG],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")


def test_identity_and_repr_name_the_function():
    system = CallableSystem("json:loads")
    assert system.identity == {"kind": "callable", "function": "json:loads"}
    assert repr(system) == "CallableSystem('json:loads')"
