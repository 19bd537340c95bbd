"""The evaluation of finished answers: how far each is supported, right and to the point."""

from __future__ import annotations

from ragauge.contracts.opt import takes
from ragauge.contracts.options import AnswerOptions
from ragauge.contracts.report import Findings
from ragauge.ingest.answers import read_answers
from ragauge.ingest.fields import Columns
from ragauge.ingest.records import Source
from ragauge.runners.answers.evaluation import outcome_of_answers
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.options import check_options
from ragauge.runners.answers.scores import AnswersOutcome
from ragauge.runners.components.options import refuse_bad


@takes(AnswerOptions, "eval answers")
def evaluate_answers(
    rows: Source,
    *,
    asking: Asking | None = None,
    columns: Columns | None = None,
    options: AnswerOptions,
) -> AnswersOutcome:
    """The report on answers: groundedness, numbers, overlap with references, and judged metrics.

    `rows` is a file, records or a data frame, in our shape, ragas's, deepeval's or LangChain's;
    `columns` says for fields where it has them.
    The outcome's `scores` has a record for each row, in the order of the rows; one that is rejected
    has no value, and the reason.
    """
    check_options("answers", options)
    problems: list[str] = []
    findings = Findings()
    answered = read_answers(rows, problems, findings, options.input_format, columns=columns)
    refuse_bad(problems, answered.records, options)
    return outcome_of_answers(
        "answers",
        answered.every(),
        options,
        asking or Asking(),
        findings,
        coverage={"answers": len(answered.rows), "duplicates": answered.duplicates},
        names={
            row.id: id
            for row, id in zip(answered.rows, answered.given, strict=True)
            if id is not None
        },
        problems=problems,
        unread=answered.unread,
    )
