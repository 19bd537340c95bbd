"""Options with a syntax of their own: knobs, scenarios, grids, rates, pairs of sections."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragauge.contracts.diagnosis import KNOBS
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.configuration import written
from ragauge.ingest.fields import expected, kind, quoted, refuse
from ragauge.ingest.lines import STDIN, BadJson, decode, read_whole

EXAMPLE = '{"small": {"k": 5}, "large": {"k": 40}}'


def read_knobs(text: str) -> dict[str, Any]:
    """The knobs of one system: an object as it is written, or the name of a file that holds one."""
    inline = text.lstrip()[:1] in ("{", "[")
    return _object(text.encode() if inline else None, "--knobs" if inline else text, '{"k": 5}')


def read_configurations(name: str) -> dict[str, dict[str, Any]]:
    """The configurations of a file, in its order; raises UsageError with all that is wrong."""
    record = _object(None, name, EXAMPLE)
    problems = [
        f"{name}: {quoted(config)}: expected an object of knobs, got {kind(knobs)}; "
        f"write for example {EXAMPLE}"
        for config, knobs in record.items()
        if type(knobs) is not dict
    ]
    if any(not config.strip() for config in record):
        problems.append(f"{name}: a configuration has no name; give it one")
    if problems:
        raise UsageError(*problems)
    return record


def _object(written: bytes | None, name: str, example: str) -> dict[str, Any]:
    """The JSON object that was written, or that a file of this name holds."""
    try:
        record = decode(read_whole(name) if written is None else written)
    except BadJson as fault:
        raise UsageError(f"{name}: {fault}") from None
    except InputRejected as rejected:
        raise UsageError(*rejected.problems) from None
    if type(record) is not dict:
        raise UsageError(f"{name}: expected an object such as {example}, got {kind(record)}")
    return record


KnobNames = dict[str, str | None]
"""What a pipeline calls each knob; None where it has no such knob."""


def scenario(name: str, place: Path) -> tuple[str, ...]:
    """The metrics of the scenario that a configuration file names so; raises UsageError."""
    problems: list[str] = []
    file = written(place, problems)
    if problems:
        raise UsageError(*problems)
    known = file.table.get("scenario", {})
    if not isinstance(known, dict) or name not in known:
        raise UsageError(_no_scenario(name, known, file.name))
    table = known[name]
    metrics = table.get("metrics") if isinstance(table, dict) else None
    is_list = isinstance(metrics, list) and all(isinstance(one, str) for one in metrics)
    if not metrics or not is_list or set(table) - {"metrics"}:
        raise UsageError(
            f'{file.name}: scenario.{name}: expected metrics = ["faithfulness", …] and nothing else'
        )
    return tuple(metrics)


def _no_scenario(name: str, known: Any, file: str) -> str:
    names = sorted(known) if isinstance(known, dict) else []
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        hint = f"did you mean {quoted(near[0])}?"
    elif names:
        hint = f"there are: {', '.join(names)}"
    else:
        hint = f'write [scenario.{name}] with metrics = ["faithfulness"] into ragauge.toml'
    return f"{file or '--scenario'}: there is no scenario {quoted(name)}; {hint}"


def configured_knobs(place: Path) -> KnobNames:
    """The knob map of the configuration file; empty where it has none."""
    problems: list[str] = []
    file = written(place, problems)
    if problems:
        raise UsageError(*problems)
    return knob_names(file.table.get("knobs", {}), f"{file.name}: knobs")


def knob_names(table: Any, place: str) -> KnobNames:
    """A knob map checked: a name, or false, null or an empty text for a knob that is not there."""
    if not isinstance(table, Mapping):
        raise UsageError(f'{place}: expected a table such as {{"recall_top_k": "retriever.k"}}')
    problems = []
    names: KnobNames = {}
    for knob, called in table.items():
        if knob not in KNOBS:
            near = difflib.get_close_matches(str(knob), KNOBS, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(KNOBS)}"
            problems.append(f"{place}: there is no knob {quoted(str(knob))}; {hint}")
        elif isinstance(called, str) or called is None or called is False:
            names[knob] = called or None
        else:
            problems.append(f"{place}: {knob}: expected a name, or false where there is none")
    if problems:
        raise UsageError(*problems)
    return names


PRESETS: dict[str, dict[str, Any]] = {
    "pr": {"seeds": ("0", "1", "2"), "jitters": ("none", "ws", "syn")},
    "daily": {
        "seeds": ("0", "1", "2", "3", "4"),
        "jitters": ("none", "ws", "punct", "syn", "order", "case", "quote", "polite", "typo"),
    },
    "trace": {"seeds": ("0", "1"), "jitters": ("none",), "temperatures": ("0",)},
}
TRACE_PARAPHRASES = (1, 2, 3)
"""What the preset `trace` asks instead of the question itself."""

_SECONDS = {"s": 1, "sec": 1, "min": 60, "h": 3600}


def rate_of(text: str | None) -> float | None:
    """Calls a second.

    >>> rate_of("10/s"), rate_of("300/min"), rate_of(None)
    (10.0, 5.0, None)
    """
    if text is None:
        return None
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:/\s*(s|sec|min|h))?\s*", text, re.ASCII)
    if not written or float(written[1]) == 0:
        raise UsageError(f'--rate "{text}" is not a rate; write 10/s or 300/min')
    return float(written[1]) / _SECONDS[written[2] or "s"]


ALL = "all"
OPTION = "--allow-cross-section"
_PAIR = '["keys", "handbook#access"]'

Written = Iterator[tuple[str, Any]]
"""The members of each pair, as they are written, with their place."""


def read_section_pairs(text: str) -> frozenset[frozenset[str]] | None:
    """The pairs that a text gives, or the file it names; None for `all`, which allows any.

    A member is a section's id, or `doc_id#section_id` where one document's is meant. Raises
    UsageError with all that is wrong.

    >>> sorted(map(sorted, read_section_pairs("keys+access, handbook#keys + faq#keys")))
    [['access', 'keys'], ['faq#keys', 'handbook#keys']]
    """
    if text.strip() == ALL:
        return None
    pairs: set[frozenset[str]] = set()
    problems: list[str] = []
    if text.lstrip()[:1] == "[":
        pairs_written = _array(OPTION, text.encode("utf-8", "replace"))
    elif "+" in text and not _is_file(text):
        parts = enumerate(text.split(","), 1)
        pairs_written = ((f"{OPTION}: pair {number}", pair.split("+")) for number, pair in parts)
    else:
        pairs_written = _of_file(text) if text.strip() else iter(())
    for place, members in pairs_written:
        fault = _pair_fault(members)
        if fault:
            problems.append(f"{place}: {fault}")
        else:
            pairs.add(frozenset(member.strip() for member in members))
    refuse(problems, UsageError)
    if not pairs:
        place = text if text.strip() else OPTION
        raise UsageError(f"{place}: holds no pair; write two sections a line, or a+b,c+d")
    return frozenset(pairs)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _of_file(name: str) -> Written:
    if name != STDIN and not Path(name).exists():
        raise UsageError(f"{OPTION}: {name}: no such file, and no pair; pairs are written a+b,c+d")
    try:
        content = read_whole(name)
    except InputRejected as rejected:
        raise UsageError(*rejected.problems) from None
    return (_array if content.lstrip()[:1] == b"[" else _lines)(name, content)


def _array(name: str, content: bytes) -> Written:
    try:
        pairs = decode(content)
    except BadJson as fault:
        raise UsageError(f"{name}: {fault}") from None
    for number, pair in enumerate(pairs, 1):
        yield f"{name}: item {number}", pair


def _lines(name: str, content: bytes) -> Written:
    """A pair a line, with a tab or a comma between; a line that begins with # is a remark."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        fact = f"not UTF-8 at byte {error.start + 1}; save the file as UTF-8"
        raise UsageError(f"{name}: {fact}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield f"{name}:{number}", line.split("\t" if "\t" in line.strip() else ",")


def _pair_fault(members: Any) -> str | None:
    """What is wrong with a pair; None where nothing is."""
    if type(members) is not list:
        return expected(f"two sections such as {_PAIR}", members)
    if len(members) != 2:
        named = "1 section" if len(members) == 1 else f"{len(members)} sections"
        return f"{named}; a pair has two, so write one for each two that go together"
    for member in members:
        if type(member) is not str:
            return f"a section is named by text, not by {kind(member)}; write its id"
        if not member.strip():
            return "a section has no name; write its id, or doc_id#section_id"
    one, other = (member.strip() for member in members)
    if one == other:
        return f"{quoted(one)} twice; name two sections, of two documents as doc_id#section_id"
    return None
