"""Records of any file with their places: JSON Lines, a JSON array or object, CSV and TSV.

Every reader of records goes through here. What cannot be decoded goes into a list of problems,
each with its place, so that a user learns of all of them at once.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ragauge.errors import InputRejected, RagaugeError
from ragauge.ingest.lines import MAX_LINE, OVERLONG
from ragauge.text import json_hooks
from ragauge.text.json_hooks import JsonFault
from ragauge.text.visible import one_line

_SHOWN = 40
_LARGEST = 1.7e308
"""JSON has no largest number, but what we compute with has."""
_KINDS = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


class BadField(Exception):
    """A field has the wrong shape: its name and the fact."""

    def __init__(self, field: str, fact: str) -> None:
        super().__init__(f"{field}: {fact}")


class BadRecord(Exception):
    """A record has wrong fields: all of them."""

    def __init__(self, fields: list[BadField]) -> None:
        super().__init__("; ".join(map(str, fields)))
        self.fields = fields


def kind(value: object) -> str:
    """What a decoded JSON value is, in a reader's words."""
    return _KINDS.get(type(value), type(value).__name__)


def quoted(value: str) -> str:
    """Foreign text as a message shows it: in quotes, on one line, not too long."""
    return '"' + one_line(value, _SHOWN).replace('"', '\\"') + '"'


def expected(what: str, value: object) -> str:
    return f"expected {what}, got {kind(value)}"


def text(value: Any, field: str) -> str:
    if type(value) is not str:
        raise BadField(field, expected("text", value))
    return value


def texts(value: Any, field: str) -> tuple[str, ...]:
    """A list of texts."""
    if type(value) is not list:
        raise BadField(field, expected("a list of texts", value))
    for place, member in enumerate(value):
        if type(member) is not str:
            raise BadField(f"{field}[{place}]", expected("text", member))
    return tuple(value)


def boolean(value: Any, field: str) -> bool:
    if type(value) is not bool:
        shown = " " + quoted(value) if type(value) is str else ""
        raise BadField(field, f"expected true or false, got {kind(value)}{shown}")
    return value


def number(value: Any, field: str) -> float:
    if type(value) is not int and type(value) is not float:
        raise BadField(field, expected("a number", value))
    if not -_LARGEST <= value <= _LARGEST:
        raise BadField(field, "the number is out of range")
    return value


def whole(value: Any, field: str) -> int:
    if type(value) is float:
        raise BadField(field, f"expected a whole number, got {value}")
    if type(value) is not int:
        raise BadField(field, expected("a whole number", value))
    return value


def mapping(value: Any, field: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise BadField(field, expected("an object", value))
    return value


def mappings(value: Any, field: str) -> tuple[dict[str, Any], ...]:
    if type(value) is not list:
        raise BadField(field, expected("a list of objects", value))
    return tuple(mapping(member, f"{field}[{place}]") for place, member in enumerate(value))


def record_id(record: dict[str, Any], names: Sequence[str], remedy: str) -> str:
    """What a record is called, under the first of these names that it has; a number is a name.

    >>> record_id({"qid": 7}, ("id", "qid"), "name the item")
    '7'
    """
    for name in names:
        value = record.get(name)
        if value is None:
            continue
        if type(value) is int:
            return str(value)
        if not text(value, name).strip():
            raise BadField(name, "is empty")
        return str(value)
    raise BadField(names[0], f"missing; {remedy}")


Check = Callable[[Any, str], Any]


def gathered(
    parts: Iterable[tuple[str, Callable[[], Any]]], faults: Sequence[BadField] = ()
) -> dict[str, Any]:
    """What each part reads, by its name; raises BadRecord with all faults, the known ones first."""
    known: dict[str, Any] = {}
    found = list(faults)
    for name, read in parts:
        try:
            known[name] = read()
        except BadField as fault:
            found.append(fault)
    if found:
        raise BadRecord(found)
    return known


MAX_NESTING = 64
_FLAT_ARRAYS = MAX_NESTING - 3
"""Arrays a line may hold and still not be too deep, where all its keys stand at the top."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_OUTSIDE_TEXTS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)
_CUT_OFF = "; the text is cut off"
_REMEDIES = {"Extra data": "; write one object a line"}


class BadJson(Exception):
    """A text is not the JSON we accept; the message is the fact, without a place."""


def decode(line: bytes) -> Any:
    """The value of one JSON text: no duplicate keys, no NaN, no lone surrogates, no deep nesting.

    Each key is written with a colon, so a duplicate shows as a colon the decoded value does not
    account for: a clean line is decoded once, and only a suspect one again, by the slow reader
    that explains.
    """
    try:
        value = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadJson(_fault(line) or "not JSON") from None
    # A colon written as an escape would make up for a duplicate key's.
    if b"\\" not in line or b"\\u003" not in line or b"\\u003a" not in line.lower():
        colons = line.count(b":")
        arrays = line.count(b"[")
        if arrays <= _FLAT_ARRAYS and colons == _colons_of_flat(value):
            return value
        shallow = arrays + line.count(b"{") <= MAX_NESTING or _nesting_within_bounds(value)
        if shallow and colons == _encode(value).count(b":"):
            return value
    fault = _fault(line)
    if fault:
        raise BadJson(fault)
    return value


def _colons_of_flat(value: Any) -> int:
    """The colons of a record as most are: texts, flat objects, lists of flat objects.

    Colons in the texts of its parts are not looked for: a record that has some is counted in full.
    """
    if type(value) is not dict:
        return -1
    colons = len(value)
    for member in value.values():
        kind = type(member)
        if kind is str:
            if ":" in member:
                colons += member.count(":")
        elif kind is list:
            if member and type(member[0]) is dict:
                colons += sum([len(part) for part in member if type(part) is dict])
        elif kind is dict:
            colons += len(member)
    return colons


def _nesting_within_bounds(value: Any) -> bool:
    """Whether objects and arrays stand at most MAX_NESTING deep in each other."""
    level = [value]
    for _ in range(MAX_NESTING + 1):
        inner: list[Any] = []
        for part in level:
            if type(part) is dict:
                inner.append(part.values())
            elif type(part) is list:
                inner.append(part)
        if not inner:
            return True
        level = [member for part in inner for member in part]
    return False


def _fault(line: bytes) -> str | None:
    """What is wrong with a text, in words; None where nothing is."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1} (0x{line[error.start]:02x})"
        return f"not UTF-8 at {byte}; save the file as UTF-8"
    if text.startswith("\ufeff"):
        return "begins with a byte order mark, which only a file may; remove it"
    if _nesting(text) > MAX_NESTING:
        return f"nested deeper than {MAX_NESTING} levels"
    try:
        value = json.loads(
            text,
            object_pairs_hook=json_hooks.without_duplicates,
            parse_constant=json_hooks.no_constant,
            parse_float=json_hooks.finite,
            parse_int=json_hooks.whole,
        )
    except json.JSONDecodeError as error:
        return _syntax_fault(error, text)
    except JsonFault as fault:
        return str(fault)
    return _lone_surrogate(value)


def _syntax_fault(error: json.JSONDecodeError, text: str) -> str:
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    fact = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
    remedy = _CUT_OFF if cut_off else _REMEDIES.get(error.msg, "")
    return f"not JSON: {fact} at {line}column {error.colno}{remedy}"


def _nesting(text: str) -> int:
    """How deep brackets go, those inside strings aside."""
    depth = deepest = 0
    for match in _OUTSIDE_TEXTS.finditer(text):
        if match[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] in "]}":
            depth -= 1
    return deepest


def _lone_surrogate(value: Any) -> str | None:
    text = json.dumps(value, ensure_ascii=False)
    lone = re.search("[\ud800-\udfff]", text)
    if not lone:
        return None
    return f"lone surrogate \\u{ord(lone[0]):04x} in a string: half a character; remove it"


SHOWN = 100
"""Problems that are spelled out; the rest are counted."""
STRATUM = "strata."
"""How the name of a table's column begins that is a stratum."""
YES_NO = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""What cells of true and false hold."""

Records = Iterator[tuple[str, Any]]
"""Each decoded record with its place."""
Reader = Callable[[str, bytes, list[str]], Records]
"""Reads the content of a named file; what is wrong with it goes into the list."""


def rejected(problems: Sequence[str], error: type[RagaugeError] = InputRejected) -> RagaugeError:
    """An error with the first of the problems, and how many more there are."""
    return error(*problems[:SHOWN], more=max(0, len(problems) - SHOWN))


def refuse(problems: Sequence[str], error: type[RagaugeError] = InputRejected) -> None:
    """Raise the error where there are problems."""
    if problems:
        raise rejected(problems, error)


def file_of(place: str) -> str:
    """The name that a place begins with.

    >>> file_of("gold.tsv:3"), file_of("gold.json: item 2"), file_of('labels.json: "a1"')
    ('gold.tsv', 'gold.json', 'labels.json')
    """
    return re.sub(r'(:\d+|: (item|row) \d+|: ".*"|(: \w+)?\[\d+\])$', "", place)


def records_of(name: str, content: bytes, problems: list[str], table: Reader) -> Records:
    """Each record of a file, in whatever form its first character says it is.

    `table` reads what is not JSON: which columns there must be is the caller's to say.
    """
    first = content.lstrip()[:1]
    if first == b"[":
        return json_array(name, content, problems)
    return (json_lines if first in (b"{", b"") else table)(name, content, problems)


def no_table(name: str, content: bytes, problems: list[str]) -> Records:
    """The `table` of readers that take JSON alone."""
    problems.append(f"{name}: is not JSON; write one object a line")
    return iter(())


def json_whole(name: str, content: bytes, problems: list[str]) -> Records:
    """The one value that a file is."""
    try:
        yield name, decode(content)
    except BadJson as fault:
        problems.append(f"{name}: {fault}")


def json_array(name: str, content: bytes, problems: list[str]) -> Records:
    for _, members in json_whole(name, content, problems):
        for number, member in enumerate(members, 1):
            yield f"{name}: item {number}", member


def json_lines(name: str, content: bytes, problems: list[str]) -> Records:
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            if len(line) > MAX_LINE:
                raise BadJson(OVERLONG)
            yield f"{name}:{number}", decode(line)
        except BadJson as fault:
            problems.append(f"{name}:{number}: {fault}")


def is_one_object(content: bytes, *, on_one_line: bool = False) -> bool:
    """Whether a file is one JSON object over several lines, and not an object a line.

    A file of one line is both; `on_one_line` says what it counts as.

    >>> is_one_object(b'{"a":\\n1}'), is_one_object(b'{"a": 1}\\n{"a": 2}')
    (True, False)
    """
    first, _, rest = content.strip().partition(b"\n")
    if not rest:
        return on_one_line and first.startswith(b"{")
    return first.startswith(b"{") and not first.rstrip().endswith(b"}")


def rows_of(name: str, content: bytes, problems: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The filled rows of CSV or TSV, each with the line it begins at.

    The first line shows what separates the cells.
    """
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        problems.append(f"{name}:{number}: is not UTF-8 text; save the table as UTF-8")
        return
    delimiter = max("\t,;", key=lines[0].count)
    complete_lines = (line.removesuffix("\r") + "\n" for line in lines)
    csv.field_size_limit(MAX_LINE)
    reader = csv.reader(complete_lines, delimiter=delimiter, strict=True)
    number = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield f"{name}:{number}", cells
            number = reader.line_num + 1
    except csv.Error as error:
        problems.append(f"{name}:{number}: not a row of cells: {error}")


Header = Callable[[str, list[str], list[str]], bool]
"""Whether rows can be read under these columns; gets the header's place, and the problems."""
Cells = Callable[[Sequence[str], Sequence[str]], Any]
"""The record of a row, from the names of its columns and its cells; may raise BadField."""


def boolean_cell(cell: str, field: str) -> bool:
    """Whether a cell says yes; raises BadField where it says neither yes nor no."""
    meant = YES_NO.get(cell.strip().lower())
    if meant is None:
        raise BadField(field, f"expected true or false, got {quoted(cell)}")
    return meant


def distinct_columns(place: str, columns: Sequence[str], problems: list[str]) -> bool:
    """Whether no two columns have one name."""
    twice = sorted({title for title in columns if columns.count(title) > 1})
    problems += [f"{place}: two columns are called {quoted(title)}; keep one" for title in twice]
    return not twice


def by_column(columns: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    return dict(zip(columns, cells, strict=True))


def headed_rows(
    name: str,
    content: bytes,
    problems: list[str],
    *,
    column: Callable[[str], str] = str,
    header: Header = distinct_columns,
    row: Cells = by_column,
) -> Records:
    """The rows of a CSV or TSV file whose first line names the columns, each as a record.

    `column` gives our name for a title, `header` checks the columns, `row` makes the record.
    """
    rows = rows_of(name, content, problems)
    place, titles = next(rows, (name, []))
    columns = [column(title.strip()) for title in titles]
    if not header(place, columns, problems):
        return
    for place, cells in rows:
        try:
            if len(cells) != len(columns):
                raise BadField("cells", f"{len(cells)}, but the header has {len(columns)}")
            record = row(columns, cells)
        except BadField as fault:
            problems.append(f"{place}: {fault}")
            continue
        yield place, record
