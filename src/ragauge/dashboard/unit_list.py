"""The units of a run: which of them an address means, the ways from one, whether it is correct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from msgspec import Struct

from ragauge.contracts.citation import Offsets
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.paging import Rightness, UnitQuery
from ragauge.dashboard.page import DocumentPlace, Field, Links
from ragauge.dashboard.query import BadAddress, Query
from ragauge.reports import document as doc

LIST_FIELDS = ("q", "label", "right", "stratum", "sort")
"""Of an address: the words that are looked for, what is filtered by, and the order."""
RIGHTNESS: tuple[Rightness, ...] = get_args(Rightness)


def unit_query(query: Query, default: str = "place") -> UnitQuery:
    """The units that the fields ask for, from the row at `start`; `stratum` is `name=value`."""
    sort, down = query.order(default)
    given = query.exact("stratum")
    stratum, equals, value = given.partition("=")
    if given and not equals:
        raise BadAddress(f'stratum: "{given[:40]}" is not of the form name=value')
    return UnitQuery(
        words=query.text("q"),
        label=query.optional("label"),
        right=query.choice("right", RIGHTNESS),
        stratum=stratum if given else None,
        value=value if given else None,
        sort=sort,
        descending=down,
        start=query.start,
        limit=query.limit,
    )


def list_fields(query: Query) -> dict[str, str]:
    """The fields of a list that links to its units keep, for going to the next one."""
    return {name: given for name in LIST_FIELDS if (given := query.exact(name))}


QUESTIONS = "questions"
"""The name of the list of a run's units in downloads and in addresses, for every kind of run."""
UNITS = {"ner": "Documents", "types": "Items", "linking": "Mentions", "all": "Samples"}
"""The names of an evaluation's units; those of other runs are questions."""
SHORT = 60
"""Characters of an id in the breadcrumbs of a page: a longer one is cut."""


def units_title(run: Run) -> str:
    """The title of the tab that lists the units of a run."""
    return UNITS.get(run.record.command.removeprefix("eval "), "Questions")


def units_tab(run: Run) -> str:
    """The address of that tab."""
    return units_title(run).lower()


class QuestionLinks(Struct, frozen=True):
    """The links of a question's page, with the fields of the list that the reader came from."""

    run: Run
    unit: str
    links: Links
    fields: Mapping[str, Field]

    @property
    def back(self) -> str | None:
        return self.links.run(self.run.id, units_tab(self.run), **self.fields)

    def in_run(self, run: str) -> str | None:
        return self.links.question(run, self.unit)

    def answer(self, run_id: str | None, place: int) -> str | None:
        """This page with another of its answers shown in full; `place` is from 0."""
        chosen: dict[str, Field] = {"run_id": run_id} if run_id else {"answer": place + 1}
        return self._changed(**chosen)

    def compared_with(self, run: str) -> str | None:
        """This page compared with the answer of another run."""
        return self._changed(**{"with": run})

    def document(self, doc_id: str | None, rev: str | None, offsets: Offsets | None) -> str | None:
        """A document at a span; offsets in tokens are not a place in a text."""
        if not doc_id:
            return None
        in_text = offsets if offsets and offsets.unit == "char" else None
        start, end = (in_text.start, in_text.end) if in_text else (None, None)
        place = DocumentPlace(doc_id, rev or "", start, end, self.unit)
        return self.links.document(self.run.id, place)

    def _changed(self, **fields: Field) -> str | None:
        """The changed page; None if there is only one page for each unit."""
        changed = self.links.question(self.run.id, self.unit, **{**self.fields, **fields})
        plain = self.links.question(self.run.id, self.unit, **self.fields)
        return None if changed == plain else changed


MEANS = {
    "score": "cites a gold id, or refuses where it should",
    "stability": "stable and correct",
    "audit": "no code",
    "trace-eval": "its runs agree, without a code, and each answer cites the gold",
    "eval ner": "every entity found as it is, and no other",
    "eval types": "the type is the gold type, or one that is also accepted",
    "eval linking": "every mention linked correctly, and no other",
    "eval retrieval": "a relevant document among the first 10",
    "eval qa": "the answer holds a reference answer; where there is none, it is grounded",
    "eval answers": "the answer is grounded; if not measured, it contains a reference answer",
    "eval all": "without an error, as its own task counts them",
}
DOUBT = "cites the gold, but does not contain a gold phrase"
"""A remark on a unit that counts as correct though its claim is not what the gold expects."""

CONTAINMENT, STRICT = "quality.claim_containment", "quality.precision_strict"


def correct_means(command: str) -> str:
    """What it means that a unit of this command's runs is correct.

    >>> correct_means("score")
    'cites a gold id, or refuses where it should'
    """
    return MEANS.get(command, "as the run itself defines it")


def doubt(row: UnitRow) -> str:
    """Why a unit that counts as correct may not be; empty if there is no doubt.

    Scoring decides by the citations whether an answer is correct. Whether it also says what gold
    expects is a separate metric.
    """
    contained = row.values.get(CONTAINMENT, row.values.get(STRICT))
    return DOUBT if row.right and contained == 0 else ""


def outcome(row: UnitRow) -> tuple[str, str, doc.Tone]:
    """The label of a unit and whether it is correct, in words; a badge and a tone for it."""
    label = "" if (row.label or "").lower() in ("right", "wrong") else row.label
    word = {True: "correct", False: "incorrect", None: "not scored"}[row.right]
    badge: tuple[str, doc.Tone] = ("fail", "bad") if row.right is False else ("unchanged", "soft")
    badge = ("pass", "good") if row.right and not doubt(row) else badge
    return doc.listed(label, word, doubt(row)), *badge
