"""One system is named, and only one."""

from __future__ import annotations

import asyncio

import pytest

from ragauge.contracts.system import Ask
from ragauge.errors import UsageError
from ragauge.pipelines.hidden import Hidden, secrets_of
from ragauge.pipelines.mapping import mapping_of
from ragauge.pipelines.systems import system_of
from tests.pipelines.asking import reply_of

NAME_ONE = "name one system to ask, by --http, --call, --command, --replay or --demo"


def test_each_way_makes_its_system_and_all_are_used_alike(misbehaving, tmp_path):
    (tmp_path / "traces").write_text('{"q": "[1]", "answer": "So."}')
    systems = {
        "http": system_of(http=misbehaving.url),
        "callable": system_of(call="json:dumps"),
        "command": system_of(command="cat"),
        "replay": system_of(replay=tmp_path / "traces"),
    }
    for kind, system in systems.items():
        assert system.identity["kind"] == kind
        assert reply_of(system, "[1]")
    assert reply_of(systems["command"], "[1]")["q"] == "[1]"


def test_a_mapping_and_a_limit_reach_the_endpoint(misbehaving):
    mapping = mapping_of({"request": {"text": "{q}"}}, {})
    system = system_of(http=misbehaving.url, mapping=mapping, headers={"X-A": "b"}, concurrency=1)
    reply_of(system)
    assert misbehaving.requests[0].body == {"text": "Why?"}
    assert misbehaving.requests[0].headers["x-a"] == "b"


@pytest.mark.parametrize(
    ("given", "fact"),
    [
        ({}, f"{NAME_ONE}; got none"),
        (
            {"http": "http://a", "call": "json:dumps"},
            f"{NAME_ONE}; got --http and --call",
        ),
        (
            {"command": "cat", "mapping": mapping_of({}, {})},
            "a mapping and headers belong to http; command has neither",
        ),
        (
            {"call": "json:dumps", "headers": {"A": "b"}},
            "a mapping and headers belong to http; call has neither",
        ),
        ({"command": "cat", "concurrency": 0}, "concurrency is at least 1; got 0"),
    ],
)
def test_none_or_several_or_what_does_not_fit_is_refused(given, fact):
    with pytest.raises(UsageError) as caught:
        system_of(**given)
    assert str(caught.value) == fact


def test_a_system_that_was_never_asked_can_be_closed(tmp_path):
    (tmp_path / "traces").write_text('{"q": "Why?", "answer": "So."}')
    for given in (
        {"http": "http://qa.invalid"},
        {"call": "json:dumps"},
        {"command": "cat"},
        {"replay": tmp_path / "traces"},
    ):
        asyncio.run(system_of(**given).close())


def test_many_asks_of_one_system_keep_apart():
    async def crowd(system):
        return await asyncio.gather(*(system.ask(Ask(q=f"{n}")) for n in range(20)))

    for system in (system_of(command="cat"), system_of(call="copy:copy", concurrency=4)):
        replies = asyncio.run(crowd(system))
        assert [reply["q"] for reply in replies] == [f"{n}" for n in range(20)]
        asyncio.run(system.close())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key sk-abcd/1 is wrong", "key *** is wrong"),
        ("key sk-abcd%2F1 is wrong", "key *** is wrong"),
        ("Bearer sk-abcd/1", "***"),
        ("Bearer of news", "Bearer of news"),
        ("sk-abcd/123", "***"),
    ],
)
def test_a_secret_is_blotted_out_however_it_is_quoted(text, shown):
    hidden = Hidden(secrets_of({"Authorization": "Bearer sk-abcd/1", "X-Key": "sk-abcd/123"}))
    assert hidden.without(text) == shown
    assert "abcd" not in repr(hidden)
