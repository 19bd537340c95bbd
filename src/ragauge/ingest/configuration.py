"""Settings with their origins: flag over environment over file over default."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct

from ragauge.contracts.refusal import DEFAULT_STRENGTH, DEFAULT_TOKENS, Strength
from ragauge.errors import UsageError

PREFIX = "RAGAUGE_"
KEYS = (f"{PREFIX}JUDGE_KEY", f"{PREFIX}EMBEDDER_KEY")
"""Variables that hold keys of endpoints: no settings, so that their values are shown nowhere."""
TOKEN = f"{PREFIX}TOKEN"
"""The variable that holds what readers of a dashboard need; no setting, for the same reason."""
EMPTY = "is empty; leave it out, or say what you want"
Kind = Literal["text", "texts", "list", "choice", "whole", "number", "switch"]


class Setting(Struct, frozen=True, kw_only=True):
    """Something a user can set, on the command line, in the environment or in a file.

    A name such as `sweep.retries` belongs to one command: `--retries` there, RAGAUGE_SWEEP_RETRIES,
    and `retries` in the table `sweep` of the file.
    """

    name: str
    kind: Kind
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    may_be_empty: bool = False
    """An empty text says something."""


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting(
            name="preset",
            kind="choice",
            default=None,
            choices=("example08", "ship", "integrity"),
            help="Gates that belong together.",
        ),
        Setting(
            name="gates",
            kind="texts",
            default=(),
            help="Gate rules, such as precision_cited>=0.80.",
        ),
        Setting(
            name="min_coverage",
            kind="number",
            default=0.9,
            help="The fraction of samples that must have a value for a gate to decide.",
        ),
        Setting(
            name="require_gates",
            kind="switch",
            default=False,
            help="End with 1 if no gate is set on quality.",
        ),
        Setting(
            name="refusal",
            kind="choice",
            default=None,
            choices=get_args(Strength),
            help=(
                "What counts as a refusal: auto, any; exact, the token alone; near, also with "
                f"quotes or a full stop; free, as auto  [{DEFAULT_STRENGTH}; exact where a preset "
                "promises the token]"
            ),
        ),
        Setting(
            name="refusal_tokens",
            kind="texts",
            default=None,
            help=f'The texts that refuse; "" is an empty answer  [{",".join(DEFAULT_TOKENS)}]',
            may_be_empty=True,
        ),
        Setting(
            name="canon",
            kind="choice",
            default="unicode",
            choices=("unicode", "reference"),
            help="How claims and phrases are made comparable.",
        ),
        Setting(
            name="each",
            kind="choice",
            default="question",
            choices=("question", "trace"),
            help="What is counted: the last trace of a question, or every trace.",
        ),
        Setting(
            name="inline",
            kind="switch",
            default=False,
            help="Read markers such as [1] or [p1#2] in the text as citations.",
        ),
        Setting(
            name="workers",
            kind="whole",
            default=0,
            help="Processes to score with; 0 for one a core.",
        ),
        Setting(
            name="max_bad",
            kind="text",
            default="0",
            help="Bad lines to accept: a count, or a percentage such as 1%.",
        ),
        Setting(
            name="format",
            kind="choice",
            default="text",
            choices=("text", "json", "markdown", "junit", "github", "csv", "html"),
            help="What standard output gets.",
        ),
        Setting(name="quiet", kind="switch", default=False, help="No remarks on standard error."),
        Setting(name="record", kind="switch", default=False, help="Keep the run in the history."),
        Setting(
            name="store",
            kind="text",
            default=None,
            help="The history: a folder, a SQLite file or a postgresql:// URL.",
        ),
        Setting(
            name="name",
            kind="text",
            default=None,
            help="What a recorded run is called; runs of one name are a line.",
        ),
        Setting(
            name="label",
            kind="texts",
            default=(),
            help="A label of a recorded run, such as model=small-3.",
        ),
        Setting(
            name="keep_texts",
            kind="switch",
            default=True,
            help=(
                "Keep whole answers, retrieved chunks and cited documents with a recorded run; "
                "without them its report, claims, cited ids and gold stay."
            ),
        ),
        Setting(
            name="sweep.preset",
            kind="choice",
            default=None,
            choices=("pr", "daily", "trace"),
            help="A grid by name: pr for every change, daily for all jitters, trace for lambda.",
        ),
        Setting(name="sweep.seeds", kind="list", default=("0", "1", "2", "3", "4"), help="Seeds."),
        Setting(name="sweep.temperatures", kind="list", default=("0", "0.2"), help="Temperatures."),
        Setting(
            name="sweep.jitters",
            kind="list",
            default=("none", "ws", "punct", "syn", "order"),
            help="Harmless changes of the question; also case, quote, polite, typo.",
        ),
        Setting(
            name="sweep.paraphrases",
            kind="switch",
            default=False,
            help="Ask the gold set's paraphrases too.",
        ),
        Setting(
            name="sweep.repeats",
            kind="whole",
            default=1,
            help="How often the very same is asked.",
        ),
        Setting(
            name="sweep.concurrency", kind="whole", default=16, help="Calls in flight at a time."
        ),
        Setting(name="sweep.timeout", kind="number", default=90.0, help="Seconds for a call."),
        Setting(
            name="sweep.retries",
            kind="whole",
            default=3,
            help="Attempts after the first, where asking again may help.",
        ),
        Setting(
            name="sweep.rate",
            kind="text",
            default=None,
            help="At most so many calls: 10/s, 300/min.",
        ),
        Setting(
            name="sweep.max_wait",
            kind="number",
            default=60.0,
            help="Seconds a system may ask to wait (Retry-After); beyond it the call fails.",
        ),
        Setting(
            name="sweep.error_budget",
            kind="text",
            default="5%",
            help="Runs that may fail before the sweep stops: a share, or a count.",
        ),
        Setting(
            name="sweep.adaptive",
            kind="choice",
            default=None,
            choices=("exact", "anytime"),
            help="Leave out runs that cannot change a verdict (exact), or hardly could (anytime).",
        ),
        Setting(
            name="sweep.jitter_profile",
            kind="choice",
            default="ours",
            choices=("ours", "reference"),
            help="Whose jitters.",
        ),
        Setting(
            name="sweep.map",
            kind="text",
            default=None,
            help="A JSON file with the shape of the system's requests and replies.",
        ),
        Setting(
            name="stability.profile",
            kind="choice",
            default="ours",
            choices=("ours", "reference"),
            help="Whose gates and definitions.",
        ),
        Setting(
            name="stability.gates",
            kind="texts",
            default=(),
            help="Gate rules for each question, such as acr>=0.95.",
        ),
        Setting(
            name="stability.min_stable",
            kind="number",
            default=1.0,
            help="The share of questions that must be stable and right.",
        ),
    )
}


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
    for name, value in _settings_in(file.table).items():
        _set(values, name, value, file.name, f"{file.name}: {name}", problems)
    _from_its_folder(values, file)
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable not in (*KEYS, TOKEN):
            name = _named(variable.removeprefix(PREFIX).lower())
            _set(values, name, environment[variable], variable, variable, problems)
    for name, value in flags.items():
        if value is not None:
            flag = flag_of(name)
            _set(values, name, value, f"flag {flag}", flag, problems)
    if problems:
        raise UsageError(*problems)
    _with_promised_token(values, file)
    return values


def _with_promised_token(values: dict[str, Value], file: Written) -> None:
    """A project whose file names its refusal tokens promises them under the preset `ship`."""
    promised = values["refusal_tokens"].origin == file.name and values["preset"].value == "ship"
    if promised and values["refusal"].value is None:
        values["refusal"] = Value("exact", f"{file.name}: refusal_tokens, with preset ship")


def _from_its_folder(values: dict[str, Value], file: Written) -> None:
    """A store that a file names is looked for from that file's folder, wherever one stands."""
    place = values["store"].value
    if file.path is not None and place is not None and "://" not in place:
        values["store"] = Value(str(file.path.parent / place), file.name)


def flag_of(name: str) -> str:
    """The option that sets a setting.

    >>> flag_of("sweep.error_budget")
    '--error-budget'
    """
    return "--" + name.rpartition(".")[2].replace("_", "-")


def _named(variable: str) -> str:
    """The setting an environment variable means: `sweep_retries` is `sweep.retries`."""
    dotted = variable.replace("_", ".", 1)
    return dotted if dotted in SETTINGS else variable


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
    whole = _toml(path, problems)
    if path.name != "pyproject.toml":
        return Written(path, path.name, whole)
    tools = whole.get("tool")
    table = tools.get("ragauge") if isinstance(tools, dict) else None
    if isinstance(table, dict):
        return Written(path, f"{path.name} [tool.ragauge]", table)
    if table is not None:
        problems.append(f"{path.name}: tool.ragauge: expected a table, got {table!r}")
    return None


def _settings_in(table: dict[str, Any]) -> dict[str, Any]:
    return _keys({name: value for name, value in table.items() if name not in SUITE_TABLES})


def _toml(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(f"{path.name}: is not TOML: {error}")
    except OSError as error:
        problems.append(f"{path.name}: cannot be read: {error.strerror}")
    return {}


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


def read_setting(setting: Setting, value: Any) -> Any:
    """The value as its setting wants it; raises ValueError with the fact."""
    if setting.kind == "switch":
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("1", "true", "yes", "0", "false", "no"):
            return str(value).lower() in ("1", "true", "yes")
        raise ValueError(f"expected true or false, got {value!r}")
    if setting.kind == "whole":
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if isinstance(value, str) and value.isascii() and value.isdigit():
            return int(value)
        raise ValueError(f"expected a whole number, 0 or more, got {value!r}")
    if setting.kind == "number":
        return _number(value)
    if setting.kind == "texts":
        return _texts(value, empty=setting.may_be_empty)
    if setting.kind == "list":
        return _list(value)
    if setting.kind == "text" and isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"expected text, got {value!r}")
    if not value.strip():
        raise ValueError(EMPTY)
    if setting.choices and value not in setting.choices:
        raise ValueError(f'"{value}" is none of {", ".join(setting.choices)}')
    return value


def _number(value: Any) -> float:
    percent = isinstance(value, str) and value.strip().endswith("%")
    try:
        number = float(value.strip()[:-1]) / 100 if percent else float(value)
        number = math.nan if isinstance(value, bool) else number
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"expected a number, 0 or more, got {value!r}")
    return number


def _list(value: Any) -> tuple[str, ...]:
    """Short values, written with commas or as an array; numbers may stand there bare."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        raise ValueError(f"expected a list such as 0,1,2, got {value!r}")
    return _texts([str(part) for part in parts])


def _texts(value: Any, *, empty: bool = False) -> tuple[str, ...]:
    """A list as it is given; a single text, as the environment has it, is split at commas."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"expected texts, got {value!r}")
    if not empty and not all(part.strip() for part in parts):
        raise ValueError(EMPTY)
    return tuple(part.strip() for part in parts)
