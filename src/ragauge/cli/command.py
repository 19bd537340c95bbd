"""What all commands share: options and settings, progress, reports on stdout, an exit code."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from time import monotonic
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    get_args,
    get_origin,
    get_type_hints,
)

import click

from ragauge.errors import UsageError

if TYPE_CHECKING:
    from msgspec import Struct

    from ragauge.contracts.opt import Option
    from ragauge.contracts.report import Report
    from ragauge.contracts.sweep import Progress
    from ragauge.ingest.configuration import Value


class Group(click.Group):
    """Commands that are imported when they are called, so that help is quick."""

    def __init__(self, *args: Any, verbs: Mapping[str, str] | None = None, **of: Any) -> None:
        """`verbs` are modules of this package with a command of the same name, and their help."""
        super().__init__(*args, **of)
        self._verbs = dict(verbs or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._verbs, *self.commands]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._verbs:
            return super().get_command(ctx, name)
        verb = name.replace("-", "_") + "_" * iskeyword(name)
        command: click.Command = getattr(import_module(f"ragauge.cli.{verb}"), verb)
        command.short_help = command.short_help or self._verbs[name]  # for completion
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self._verbs:
            super().format_commands(ctx, formatter)
            return
        with formatter.section("Commands"):
            formatter.write_dl([*self._verbs.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], known, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"`{ctx.command_path} -h` lists them"
            raise click.UsageError(f'there is no command "{args[0]}"; {hint}', ctx)
        return super().resolve_command(ctx, args)

    def verb(
        self, *forms: str, name: str | None = None, short: str | None = None
    ) -> Callable[[Callable[..., Report | int | None]], click.Command]:
        """A command of this group; see `command`."""

        def added(function: Callable[..., Report | int | None]) -> click.Command:
            made = command(*forms, name=name, short=short)(function)
            self.add_command(made)
            return made

        return added


def group(**of: Any) -> Callable[[Callable[..., Any]], Group]:
    """A group of commands from a function, whose docstring is its help."""
    return click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]}, **of)


def command(
    *forms: str, name: str | None = None, short: str | None = None, settings: bool = True
) -> Callable[[Callable[..., Report | int | None]], click.Command]:
    """A command from a function, whose report comes in these forms.

    A parameter that is a text, or several, is an argument; one that is a struct takes what the
    options of its fields say. A note next to a type, as in `Annotated[str, "PRED"]`, is how help
    calls it. A report that comes back is written and shown as the parameter `output` says, and its
    verdict is the exit code; else what comes back is the code.

    Without forms, `--format` is the setting of that name; without `settings`, flags are
    all that counts.
    """

    def made(function: Callable[..., Report | int | None]) -> click.Command:
        from msgspec import Struct

        from ragauge.contracts.opt import options_in
        from ragauge.contracts.report import Report

        hints = get_type_hints(function, include_extras=True)
        kinds: dict[str, type[Struct]] = {}
        params: list[click.Parameter] = []
        for called, parameter in inspect.signature(function).parameters.items():
            hint = hints[called]
            if isinstance(hint, type) and issubclass(hint, Struct):
                kinds[called] = hint
                params += (_click_option(one, forms) for one in options_in(hint))
            else:
                params.append(_argument(called, hint, parameter))
        shared = _share_map(params)

        def run(**given: Any) -> None:
            context = click.get_current_context()
            if shared:
                given["map"] = _file_among(given["columns"])
                given["columns"] = tuple(one for one in given["columns"] if "=" in one)
            words = context.command_path.partition(" ")[2]
            given |= _chosen(kinds, given, words, own_format=bool(forms), settings=settings)
            wanted = {name: given[name] for name in hints if name != "return"}
            output, kind = wanted.get("output"), hints["return"]
            reports = isinstance(kind, type) and issubclass(kind, Report)
            files = forms_of(getattr(output, "reports", ()), kind) if reports else {}
            found = function(**wanted)
            if isinstance(found, Report):
                deliver(found, files, output)
                found = exit_code(found)
            context.exit(found or 0)

        shown = name or function.__name__.rstrip("_").replace("_", "-")
        return click.Command(
            shown, callback=run, params=params, help=inspect.getdoc(function), short_help=short
        )

    return made


def _share_map(params: list[click.Parameter]) -> bool:
    """Whether `--map` is two options, of columns and of a file; then they are one from now on."""
    named = {one.name: one for one in params if "--map" in one.opts}
    columns, file = named.get("columns"), named.get("map")
    if not isinstance(columns, click.Option) or not isinstance(file, click.Option):
        return False
    params.remove(file)
    columns.metavar = f"{columns.metavar}|{file.metavar or 'FILE'}"
    columns.help = f"{columns.help} Or, without =: {file.help}"
    return True


def _file_among(given: Sequence[str]) -> str | None:
    files = [one for one in given if "=" not in one]
    if len(files) > 1:
        raise UsageError(f"--map {files[1]}: a file is named already; a column is FIELD=COLUMN")
    return files[0] if files else None


def _argument(called: str, hint: Any, parameter: inspect.Parameter) -> click.Argument:
    needed = parameter.default is parameter.empty
    metavar, kind = None, None
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        metavar = next((one for one in notes if isinstance(one, str)), None)
        kind = next((one for one in notes if isinstance(one, click.ParamType)), None)
    if get_origin(hint) is Literal:
        kind = click.Choice(get_args(hint))
    many = get_origin(hint) is tuple
    if kind is None and metavar is None:
        metavar = called.upper() + ("..." if many else "")
    if metavar and not needed and not many:
        metavar = f"[{metavar}]"
    count = -1 if many else 1
    return click.Argument([called], type=kind, metavar=metavar, nargs=count, required=needed)


def _click_option(one: Option, forms: Sequence[str]) -> click.Option:
    """How click is told of an option; that nobody gave it is None, whatever its default is."""
    from ragauge.contracts.options import FORMS

    opt, default, help = one.opt, one.default, one.opt.help
    names = [one.flag] if one.type is bool else one.flag.split("/")
    choices, setting = one.choices, opt.setting
    if one.field == "format" and forms:
        choices, setting, default = tuple(forms), None, None
    if one.field == "reports":
        from ragauge.reports.rendering import ENDINGS

        endings = {form: ending for ending, form in ENDINGS.items()}
        help = f"Also {' '.join(endings[form] for form in forms or FORMS if form in endings)}."
    if setting and default is None:
        from ragauge.ingest.configuration import SETTINGS

        default = SETTINGS[setting].default
    kind: Any = None
    if choices and not opt.commas:
        kind = click.Choice(choices)
    elif one.type in (int, float) and not setting and not opt.commas:
        low = one.bounds.get("ge", one.bounds.get("gt"))
        high = one.bounds.get("le", one.bounds.get("lt"))
        ranged: Any = click.IntRange if one.type is int else click.FloatRange
        is_open = {"min_open": "gt" in one.bounds, "max_open": "lt" in one.bounds}
        kind = one.type if low is high is None else ranged(low, high, **is_open)
    if one.type is bool and (setting or default is True):
        # What a file switches on, a flag can switch off.
        names = [f"{one.flag}/--no-{one.flag[2:]}"]
    shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
    shown = opt.shown if opt.shown is not None else "on" if shown is True else shown
    if shown not in (None, "", False):
        help = f"{help}  [{shown}]"
    return click.Option(
        [*names, one.field],
        type=kind,
        is_flag=one.type is bool,
        multiple=one.many and (opt.repeated or not opt.commas),
        metavar=opt.metavar,
        help=help,
        # To click, a default is a value: one that must be given has none, not even None.
        **({"required": True} if one.required else {"default": None}),
    )


GOLD = "gold."


def _chosen(
    kinds: Mapping[str, type[Struct]],
    given: Mapping[str, Any],
    words: str,
    *,
    own_format: bool,
    settings: bool,
) -> dict[str, Struct]:
    """Each struct with what flags, environment and file say; its defaults say the rest."""
    from ragauge.contracts.opt import chosen_options, options_in
    from ragauge.contracts.options import MappedGold

    flags = {
        one.opt.setting: None if given[one.field] == () else given[one.field]
        for kind in kinds.values()
        for one in options_in(kind)
        if settings and one.opt.setting and not (own_format and one.field == "format")
    }
    values = with_origins(**flags) if flags else {}
    made = {}
    for name, kind in kinds.items():
        chosen = {}
        for one in options_in(kind):
            value = given[one.field]
            if one.opt.setting in flags:
                known = values[one.opt.setting]
                value = None if known.origin == "default" else known.value
                if value and issubclass(kind, MappedGold):
                    typed = known.origin.startswith("flag")
                    of_gold = [text for text in value if typed or text.startswith(GOLD)]
                    value = tuple(text.removeprefix(GOLD) for text in of_gold)
            if one.field == "workers":
                value = value or os.cpu_count() or 1
            if value is not None and value != ():
                chosen[one.field] = _read(one, value)
        made[name] = chosen_options(kind, words, chosen)
    return made


def _read(one: Option, value: Any) -> Any:
    """The value as the field wants it."""
    if one.opt.joined:
        return ",".join(value)
    if one.opt.pairs:
        from ragauge.ingest.configuration import read_columns, read_labels

        return read_columns(value) if one.opt.setting == "map" else read_labels(value)
    if one.opt.json:
        from ragauge.ingest.options import read_knobs

        return read_knobs(value)
    if one.opt.content:
        try:
            return Path(value).read_text("utf-8")
        except OSError as error:
            raise UsageError(f"{one.flag} {value}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise UsageError(f"{one.flag} {value}: is not UTF-8 text") from None
    return value


def with_origins(**flags: Any) -> dict[str, Value]:
    from ragauge.ingest.configuration import configured

    return configured(flags, os.environ, Path.cwd())


# docs/decisions/0003-exit-codes.md says why.
USAGE = 2
NOT_MEASURED = 3
INTERRUPTED = 130
BROKEN_PIPE = 141


def exit_code(report: Report, require_gates: bool = False) -> int:
    """3 where nothing was measured; 0 where a run passed, and where no gate is on quality, unless
    one is required.
    """
    if not report.measured:
        return NOT_MEASURED
    return 1 if report.passed is False or (report.passed is None and require_gates) else 0


def remark(text: str, quiet: bool) -> None:
    """Talk, for a person, on stderr."""
    if not quiet:
        click.echo(text, err=True)


def screen() -> tuple[bool, int]:
    """Whether stdout has colour, and how wide it is."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return color, shutil.get_terminal_size((100, 24)).columns


def show(report: Report, form: str | None, *, brief: bool = False) -> None:
    """Print a report on stdout, in colour only where a person looks at it."""
    from ragauge.reports.rendering import render

    color, width = screen()
    text = render(report, form or "text", color=color, width=width, brief=brief)
    click.echo(text, nl=False, color=color)


def say(record: Any, lines: Iterable[str], format: str | None) -> None:
    """Print what a command did: the record for a program, or lines for a person."""
    if format == "json":
        from ragauge.reports.json import render

        click.echo(render(record), nl=False)
        return
    from ragauge.text.visible import shown

    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        click.echo(indent + shown(line))


def say_json(value: Any, *, sort: bool = True) -> None:
    """Print a value that is no report as JSON, for a program."""
    import msgspec

    encoded = msgspec.json.encode(value, order="sorted" if sort else None)
    click.echo(msgspec.json.format(encoded).decode())


def forms_of(reports: Iterable[str], kind: type | None = None) -> dict[Path, str]:
    """The files to write and their forms, known before any work is done."""
    from ragauge.reports.rendering import format_of

    return {Path(name): format_of(Path(name), kind) for name in reports}


def deliver(
    report: Report,
    forms: Mapping[Path, str],
    output: Any,
    *,
    brief: bool = False,
    instead: str | None = None,
) -> None:
    """Write a report to its files and show it, or a text instead, as its options of output say."""
    from ragauge.reports.rendering import render

    for path, form in forms.items():
        write_file(path, render(report, form).encode(), getattr(output, "quiet", False))
    if instead is None:
        show(report, output.format, brief=brief)
    else:
        click.echo(instead, nl=False)


def write_file(path: str | Path, content: bytes, quiet: bool) -> None:
    """Write a file that the user named, and say so."""
    from ragauge.store.files import write_whole

    write_whole(Path(path), content)
    remark(f"wrote {path}", quiet)


def refuse_overwriting(
    read: Sequence[str | None], written: Sequence[str | Path | None], docs: str | None = None
) -> None:
    """Raise UsageError where an output is an input, is among the documents, or is named twice."""

    def real(name: str | Path) -> Path:
        # Not Path.resolve, which raises where links lead to each other.
        return Path(os.path.realpath(name))

    inputs = {real(name) for name in read if name and name != "-"}
    outputs = [(name, real(name)) for name in written if name is not None]
    problems = []
    for name, path in outputs:
        if path.is_dir() or not Path(name).name:
            problems.append(f"{name}: is a folder; name a file to write")
        elif path in inputs:
            problems.append(f"{name}: is read and would be overwritten; write to another file")
        elif docs is not None and path.is_relative_to(real(docs)):
            problems.append(f"{name}: lies among the documents of --docs; write it elsewhere")
        elif sum(path == other for _, other in outputs) > 1:
            problems.append(f"{name}: is named for two outputs; give each its own file")
    if problems:
        raise UsageError(*dict.fromkeys(problems))


LOG_EVERY_S = 10.0


@contextmanager
def bar(
    doing: str, quiet: bool, *columns: str, total: int | None = None
) -> Iterator[Callable[..., None] | None]:
    """What updates a bar with these columns of rich; None where nobody sees it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    # What is done may be a foreign name: never markup.
    made: list[Any] = [progress.TextColumn("{task.description}", markup=False)]
    made += [getattr(progress, name)() for name in columns]
    with progress.Progress(*made, console=Console(stderr=True), transient=True) as shown:
        yield partial(shown.update, shown.add_task(doing, total=total))


@contextmanager
def counting(doing: str, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """What is called with how many of how many are done; None where nobody sees it."""
    columns = ("BarColumn", "TaskProgressColumn", "TimeRemainingColumn")
    with bar(doing, quiet, *columns) as update:
        yield update and (lambda done, of: update(completed=done, total=of))


@contextmanager
def reading_progress(
    traces: tuple[str, ...], quiet: bool, doing: str
) -> Iterator[Callable[[int], None] | None]:
    """What is called with the bytes that were read; None where nobody sees it."""
    from ragauge.ingest.lines import size_of

    sizes = [size_of(name) for name in traces] if not quiet else []
    total = None if None in sizes else sum(size for size in sizes if size is not None)
    columns = ("BarColumn", "DownloadColumn", "TimeRemainingColumn")
    with bar(doing, quiet, *columns, total=total) as update:
        yield update and (lambda done: update(advance=done))


@contextmanager
def call_progress(
    quiet: bool, doing: str = "sweeping"
) -> Iterator[Callable[[Progress], None] | None]:
    """Rate, errors and time left of calls: a bar for a person, a line now and then for a log.

    The bar appears with the first progress: before it, a question may be asked.
    """
    if quiet:
        yield None
        return
    start: tuple[float, int] | None = None
    said = monotonic()
    with ExitStack() as stack:
        update: Callable[..., None] | None = None

        def watch(now: Progress) -> None:
            nonlocal start, said, update
            # Runs a second since the first look, which resumed runs are no part of.
            start = start or (monotonic(), now.done + now.failed)
            passed, made = monotonic() - start[0], now.done + now.failed - start[1]
            rate = made / passed if made and passed else None
            settled = now.done + now.failed + now.saved
            speed = f"{rate:.3g}/s" if rate else ""
            failed = f"{now.failed:,} failed" if now.failed else ""
            if sys.stderr.isatty():
                columns = ("BarColumn", "MofNCompleteColumn", "TimeRemainingColumn")
                update = update or stack.enter_context(bar(doing, quiet, *columns))
                words = " ".join(filter(None, (doing, speed, failed)))
                if update:
                    update(total=now.of, completed=settled, description=words)
            elif monotonic() - said >= LOG_EVERY_S:
                said, left = monotonic(), ""
                if rate:
                    minutes, seconds = divmod(round((now.of - settled) / rate), 60)
                    left = f"{minutes}:{seconds:02} left"
                parts = (f"{doing}: {settled:,} of {now.of:,} runs", speed, left, failed)
                click.echo(", ".join(filter(None, parts)), err=True)

        yield watch
