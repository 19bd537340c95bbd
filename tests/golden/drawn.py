"""Reports made by hand, with something in every section, in every form that people read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ragauge.contracts.kinds import KINDS
from ragauge.reports.rendering import render
from tests.reports import sweeps, test_diagnosis
from tests.reports.audit import made as audits
from tests.reports.comparison.comparisons import comparison, line
from tests.reports.conftest import failing, report
from tests.reports.evaluation import answered, reports
from tests.reports.trace_eval import made as traced

REPORTS: dict[str, Callable[[], Any]] = {
    "score": partial(failing, "Dutch words"),
    "score-passing": report,
    "stability": sweeps.telling,
    "stability-steady": sweeps.steady,
    "stability-reference": sweeps.reference,
    "stability-repeated": sweeps.repeated,
    "stability-unanswered": sweeps.unanswered,
    "audit": audits.telling,
    "audit-passing": audits.passing,
    "trace-eval": traced.telling,
    "comparison": comparison,
    "history": line,
    "diagnosis": test_diagnosis.telling,
    "diagnosis-chinese": partial(test_diagnosis.telling, language="zh"),
    "diagnosis-fine": test_diagnosis.fine,
    "diagnosis-unjudged": test_diagnosis.unjudged,
    **{f"eval-{task}": make for task, make in reports.MAKERS.items()},
    "eval-nothing": partial(reports.nothing, "ner"),
    "eval-answers": answered.answered,
    "eval-no-answers": answered.nothing_answered,
    "eval-all": reports.everything,
}
ENDINGS = {"text": "txt", "markdown": "md", "junit": "xml"}


def drawn() -> Iterator[tuple[str, Callable[[Path], str]]]:
    """Each golden by its name; JSON is what they are made of, and left out."""
    for name, make in REPORTS.items():
        for form in KINDS[type(make())].forms:
            if form != "json":
                yield f"drawn-{name}.{ENDINGS.get(form, form)}", partial(_drawn, make, form)
        yield f"drawn-{name}-narrow.txt", partial(_drawn, make, "text", width=60)


def _drawn(make: Callable[[], Any], form: str, folder: Path, **how: Any) -> str:
    return render(make(), form, **how)
