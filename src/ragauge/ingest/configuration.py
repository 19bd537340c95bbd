"""Settings with their origins: flag over environment over file over default; names and labels."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.contracts.opt import Option, options_in
from ragauge.contracts.options import (
    Gating,
    Mapped,
    Output,
    Recording,
    ScoreOptions,
    StabilityOptions,
    SweepOptions,
    SystemOptions,
)
from ragauge.errors import UsageError
from ragauge.ingest.fields import quoted

PREFIX = "RAGAUGE_"
KEYS = (f"{PREFIX}JUDGE_KEY", f"{PREFIX}EMBEDDER_KEY")
"""Variables that hold keys of endpoints: no settings, so that their values are shown nowhere."""
TOKEN = f"{PREFIX}TOKEN"
"""The variable that holds what readers of a dashboard need; no setting, for the same reason."""
EMPTY = "is empty; leave it out, or say what you want"

SETTINGS: dict[str, Option] = {}
"""What a user can set in a file and in the environment, by name.

A name such as `sweep.retries` belongs to one command: `--retries` there, RAGAUGE_SWEEP_RETRIES, and
`retries` in the table `sweep` of the file.
"""
for kind in (
    *(ScoreOptions, Mapped, Gating, Output, Recording, SweepOptions, SystemOptions),
    *(StabilityOptions,),
):
    for one in options_in(kind):
        if one.opt.setting:
            SETTINGS.setdefault(one.opt.setting, one)


class Value(Struct, frozen=True):
    """A setting's value and where it comes from."""

    value: Any
    origin: str


def configured(
    flags: Mapping[str, Any], environment: Mapping[str, str], place: Path
) -> dict[str, Value]:
    """Every setting's value and origin; raises UsageError with all that is wrong at once.

    The place is a file, or a folder from which the nearest file upwards is read.
    """
    problems: list[str] = []
    values = {name: Value(setting.default, "default") for name, setting in SETTINGS.items()}
    file = written(place, problems)
    settings = {name: value for name, value in file.table.items() if name not in SUITE_TABLES}
    for name, value in _keys(settings).items():
        _set(values, name, value, file.name, f"{file.name}: {name}", problems)
    store = values["store"].value
    if file.path is not None and store is not None and "://" not in store:
        # A store that a file names is looked for from that file's folder.
        values["store"] = Value(str(file.path.parent / store), file.name)
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable not in (*KEYS, TOKEN):
            name = variable.removeprefix(PREFIX).lower()
            dotted = name.replace("_", ".", 1)  # `sweep_retries` is `sweep.retries`
            name = dotted if dotted in SETTINGS else name
            _set(values, name, environment[variable], variable, variable, problems)
    for name, value in flags.items():
        if value is not None:
            flag = flag_of(name)
            _set(values, name, value, f"flag {flag}", flag, problems)
    if problems:
        raise UsageError(*problems)
    # A project whose file names its refusal tokens promises them under the preset `ship`.
    promised = values["refusal_tokens"].origin == file.name and values["preset"].value == "ship"
    if promised and values["refusal"].value is None:
        values["refusal"] = Value("exact", f"{file.name}: refusal_tokens, with preset ship")
    return values


def flag_of(name: str) -> str:
    """The option that sets a setting.

    >>> flag_of("sweep.error_budget")
    '--error-budget'
    """
    return "--" + name.rpartition(".")[2].replace("_", "-")


SUITE_TABLES = ("datasets", "pipeline", "baseline", "tasks", "suites", "scenario", "knobs")
"""What stands beside the settings in a file, for `ragauge run` and `diagnose` to read."""


class Written(Struct, frozen=True):
    """A configuration file as it was found."""

    path: Path | None
    name: str
    """What messages call it."""
    table: dict[str, Any]


def written(place: Path, problems: list[str]) -> Written:
    """The file at a place; of a folder, the nearest configuration file upwards."""
    nearest = [
        folder / name
        for folder in (place, *place.parents)
        for name in ("ragauge.toml", "pyproject.toml")
    ]
    for path in [place] if place.is_file() else nearest:
        # A link to nothing is read too, and reported: without it the project's gates would be lost.
        there = path.is_file() or path.is_symlink()
        if there and (found := _configuration(path, problems)):
            return found
    return Written(None, "", {})


def _configuration(path: Path, problems: list[str]) -> Written | None:
    """What a file says of Ragauge; None where it is a project's and says nothing."""
    whole: dict[str, Any] = {}
    try:
        whole = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(f"{path.name}: is not TOML: {error}")
    except OSError as error:
        problems.append(f"{path.name}: cannot be read: {error.strerror}")
    if path.name != "pyproject.toml":
        return Written(path, path.name, whole)
    tools = whole.get("tool")
    table = tools.get("ragauge") if isinstance(tools, dict) else None
    if isinstance(table, dict):
        return Written(path, f"{path.name} [tool.ragauge]", table)
    if table is not None:
        problems.append(f"{path.name}: tool.ragauge: expected a table, got {table!r}")
    return None


def _keys(table: dict[str, Any]) -> dict[str, Any]:
    """The table's settings by name; those of a command stand in a table of its own."""
    commands = {name.partition(".")[0] for name in SETTINGS if "." in name}
    found: dict[str, Any] = {}
    for name, value in table.items():
        if name in commands and isinstance(value, dict):
            found |= {f"{name}.{key}": member for key, member in _keys(value).items()}
        else:
            found[name.replace("-", "_")] = value
    return found


def _set(
    values: dict[str, Value], name: str, value: Any, origin: str, place: str, problems: list[str]
) -> None:
    setting = SETTINGS.get(name)
    if setting is None:
        for_key = place.endswith("_KEY")
        named, known = (place, KEYS) if for_key else (name, (*SETTINGS, *SUITE_TABLES))
        near = difflib.get_close_matches(named, known, n=1)
        hint = f'did you mean "{near[0]}"?' if near else "`ragauge config` lists the settings"
        problems.append(f"{place}: there is no such setting; {hint}")
        return
    try:
        values[name] = Value(read_setting(setting, value), origin)
    except ValueError as error:
        problems.append(f"{place}: {error}")


def read_setting(setting: Option, value: Any) -> Any:
    """The value as its setting wants it; raises ValueError with the fact."""
    if setting.opt.commas:
        # Short values, written with commas or as an array; numbers may be bare.
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            raise ValueError(f"expected a list such as 0,1,2, got {value!r}")
        return _texts([part for one in parts for part in str(one).split(",")])
    if setting.many and setting.type is int:
        numbers = value if isinstance(value, list | tuple) else [value]
        if not all(type(number) is int for number in numbers):
            raise ValueError(f"expected whole numbers, got {value!r}")
        return tuple(numbers)
    if setting.opt.pairs and isinstance(value, Mapping):  # a table of the file
        inner = {key: part for key, part in value.items() if isinstance(part, Mapping)}
        value = [f"{key}={part}" for key, part in value.items() if key not in inner]
        value += [
            f"{key}.{name}={one}" for key, part in inner.items() for name, one in part.items()
        ]
    if setting.many:
        return _texts(value, empty=setting.opt.blank)
    if setting.type is bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("1", "true", "yes", "0", "false", "no"):
            return str(value).lower() in ("1", "true", "yes")
        raise ValueError(f"expected true or false, got {value!r}")
    if setting.type is int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if isinstance(value, str) and value.isascii() and value.isdigit():
            return int(value)
        raise ValueError(f"expected a whole number, 0 or more, got {value!r}")
    if setting.type is float:
        percent = isinstance(value, str) and value.strip().endswith("%")
        try:
            number = float(value.strip()[:-1]) / 100 if percent else float(value)
            number = math.nan if isinstance(value, bool) else number
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number) or number < 0:
            raise ValueError(f"expected a number, 0 or more, got {value!r}")
        return number
    if isinstance(value, int) and not isinstance(value, bool) and not setting.choices:
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"expected text, got {value!r}")
    if not value.strip():
        raise ValueError(EMPTY)
    if setting.choices and value not in setting.choices:
        raise ValueError(f'"{value}" is none of {", ".join(setting.choices)}')
    return value


def _texts(value: Any, *, empty: bool = False) -> tuple[str, ...]:
    """A list as it is given; a single text, as the environment has it, is split at commas."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"expected texts, got {value!r}")
    if not empty and not all(part.strip() for part in parts):
        raise ValueError(EMPTY)
    return tuple(part.strip() for part in parts)


LONGEST_NAME = 200
"""Characters of a name or a label: it is read in a list, and typed."""
NAME_SHOWN = 100


def read_name(name: str | None) -> str | None:
    """The name as it was given; raises UsageError where it cannot be shown on a line."""
    if name is not None and (fault := _name_fault(name)):
        raise UsageError(f"name {_short(name)}: {fault}")
    return name


def read_labels(written: Iterable[str]) -> dict[str, str]:
    """The labels by key; raises UsageError with all that is wrong.

    >>> read_labels(["model=small-3", "prompt=v2=b"])
    {'model': 'small-3', 'prompt': 'v2=b'}
    """
    labels: dict[str, str] = {}
    problems = []
    for text in written:
        key, equals, value = (part.strip() for part in text.partition("="))
        if fault := _name_fault(text):
            problems.append(f"label {_short(text)}: {fault}")
        elif not (key and equals and value):
            problems.append(f"label {quoted(text)}: write key=value, such as model=small-3")
        elif labels.setdefault(key, value) != value:
            problems.append(f"label {quoted(key)}: is given twice; keep one value")
    if problems:
        raise UsageError(*problems)
    return labels


def read_columns(written: Iterable[str]) -> dict[str, str]:
    """Where files have the fields; raises UsageError with all that is wrong.

    >>> read_columns(["answer=output.text", "contexts=docs[*].body"])
    {'answer': 'output.text', 'contexts': 'docs[*].body'}
    """
    columns: dict[str, str] = {}
    problems = []
    for text in written:
        field, equals, column = (part.strip() for part in text.partition("="))
        if not (field and equals and column):
            problems.append(f"--map {quoted(text)}: write FIELD=COLUMN, such as answer=output.text")
        elif columns.setdefault(field, column) != column:
            problems.append(f"--map {quoted(field)}: is given twice; keep one column")
    if problems:
        raise UsageError(*problems)
    return columns


def _short(given: str) -> str:
    """The beginning of a name that cannot be one, safe to show."""
    return f"{given[:NAME_SHOWN]!a}{'…' if len(given) > NAME_SHOWN else ''}"


def _name_fault(given: str) -> str | None:
    """What keeps a text from being a name."""
    try:
        given.encode()
    except UnicodeEncodeError:
        return "is not UTF-8 text"
    if len(given) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    return None if given.isprintable() else "holds a character that does not print"
