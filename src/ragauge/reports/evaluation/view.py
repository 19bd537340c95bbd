"""What the templates of an evaluation's page ask for; each part is made when it is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from ragauge.contracts.evaluation import AnswerDetail, EvalReport, RankingDetail
from ragauge.contracts.report import Advice, Score
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope
from ragauge.reports.evaluation import rankings, story
from ragauge.reports.evaluation.errors import Browser, ToldError, kind_word
from ragauge.reports.evaluation.families import Family, families, remarks
from ragauge.reports.evaluation.matrix_drawing import Drawing, drawn
from ragauge.reports.evaluation.measures import Ranking, ranking
from ragauge.reports.evaluation.parts import answers_of, browser_of, matrices_of, tables_of
from ragauge.reports.evaluation.support_view import AnswersView
from ragauge.reports.evaluation.tables import Table
from ragauge.reports.page_view import PageView

ERRORS_SHOWN = 400
"""A page with more would be slow to scroll."""
ERRORS_OPEN = 60
"""Of these, what stands open: more would bury what comes below."""
TYPES_TOLD = 24
"""Types that errors can be filtered by, the most frequent; the style sheet knows so many."""
QUERIES_SHOWN = 500
COLUMN, HIGHEST, LEFT = 40, 120, 10
"""The histogram: the width of a column, the height of the highest, and where it begins."""


class Bar(Struct, frozen=True):
    """A column of the histogram."""

    x: int
    y: float
    height: float
    queries: int
    name: str


def bars(tenths: Sequence[rankings.Tenth]) -> list[Bar]:
    """The columns of a histogram, the highest as high as there is room."""
    most = max((one.queries for one in tenths), default=1)
    return [
        Bar(
            LEFT + COLUMN * place,
            round(HIGHEST - HIGHEST * one.queries / most, 1),
            round(HIGHEST * one.queries / most, 1),
            one.queries,
            one.name,
        )
        for place, one in enumerate(tenths)
    ]


class Pick(Struct, frozen=True):
    """What errors can be filtered by."""

    number: int
    name: str
    errors: int

    @property
    def kind_word(self) -> str:
        return kind_word(self.name)


class ShownError(Struct, frozen=True):
    one: ToldError
    kind: int
    type: int
    """The numbers of the picks that show it."""
    is_open: bool

    @property
    def kind_word(self) -> str:
        return kind_word(self.one.kind)


class View(PageView[EvalReport]):
    """An evaluation of a component, as the page tells it."""

    parts = (
        "verdict",
        "bounds",
        "eval_metrics",
        "eval_families",
        "eval_matrix",
        "eval_histogram",
        "eval_tables",
        "eval_strata",
        "eval_errors",
        "eval_answers",
        "eval_queries",
        "advice",
        "findings",
        "coverage",
    )
    shares: Sequence[tuple[str, str, int]] = ()

    def __init__(self, report: EvalReport) -> None:
        super().__init__(report)
        self.kind = f"eval {report.task}"
        self.names = story.metric_names(report)

    @property
    def headline(self) -> tuple[str, str]:
        return story.verdict_words(self.report)

    @property
    def beside(self) -> str:
        return story.about(self.report)

    @property
    def task(self) -> str:
        return self.report.task

    @property
    def bounds(self) -> list[tuple[Verdict, str, str, str, str]]:
        return envelope.bounds(self.report.gates, self.report.metrics, self.names)

    @property
    def interval_title(self) -> str:
        return envelope.interval_title(self.report.gates)

    @property
    def metrics_title(self) -> str:
        return story.metrics_title(self.report)

    @cached_property
    def metrics(self) -> list[tuple[str, str, Score]]:
        return [(self.names[id], "", score) for id, score in story.metrics_told(self.report)[0]]

    @cached_property
    def more_metrics(self) -> list[tuple[str, Score]]:
        return [(self.names[id], score) for id, score in story.metrics_told(self.report)[1]]

    @cached_property
    def families(self) -> list[Family]:
        """The metrics of answers; other tasks tell theirs one by one."""
        return families(self.report) if isinstance(self.report.detail, AnswerDetail) else []

    @property
    def remarks(self) -> list[str]:
        """What stands below the metrics of answers."""
        return remarks(self.report) if isinstance(self.report.detail, AnswerDetail) else []

    @property
    def strata(self) -> list[Table]:
        return story.strata(self.report)

    @cached_property
    def tables(self) -> list[Table]:
        return tables_of(self.report, drawn=True)

    @cached_property
    def matrices(self) -> list[Drawing]:
        return [drawn(matrix) for matrix in matrices_of(self.report)]

    @cached_property
    def histogram(self) -> list[Bar]:
        """The queries by the tenth their value lies in."""
        detail, by = self.report.detail, self._ranking
        return bars(rankings.tenths(detail, by) if isinstance(detail, RankingDetail) and by else [])

    @cached_property
    def _ranking(self) -> Ranking | None:
        return ranking(self.report)

    @property
    def ranked_by(self) -> str:
        """The metric whose values the histogram shows."""
        return self._ranking.title if self._ranking else ""

    @property
    def queries(self) -> Table | None:
        detail = self.report.detail
        if not isinstance(detail, RankingDetail) or not detail.queries:
            return None
        return rankings.queries(self.report, detail, QUERIES_SHOWN)

    @cached_property
    def browser(self) -> Browser | None:
        return browser_of(self.report)

    @cached_property
    def errors(self) -> list[ShownError]:
        """The errors on the page, with the picks that show them: some of each kind stand open."""
        kinds = {pick.name: pick.number for pick in self.kinds}
        types = {pick.name: pick.number for pick in self.types}
        some = self.browser.some(ERRORS_OPEN) if self.browser else []
        open = {kind: len(errors) for kind, errors in some}
        seen: Counter[str] = Counter()
        found = []
        for one in self._kept:
            seen[one.kind] += 1
            type = types.get(one.type, TYPES_TOLD)
            is_open = seen[one.kind] <= open.get(one.kind, 0)
            found.append(ShownError(one, kinds[one.kind], type, is_open))
        return found

    @property
    def open_errors(self) -> list[ShownError]:
        return [error for error in self.errors if error.is_open]

    @property
    def closed_errors(self) -> list[ShownError]:
        """Those that a reader asks for, by opening them or by a filter."""
        return [error for error in self.errors if not error.is_open]

    @cached_property
    def _kept(self) -> list[ToldError]:
        found = self.browser.some(ERRORS_SHOWN) if self.browser else []
        return [one for _, some in found for one in some]

    @cached_property
    def kinds(self) -> list[Pick]:
        counts = Counter(one.kind for one in self._kept)
        known = self.browser.kinds if self.browser else {}
        seen = [kind for kind in known if counts[kind]]
        return [Pick(number, kind, counts[kind]) for number, kind in enumerate(seen, 1)]

    @cached_property
    def types(self) -> list[Pick]:
        """The types of the errors, the most frequent first; the rarest share the last place."""
        counts = Counter(one.type for one in self._kept if one.type)
        ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        picks = [Pick(place, type, n) for place, (type, n) in enumerate(ranked, 1)]
        if len(picks) <= TYPES_TOLD:
            return picks
        rest = sum(pick.errors for pick in picks[TYPES_TOLD - 1 :])
        return [*picks[: TYPES_TOLD - 1], Pick(TYPES_TOLD, "all other types", rest)]

    @cached_property
    def answers(self) -> AnswersView:
        return AnswersView(answers_of(self.report))

    @property
    def advice(self) -> Sequence[Advice]:
        return self.report.advice

    @property
    def left_out(self) -> int:
        """Errors that are counted and not shown."""
        return self.browser.total - len(self._kept) if self.browser else 0

    @property
    def coverage(self) -> str:
        return story.coverage_words(self.report.coverage)
