"""The shapes of a request and of a response, for an endpoint that speaks otherwise than ours.

A mapping is a JSON file. In `request` any text may hold `{q}`, `{seed}`, `{temperature}`,
`{jitter}`, `{knobs.NAME}`, `{knobs}` and `{constraints}`; a text that is one of these and nothing
else becomes the value itself, with its type. `{{q}}` stands for `{q}` as it is. In `response`
each field of a trace is named by a JSONPath. In `headers`, `{env.NAME}` stands for an environment
variable, so that no secret need be written down.

An endpoint in the manner of OpenAI's chat completions:

>>> chat = {
...     "request": {
...         "model": "{knobs.model}",
...         "messages": [{"role": "user", "content": "Answer from the sources. {q}"}],
...         "seed": "{seed}",
...         "temperature": "{temperature}",
...     },
...     "response": {"answer": "$.choices[0].message.content", "usage": "$.usage"},
...     "headers": {"Authorization": "Bearer {env.API_KEY}"},
... }
>>> mapping = mapping_of(chat, {"API_KEY": "k"})
>>> mapping.body(Ask(q="Why?", seed=7, knobs={"model": "small"}))["seed"]
7
>>> mapping.reply({"choices": [{"message": {"content": "So."}}], "usage": {"tokens": 3}})
{'answer': 'So.', 'usage': {'tokens': 3}}
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as Named
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.system import Ask, CallFailed
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import kind, quoted
from ragauge.ingest.lines import BadJson, decode, read_whole
from ragauge.text.visible import one_line

EXAMPLE = "$.choices[0].message.content"
_KEYS_SHOWN = 120
_STEP = re.compile(
    r"""\.(?P<name>[\w-]+)
      | \[(?P<index>-?[0-9]{1,9})\]
      | \[(?P<each>\*)\]
      | \['(?P<single>(?:[^'\\]|\\.)*)'\]
      | \["(?P<double>(?:[^"\\]|\\.)*)"\]""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

Step = str | int | None
"""A key, a place in a list, or None for each member of a list."""


class NothingThere(Exception):
    """A value has nothing at a path; the message says how far it goes, and what is there."""


class Path(Struct, frozen=True):
    """A place, or with `[*]` many places, in a JSON value."""

    text: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return self.text

    def find(self, value: Any) -> Any:
        """What stands there; with `[*]` a list, in which None stands for a member without it.

        >>> parse_path("$.hits[*].id").find({"hits": [{"id": "a"}, {}, {"id": "c"}]})
        ['a', None, 'c']
        """
        if None not in self.steps:
            return _walk(value, self.steps, "$")
        return list(_each(value, self.steps, "$"))


def parse_path(text: str) -> Path:
    """The path a text writes; raises UsageError with the place of what cannot be read."""
    steps: list[Step] = []
    at = 1
    if not text.startswith("$"):
        raise UsageError(f"{quoted(text)} is no path: it begins with $, as in {EXAMPLE}")
    while at < len(text):
        match = _STEP.match(text, at)
        if not match:
            rest = quoted(text[at:])
            raise UsageError(
                f"{quoted(text)} cannot be read from column {at + 1}, {rest}; "
                f"write .name, [0], [-1], [*] or ['odd name'], as in {EXAMPLE}"
            )
        if match["each"]:
            steps.append(None)
        elif match["index"]:
            steps.append(int(match["index"]))
        else:
            written = match["double"] if match["single"] is None else match["single"]
            steps.append(match["name"] or _ESCAPE.sub(r"\1", written))
        at = match.end()
    return Path(text, tuple(steps))


def _walk(value: Any, steps: tuple[Step, ...], place: str) -> Any:
    for step in steps:
        keyed = type(step) is str and type(value) is dict
        placed = type(step) is int and type(value) is list
        try:
            if not (keyed or placed):
                raise LookupError
            value = value[step]
        except LookupError:
            raise NothingThere(f"{place} is {_described(value)}") from None
        named = type(step) is str and re.fullmatch(r"[\w-]+", step)
        place = f"{place}.{step}" if named else f"{place}[{step!r}]"
    return value


def _each(value: Any, steps: tuple[Step, ...], place: str) -> Iterator[Any]:
    """The values at a path with `[*]`; the list must be there, what its members lack is None."""
    star = steps.index(None)
    members = _walk(value, steps[:star], place)
    rest = steps[star + 1 :]
    if type(members) is not list:
        raise NothingThere(f"a list was expected, and there is {_described(members)}")
    for member in members:
        try:
            if None in rest:
                yield from _each(member, rest, place)
            else:
                yield _walk(member, rest, place)
        except NothingThere:
            if None not in rest:
                yield None


def _described(value: Any) -> str:
    """What there is in place of what was sought."""
    if type(value) is dict:
        keys = one_line(", ".join(value), _KEYS_SHOWN)
        return f"an object with {keys}" if value else "an empty object"
    if type(value) is list:
        return f"a list of {len(value)}"
    return kind(value)


ANSWERS = ("answer", "answer_json", "claim")
FIELDS = (
    *ANSWERS,
    "citations",
    "constraints_echo",
    "retrieved_ids",
    "retrieved",
    "usage",
    "stage_ms",
)
_STRUCTURED = ("claim", "citations", "constraints_echo")
_PARTS = ("request", "response", "headers")
_REMEDIES = {"url": "the URL is no part of a mapping; give it beside"}
_BLANKS: dict[str, Callable[[Ask], Any]] = {
    "q": lambda ask: ask.q,
    "seed": lambda ask: ask.seed,
    "temperature": lambda ask: ask.temperature,
    "jitter": lambda ask: ask.jitter,
    "knobs": lambda ask: ask.knobs,
    "constraints": lambda ask: ask.knobs.get("constraints", []),
}
_KNOB, _ENV = "knobs.", "env."
_BLANK = re.compile(r"\{\{(?P<literal>[\w.-]+)\}\}|\{(?P<name>[\w.-]+)\}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]*")
_FRAMING = frozenset({"connection", "content-length", "transfer-encoding"})


class Mapping(Struct, frozen=True, kw_only=True):
    """A request's template, and where a response holds the fields of a trace."""

    request: Any = None
    """None for the body that is ours."""
    response: dict[str, Path] = {}
    """Empty for the reply that is ours."""
    headers: dict[str, str] = {}
    """With the secrets in them."""

    def __repr__(self) -> str:
        return f"Mapping({self.identity})"

    @property
    def identity(self) -> dict[str, Any]:
        """What makes it this mapping, without secrets: headers by name, the request by its hash."""
        request = msgspec.json.encode(self.request, order="sorted")
        return {
            "headers": sorted(self.headers),
            "request_sha256": hashlib.sha256(request).hexdigest(),
            "response": {field: str(path) for field, path in sorted(self.response.items())},
        }

    @property
    def knobs(self) -> tuple[str, ...]:
        """The knobs the request cannot be made without."""
        names = {match["name"] or "" for _, match in _blanks_in(self.request, "request")}
        return tuple(sorted(name.removeprefix(_KNOB) for name in names if name.startswith(_KNOB)))

    def body(self, ask: Ask) -> Any:
        """The request's body; raises CallFailed where a knob is missing."""
        return ask if self.request is None else _filled(self.request, ask)

    def reply(self, found: Any) -> Any:
        """The reply in our shape; raises CallFailed where there is no answer to be found."""
        if not self.response:
            return found
        taken: dict[str, Any] = {}
        for field, path in self.response.items():
            try:
                taken[field] = path.find(found)
            except NothingThere as fact:
                if field in ANSWERS:
                    raise CallFailed("bad_reply", f"{field}: nothing at {path}: {fact}") from None
        return _shaped(taken)


def read_mapping(name: str, environment: Named[str, str]) -> Mapping:
    """The mapping a JSON file writes; raises UsageError with all that is wrong."""
    try:
        record = decode(read_whole(name))
    except BadJson as fault:
        raise UsageError(f"{name}: {fault}") from None
    except InputRejected as rejected:
        raise UsageError(*rejected.problems) from None
    return mapping_of(record, environment, place=name)


def mapping_of(record: Any, environment: Named[str, str], *, place: str = "mapping") -> Mapping:
    """The mapping of a decoded file; `environment` fills the headers."""
    problems: list[str] = []
    parts = _object(record, "", problems)
    _refuse_unknown(parts, _PARTS, "", problems)
    request = parts.get("request")
    for where, match in _blanks_in(request, "request"):
        name = match["name"]
        if name is None or name in _BLANKS or (name.startswith(_KNOB) and name != _KNOB):
            continue
        near = difflib.get_close_matches(name, _BLANKS, n=1)
        hint = f"did you mean {{{near[0]}}}?" if near else f"write {{{match[0]}}} for the braces"
        problems.append(f"{where}: {match[0]} stands for nothing; {hint}")
    response = _paths(_object(parts.get("response"), "response", problems), problems)
    headers = _headers(_object(parts.get("headers"), "headers", problems), environment, problems)
    if problems:
        raise UsageError(*(f"{place}: {problem}" for problem in problems))
    return Mapping(request=request, response=response, headers=headers)


def header_faults(headers: Named[str, str]) -> list[str]:
    """What is wrong with headers; values are never shown."""
    faults = []
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            faults.append(f"{quoted(name)} is no name of a header")
        elif name.lower() in _FRAMING:
            faults.append(f"{name} is set by the connection itself; leave it out")
        elif not _VALUE.fullmatch(value):
            faults.append(f"{name}: the value holds a line break or a control character")
    return faults


def _object(value: Any, field: str, problems: list[str]) -> dict[str, Any]:
    if value is None and field:
        return {}
    if type(value) is not dict:
        problems.append(f"{field or 'the file'}: expected an object, got {kind(value)}")
        return {}
    return value


def _refuse_unknown(
    given: Iterable[str], known: tuple[str, ...], within: str, problems: list[str]
) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = f'did you mean "{near[0]}"?' if near else "there are " + ", ".join(known)
            place = f"{within}.{name}" if within else name
            problems.append(f"{place}: there is no such key; {_REMEDIES.get(name, remedy)}")


def _blanks_in(template: Any, place: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Each placeholder of a template with its place in the file."""
    if type(template) is str:
        yield from ((place, match) for match in _BLANK.finditer(template))
    elif type(template) is list:
        for at, member in enumerate(template):
            yield from _blanks_in(member, f"{place}[{at}]")
    elif type(template) is dict:
        for key, member in template.items():
            yield from _blanks_in(member, f"{place}.{key}")


def _filled(template: Any, ask: Ask) -> Any:
    if type(template) is list:
        return [_filled(member, ask) for member in template]
    if type(template) is dict:
        return {key: _filled(member, ask) for key, member in template.items()}
    if type(template) is not str:
        return template
    whole = _BLANK.fullmatch(template)
    if whole and whole["name"]:
        return _value(whole["name"], ask)

    def as_text(match: re.Match[str]) -> str:
        if match["literal"]:
            return "{" + match["literal"] + "}"
        value = _value(match["name"], ask)
        return value if type(value) is str else msgspec.json.encode(value, order="sorted").decode()

    return _BLANK.sub(as_text, template)


def _value(name: str, ask: Ask) -> Any:
    known = _BLANKS.get(name)
    if known:
        return known(ask)
    knob = name.removeprefix(_KNOB)
    if knob not in ask.knobs:
        raise CallFailed("no_knob", f"the request asks for {{{name}}}, and no such knob is set")
    return ask.knobs[knob]


def _paths(written: dict[str, Any], problems: list[str]) -> dict[str, Path]:
    _refuse_unknown(written, FIELDS, "response", problems)
    paths: dict[str, Path] = {}
    for field, text in written.items():
        place = f"response.{field}"
        if type(text) is not str:
            problems.append(f"{place}: expected a path as text, got {kind(text)}")
            continue
        try:
            paths[field] = parse_path(text)
        except UsageError as error:
            problems += [f"{place}: {problem}" for problem in error.problems]
    ways = [field for field in ANSWERS if field in written]
    if written and not ways:
        problems.append("response: says nothing of the answer; add answer, answer_json or claim")
    if len(ways) > 1:
        problems.append(f"response: {' and '.join(ways)} all say where the answer is; keep one")
    if "answer_json" in written and "constraints_echo" in written:
        problems.append("response.constraints_echo: answer_json holds it already; keep one")
    return paths


def _headers(
    written: dict[str, Any], environment: Named[str, str], problems: list[str]
) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, text in written.items():
        place = f"headers.{name}"
        if type(text) is not str:
            problems.append(f"{place}: expected text, got {kind(text)}")
            continue
        missing = []
        for match in _BLANK.finditer(text):
            blank = match["name"]
            if blank is not None and not blank.startswith(_ENV):
                missing.append(f"{match[0]} stands for nothing here; write {{env.NAME}}")
            elif blank is not None and blank.removeprefix(_ENV) not in environment:
                missing.append(f"the environment has no {blank.removeprefix(_ENV)}; set it")
        problems += [f"{place}: {fault}" for fault in missing]
        if not missing:
            headers[name] = _BLANK.sub(
                lambda match: (
                    "{" + match["literal"] + "}"
                    if match["literal"]
                    else environment[match["name"].removeprefix(_ENV)]
                ),
                text,
            )
    problems += [f"headers: {fault}" for fault in header_faults(headers)]
    return headers


def _shaped(taken: dict[str, Any]) -> dict[str, Any]:
    """A reply of ours from the fields that were found."""
    inner = _STRUCTURED if "claim" in taken else ("constraints_echo",)
    reply = {field: value for field, value in taken.items() if field not in inner}
    answer = {field: value for field, value in taken.items() if field in inner}
    if answer:
        reply["answer_json"] = answer
    written = reply.get("answer_json")
    if type(written) is str:  # a model may write the object as text, or something else
        with suppress(BadJson):
            found = decode(written.encode())
            reply["answer_json"] = found if type(found) is dict else written
    return reply
