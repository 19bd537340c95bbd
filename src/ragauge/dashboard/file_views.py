"""A view of the dashboard made ready for the one file, where it stands among others.

Its ids get a beginning of their own, and its headings step down. What needs a server goes: forms,
pages of a table, links that lead nowhere in the file. Tables that a server would sort are left to
the script.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape
from typing import TYPE_CHECKING, Protocol

from ragauge.dashboard.file_links import AT, FIGURES, LARGEST_FIGURES
from ragauge.dashboard.page import FORMS, Figures, Page
from ragauge.reports.document import Place

if TYPE_CHECKING:
    from markupsafe import Markup

SERVED: dict[str, tuple[str, ...]] = {"form": (), "nav": ("pager", "tabs", "crumbs")}
"""Elements that only a server makes sense of, by name and class; a form of any class."""
DOWNLOADS = ("figures", "downloads")
NAMING = ("for", "list", "headers", "aria-labelledby", "aria-describedby", "aria-controls")
"""Attributes that hold ids."""
TOKEN = re.compile(
    r"<script\b.*?</script>"
    r"|<(?P<end>/?)(?P<name>[a-zA-Z][a-zA-Z0-9]*)(?P<attributes>(?:[^<>\"]|\"[^\"]*\")*)>"
    r"|[^<]+",
    re.DOTALL,
)
"""A script, a tag, or text. Views are made by our templates: foreign text has no `<` and no quote,
and attributes stand in double quotes."""
ATTRIBUTE = re.compile(r'([^\s=/">]+)(?:="([^"]*)")?')
ID = re.compile(r'<[^<>]*?\sid="([^"]*)"')
HEADING = re.compile(r"h[1-6]")
PLACE = re.compile(rf"#{re.escape(AT)}[a-z0-9_.-]+")
DRAWN_BY = re.compile(r"url\(#([^)]*)\)")


class Viewed(Protocol):
    """A view: what it shows, and the figures behind it."""

    @property
    def body(self) -> Markup: ...

    @property
    def data(self) -> Mapping[str, Callable[[], Figures]]: ...


Attributes = list[tuple[str, str | None]]


def placed(
    view: Viewed, prefix: str, step: int = 1, places: Mapping[str, str] | None = None
) -> Markup:
    """The body of a view for a place in the file.

    `step` is how far its headings step down. Ids get the prefix, but for those that `places` has a
    name for.
    """
    from markupsafe import Markup

    if isinstance(view, Page) and view.drawn is None:
        return view.html(Place(prefix, step, served=False, names=places or {}))
    body = str(view.body)
    ids = {id: f"{prefix}-{id}" for id in ids_in(body)} | dict(places or {})
    writer = _Writer(ids, step, lambda name: figures_address(view, name))
    read = 0
    for token in TOKEN.finditer(body):
        writer.write(token)
        read += len(token[0])
    if read != len(body):
        raise ValueError(f"{prefix}: the view has a < that begins no tag")
    return Markup(writer.text())  # escaped as it was made; what is changed is escaped again


def ids_in(body: str) -> set[str]:
    """The ids of a view."""
    return {unescape(found[1]) for found in ID.finditer(body)}


def figures_address(view: Viewed, name: str) -> str | None:
    """The figures of a view as an address that holds them; None where they are too many."""
    stem, _, form = name.rpartition(".")
    if stem not in view.data:
        return None
    content = view.data[stem]().form(form)
    if len(content) > LARGEST_FIGURES:
        return None
    kind = FORMS[form].replace(" ", "")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


class _Writer:
    """Writes a view again, token by token; what need not change stays letter by letter."""

    def __init__(
        self, ids: Mapping[str, str], step: int, figures: Callable[[str], str | None]
    ) -> None:
        """`ids` has the new name of each."""
        self._ids, self._step, self._figures = ids, step, figures
        self._written: list[str] = []
        self._dropped: tuple[str, int] | None = None
        """The element that is being left out, and how deep in its like we are."""
        self._unlinked = False
        """Inside a link that became text."""
        self._downloads: tuple[int, bool] | None = None
        """Inside a list of downloads: where it began, and whether one of them is there."""

    def text(self) -> str:
        return "".join(self._written)

    def write(self, token: re.Match[str]) -> None:
        tag = (token["name"] or "").lower()
        if self._dropped:
            self._pass_over(tag, ends=bool(token["end"]))
        elif not tag:
            self._written.append(token[0])
        elif token["end"]:
            self._close(tag)
        else:
            self._open(tag, token[0], _attributes(token["attributes"]))

    def _pass_over(self, tag: str, *, ends: bool) -> None:
        name, depth = self._dropped or ("", 0)
        if tag == name:
            depth += -1 if ends else 1
        self._dropped = (name, depth) if depth else None

    def _open(self, tag: str, raw: str, attributes: Attributes) -> None:
        if tag in SERVED and _classed(attributes, SERVED[tag]):
            self._dropped = (tag, 1)
            return
        if tag == "p" and _classed(attributes, DOWNLOADS):
            self._downloads = (len(self._written), False)
        if tag == "a":
            self._link(attributes)
            return
        changed, name = self._changed(tag, attributes), self._stepped(tag)
        same = name == tag and changed == attributes
        self._written.append(raw if same else _tag(name, changed, closed=raw.endswith("/>")))

    def _close(self, tag: str) -> None:
        if tag == "a" and self._unlinked:
            self._unlinked = False
            tag = "span"
        self._written.append(f"</{self._stepped(tag)}>")
        if tag == "p" and self._downloads:
            begun, is_one_there = self._downloads
            self._downloads = None
            if not is_one_there:
                del self._written[begun:]

    def _link(self, attributes: Attributes) -> None:
        href = self._target(dict(attributes).get("href") or "")
        kept = [one for one in self._changed("a", attributes) if one[0] not in ("href", "rel")]
        if href is None:
            self._unlinked = True
            kept = [one for one in kept if one[0] not in ("download", "aria-current")]
            self._written.append(_tag("span", kept))
            return
        if self._downloads and href.startswith("data:"):
            self._downloads = (self._downloads[0], True)
        self._written.append(_tag("a", [("href", href), *kept]))

    def _target(self, href: str) -> str | None:
        """Where a link leads in the file; None where nowhere."""
        if href.startswith(FIGURES):
            return self._figures(href.removeprefix(FIGURES))
        if not href.startswith("#"):
            return None
        if href[1:] in self._ids:
            return f"#{self._ids[href[1:]]}"
        return href if PLACE.fullmatch(href) else None

    def _changed(self, tag: str, attributes: Attributes) -> Attributes:
        return [
            (name, self._value(tag, name, value))
            for name, value in attributes
            if not (name.startswith("hx-") or name == "data-paged")
        ]

    def _value(self, tag: str, name: str, value: str | None) -> str | None:
        if not value:
            return value
        if name == "id":
            return self._ids[value]
        if name in NAMING:
            return " ".join(self._ids.get(id, id) for id in value.split())
        if tag == "use" and name == "href" and value[1:] in self._ids:
            return f"#{self._ids[value[1:]]}"
        return DRAWN_BY.sub(lambda found: f"url(#{self._ids.get(found[1], '')})", value)

    def _stepped(self, tag: str) -> str:
        return f"h{min(6, int(tag[1]) + self._step)}" if HEADING.fullmatch(tag) else tag


def _attributes(source: str) -> Attributes:
    """The attributes of a tag, as a browser reads them.

    >>> _attributes(' class="a&amp;b" hidden/')
    [('class', 'a&b'), ('hidden', None)]
    """
    found = ATTRIBUTE.finditer(source)
    return [(one[1], None if one[2] is None else unescape(one[2])) for one in found]


def _classed(attributes: Attributes, classes: Sequence[str]) -> bool:
    """Whether it has one of the classes; any element has where none are given."""
    given = (dict(attributes).get("class") or "").split()
    return not classes or not set(classes).isdisjoint(given)


def _tag(name: str, attributes: Attributes, *, closed: bool = False) -> str:
    from markupsafe import escape

    told = "".join(
        f" {key}" if value is None else f' {key}="{escape(value)}"' for key, value in attributes
    )
    return f"<{name}{told}{'/' if closed else ''}>"
