"""How a field of an options struct is given: on the command line, in a file, by a suite's task."""

from __future__ import annotations

import types
from functools import lru_cache
from inspect import get_annotations
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Meta, Struct, structs


class Opt(Struct, frozen=True):
    """Next to a field's type, as in `Annotated[str, Opt("Bad lines to accept.")] = "0"`.

    Its name, type, choices, bounds and default are those of the field.
    """

    help: str
    metavar: str | None = None
    flag: str | None = None
    """Where the field's name with dashes is not how the command line calls it."""
    setting: str | None = None
    """Its name in `ragauge.toml` and `ragauge config`, with the table it is in: `sweep.seeds`."""
    choices: tuple[str, ...] = ()
    default: Any = None
    """What users see as the default, where the field has None for it."""
    shown: str | None = None
    """The default in words."""
    joined: bool = False
    """Repeatable; what is given is joined with commas."""
    commas: bool = False
    """Names or numbers that may be written with commas."""
    json: bool = False
    """An object in JSON, or the name of a file that holds one."""
    content: bool = False
    """The text of the file it names."""
    blank: bool = False
    """An empty text says something."""
    limits: dict[str, float] = {}
    """Of the command line, where they are narrower than the field's: ge, gt, le, lt."""


class Option(Struct, frozen=True):
    """An option as its field declares it."""

    field: str
    opt: Opt
    type: type
    """bool, int, float or str, of a value or of each of many."""
    many: bool
    choices: tuple[str, ...]
    bounds: dict[str, float]
    """As `msgspec.Meta` has them: ge, gt, le, lt."""
    default: Any
    required: bool

    @property
    def flag(self) -> str:
        return self.opt.flag or f"--{self.field.replace('_', '-')}"


@lru_cache(None)
def options_in(kind: type[Struct]) -> tuple[Option, ...]:
    """The options that a struct declares: its own first, then those it shares with others."""
    hints = get_type_hints(kind, include_extras=True)
    fields = {one.name: one for one in structs.fields(kind)}
    own = [name for base in kind.__mro__ for name in get_annotations(base)]
    found = []
    for name in dict.fromkeys(own):
        opt, bounds, plain, many, choices = _taken_apart(hints[name])
        if opt is None:
            continue
        default = fields[name].default if opt.default is None else opt.default
        default = None if default is NODEFAULT else default
        if opt.commas and default:
            default = tuple(f"{one:g}" if isinstance(one, float) else str(one) for one in default)
        if opt.joined:
            default = ()
        bounds |= opt.limits
        found.append(
            Option(
                field=name,
                opt=opt,
                type=plain,
                many=many or opt.joined,
                choices=opt.choices or choices,
                bounds=bounds,
                default=default,
                required=fields[name].required,
            )
        )
    return tuple(found)


def _taken_apart(
    hint: Any,
) -> tuple[Opt | None, dict[str, float], type, bool, tuple[str, ...]]:
    """Of an annotation: its Opt, its bounds, the type of a value, whether many, and its choices."""
    opt: Opt | None = None
    bounds: dict[str, float] = {}
    if get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        for one in more:
            if isinstance(one, Opt):
                opt = one
            elif isinstance(one, Meta):
                limits = {name: getattr(one, name) for name in ("ge", "gt", "le", "lt")}
                bounds |= {name: limit for name, limit in limits.items() if limit is not None}
    if get_origin(hint) in (Union, types.UnionType):
        parts = [part for part in get_args(hint) if part is not type(None)]
        # What can be a text is one on the command line.
        hint = str if str in parts else parts[0]
    inner_bounds: dict[str, float] = {}
    if get_origin(hint) is Annotated:
        _, inner_bounds, plain, many, choices = _taken_apart(hint)
        return opt, bounds | inner_bounds, plain, many, choices
    if get_origin(hint) is tuple:
        _, inner_bounds, plain, _, choices = _taken_apart(get_args(hint)[0])
        return opt, bounds | inner_bounds, plain, True, choices
    if get_origin(hint) is Literal:
        return opt, bounds, str, False, get_args(hint)
    if get_origin(hint) is dict:
        return opt, bounds, str, opt is not None and not opt.json, ()
    return opt, bounds, hint if hint in (bool, int, float) else str, False, ()
