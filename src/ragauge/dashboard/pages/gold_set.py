"""The page of one gold set: its strata, how runs cover them, and its questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from ragauge.contracts.history import ID_SHOWN, Run
from ragauge.contracts.paging import GoldSet, QuestionQuery
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import addresses, listed
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Page
from ragauge.dashboard.pages import gold_coverage, gold_questions
from ragauge.dashboard.rendering import render
from ragauge.dashboard.rightness import right_means
from ragauge.text.visible import visible

Sort = Literal["place", "qid", "question", "answerable"]

LAST = 10
"""Runs whose coverage is shown, and whose ends stand beside each question."""
SHORTEST = 4
"""Characters of a hash that name a set, where no other begins so."""
NEAR = 5
IN_FILE = "place"
SORTS: tuple[Sort, ...] = get_args(Sort)
ANSWERABLE = {"yes": True, "no": False}
FILTERS = ("q", "answerable", "stratum", "value", "run")


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The gold set of this hash; raises Missing where no run was measured with it."""
    pages = material.pages
    gold = _set(material, asked.needed("sha256"))
    query = _query(asked)
    runs = pages.runs_of_gold(gold.sha256, LAST)
    covered = gold_coverage.coverage(pages, runs)
    units_of = gold_questions.command_of_units(pages, gold.sha256, runs)
    strata = gold_coverage.strata(
        pages, gold.sha256, _chosen(asked, runs, covered), are_units=units_of is not None
    )
    found = pages.questions(gold.sha256, query)
    rows = gold_questions.question_rows(pages, links, found.rows, runs)
    body = render(
        "gold_set.html",
        gold=gold,
        units_of=units_of,
        each="unit" if units_of else "question",
        covered=covered,
        strata=strata,
        right_means=right_means(strata.run.record.command) if strata.run else "",
        rows=rows,
        runs=runs,
        listed=listed(found, asked, IN_FILE),
        asked={name: asked.text(name) for name in FILTERS},
        address=addresses(asked, links.gold(gold.sha256) or ""),
        links=links,
    )
    shown = gold.sha256[:ID_SHOWN]
    return Page(
        title=f"Gold set {shown}",
        here="gold",
        body=body,
        crumbs=(("Runs", links.runs()), ("Gold", links.gold()), (shown, None)),
        figures={
            "coverage": lambda: gold_coverage.coverage_figures(covered, gold.questions),
            "strata": strata.figures,
            "questions": lambda: gold_questions.figures(rows),
        },
    )


def _set(material: Material, named: str) -> GoldSet:
    """The set of this hash, or of the only hash that begins so; raises Missing with what is."""
    shown = visible(named[:64])
    beginning = named.strip().lower()
    if len(beginning) < SHORTEST:
        raise Missing(
            f'gold set "{shown}": a set is named by {SHORTEST} characters of its hash at least'
        )
    found = [one for one in material.pages.gold_sets() if one.sha256.startswith(beginning)]
    if len(found) == 1:
        return found[0]
    if found:
        hashes = ", ".join(one.sha256[:ID_SHOWN] for one in found[:NEAR])
        more = " and more" if len(found) > NEAR else ""
        raise Missing(
            f'gold set "{shown}": is the beginning of several hashes: {hashes}{more}; write more '
            "of it"
        )
    raise Missing(
        f'gold set "{shown}": no run of this history was measured with a set whose hash begins so; '
        "its runs may have been removed"
    )


def _chosen(
    asked: Asked, runs: Sequence[Run], covered: Sequence[gold_coverage.Covered]
) -> Run | None:
    """The run by which strata are told: the one the address names, else the newest that tells."""
    wanted = asked.optional("run")
    if wanted is None:
        return gold_coverage.telling(covered)
    for run in runs:
        if run.id == wanted:
            return run
    raise Missing(f"run {wanted[:ID_SHOWN]}: is none of the last {LAST} measured with this set")


def _query(asked: Asked) -> QuestionQuery:
    wanted, down = asked.order(IN_FILE)
    sort = next((one for one in SORTS if one == wanted), None)
    if sort is None:
        raise BadAddress(f'sort: "{wanted[:40]}" is none of {", ".join(SORTS)}')
    answerable = asked.choice("answerable", tuple(ANSWERABLE))
    return QuestionQuery(
        words=asked.text("q"),
        answerable=ANSWERABLE[answerable] if answerable else None,
        stratum=asked.exact("stratum") or None,
        value=asked.exact("value") or None,
        sort=sort,
        descending=down,
        start=asked.start,
        limit=asked.limit,
    )
