"""The report as a pull request comment, in GitHub's Markdown.

Foreign text stands in code spans: there GitHub makes no mention, link, reference, emoji or HTML
of it. Only the advice, whose words are ours but for the names of strata, is escaped as prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ragauge.contracts.finding import Finding
from ragauge.contracts.score import Advice, Change, Comparison, QuestionRow, Score, ScoreReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import numbers, story
from ragauge.reports.foreign import shown

QUESTIONS_SHOWN = 25
LONGEST = 200
LONGEST_ID = 80
"""GitHub refuses a comment of more than 65,536 characters: these keep the longest one below."""
CHANGES_SHOWN = 20
VALUES_SHOWN = 8

_MARKS = re.compile(r"([\\`*_\[\]#~$])")
_LIST_MARK = re.compile(r"^(\d*)([-+.)])")
# GitHub links these in what Markdown made, where no backslash helps but a zero-width blank does.
_LINKED = re.compile(r"(?<=[@#])(?=\S)|(?=://)|(?<=www)(?=\.)|(?<=GH-)(?=\d)", re.IGNORECASE)
_BACKTICKS = re.compile("`+")


def render(report: ScoreReport) -> str:
    names = story.metric_names(report)
    blocks = [
        *_verdict(report),
        *_gates(report, names),
        *_other_metrics(report, names),
        *_labels(report),
        *_strata(report, names),
        *_advice(report.advice),
        *_questions(report),
        *(_baseline(report, report.baseline, names) if report.baseline else ()),
        *_findings(report),
        f"Coverage: {story.coverage_words(report.coverage)}.",
    ]
    return "\n\n".join(blocks) + "\n"


def code(text: str | None, most: int = LONGEST) -> str:
    """Foreign text as a code span whose fence it cannot close; a dash where there is none.

    >>> code("a `b` @team")
    '``a `b` @team``'
    """
    flat = shown(text or "", most)
    if not flat:
        return numbers.ABSENT
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(flat)), default=0) + 1)
    pad = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def prose(text: str) -> str:
    """Words with everything escaped that Markdown, HTML or GitHub would read as more.

    >>> prose("<b>*a|b*</b>")
    '&lt;b&gt;\\\\*a&#124;b\\\\*&lt;/b&gt;'
    """
    parted = _LINKED.sub("\u200b", shown(text))
    escaped = parted.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    marked = _MARKS.sub(r"\\\1", escaped).replace("|", "&#124;")
    return _LIST_MARK.sub(r"\1\\\2", marked)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """A table; a pipe in a cell is escaped, which GitHub undoes before it reads the code span."""
    right = frozenset(right)
    rule = ["--:" if place in right else "---" for place in range(len(heads))]
    return "\n".join(_row(row) for row in (heads, rule, *rows))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _verdict(report: ScoreReport) -> Iterator[str]:
    word, words = story.verdict_words(report)
    yield f"## Ragauge: {word}"
    yield f"{words[0].upper()}{words[1:]}."


def _gates(report: ScoreReport, names: dict[str, str]) -> Iterator[str]:
    if report.gates:
        heads = (
            "gate",
            "value",
            story.interval_title(report),
            "scored",
            "bound",
            "verdict",
            "note",
        )
        rows = [_gate(report, gate, names) for gate in report.gates]
        yield _without_empty(heads, rows, right={1, 3})


def _gate(report: ScoreReport, gate: Verdict, names: dict[str, str]) -> list[str]:
    word, note = story.gate_word(gate), story.gate_note(gate)
    return [
        code(names[gate.metric]),
        numbers.value_beside(gate.value, gate.bound),
        numbers.interval(gate.ci),
        numbers.n_of(gate.n, story.scored_of(report, gate)),
        code(numbers.bound(gate)),
        word if gate.holds else f"**{word}**",
        code(note) if note else "",
    ]


def _without_empty(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[int] = ()
) -> str:
    """A table whose last column is left out where no row has anything in it."""
    if any(row[-1] for row in rows):
        return table(heads, rows, right)
    return table(heads[:-1], [row[:-1] for row in rows], right)


def _other_metrics(report: ScoreReport, names: dict[str, str]) -> Iterator[str]:
    others = story.other_metrics(report)
    if others:
        yield "### Other metrics" if report.gates else "### Metrics"
        rows = [_metric(names[id], score) for id, score in others]
        heads = ("metric", "value", "95 % interval", "scored", "note")
        yield _without_empty(heads, rows, right={1, 3})


def _metric(name: str, score: Score) -> list[str]:
    return [
        code(name),
        numbers.value(score.value),
        numbers.interval(score.ci),
        numbers.n_of(score.n, score.of),
        code(score.reason) if score.reason else "",
    ]


def _labels(report: ScoreReport) -> Iterator[str]:
    labels = story.labels_in_order(report)
    if labels:
        total = sum(times for _, times in labels)
        rows = [(code(lb), numbers.count(n), numbers.share(n, total)) for lb, n in labels]
        yield "### Labels"
        yield table(("label", "questions", "share"), rows, right={1, 2})


def _strata(report: ScoreReport, names: dict[str, str]) -> Iterator[str]:
    for one in story.slices(report):
        (low_name, low), (high_name, high) = one.low, one.high
        yield f"### By {prose(one.stratum)}"
        yield (
            f"{code(names[one.metric])} from {numbers.value(low)} ({code(low_name)})"
            f" to {numbers.value(high)} ({code(high_name)})."
        )
        told = one.told[:VALUES_SHOWN]
        ids = list(told[0][2])
        rows = [
            [code(name), numbers.count(n), *(_sliced(scores.get(id)) for id in ids)]
            for name, n, scores in told
        ]
        heads = ["value", "n", *(code(names[id]) for id in ids)]
        yield table(heads, rows, right=range(1, len(heads)))


def _sliced(score: Score | None) -> str:
    if score is None or score.value is None:
        return numbers.ABSENT
    few = f" (n {score.n})" if score.n < story.FEW else ""
    return numbers.value(score.value) + few


def _advice(advice: Sequence[Advice]) -> Iterator[str]:
    if advice:
        yield "### Advice"
        yield "\n".join(_one_advice(number, one) for number, one in enumerate(advice, 1))


def _one_advice(number: int, one: Advice) -> str:
    lines = [f"{number}. **{prose(one.title)}**"]
    points = [prose(one.evidence), f"Confirm: {prose(one.confirm)}", f"Change: {prose(one.action)}"]
    if one.questions:
        points.append(f"See: {' '.join(code(qid, LONGEST_ID) for qid in one.questions)}")
    indent = " " * len(f"{number}. ")
    return "\n".join(lines + [f"{indent}- {point}" for point in points])


def _questions(report: ScoreReport) -> Iterator[str]:
    everyone = story.wrong_questions(report)
    if not everyone:
        return
    wrong = story.wrong_questions(report, QUESTIONS_SHOWN)
    heads = ("question", "label", "triage", "where", "claim", "cited")
    title = f"{numbers.counted(len(everyone), 'question')} went wrong"
    if len(wrong) < len(everyone):
        title += f", {len(wrong)} shown"
    yield f"<details>\n<summary>{title}</summary>"
    yield table(heads, [_question(row) for row in wrong])
    yield "</details>"


def _question(row: QuestionRow) -> list[str]:
    return [
        code(row.qid),
        code(row.label),
        code(row.triage),
        code(row.where),
        code(row.claim or row.reason),
        " ".join(code(id, LONGEST_ID) for id in row.cited or ()) or numbers.ABSENT,
    ]


def _baseline(report: ScoreReport, comparison: Comparison, names: dict[str, str]) -> Iterator[str]:
    yield f"### Against {code(comparison.baseline)}"
    yield f"{story.baseline_words(report, comparison)}."
    heads = ("metric", "was", "now", "change", "95 % interval", "", "note")
    rows = [_change(id, names[id], change) for id, change in comparison.metrics.items()]
    if rows:
        yield _without_empty(heads, rows, right={1, 2, 3})
    changed = story.changed_labels(comparison)
    if changed:
        shown_rows = [
            (code(one.qid), code(one.was), code(one.now)) for one in changed[:CHANGES_SHOWN]
        ]
        more = len(changed) - len(shown_rows)
        tail = f", {len(shown_rows)} shown" if more else ""
        yield f"{numbers.counted(len(changed), 'question')} changed label{tail}:"
        yield table(("question", "was", "now"), shown_rows)


def _change(id: str, name: str, change: Change) -> list[str]:
    return [
        code(name),
        numbers.value(change.baseline),
        numbers.value(change.value),
        numbers.signed(change.change),
        numbers.signed_interval(change.ci),
        story.direction(id, change),
        code(change.reason) if change.reason else "",
    ]


def _findings(report: ScoreReport) -> Iterator[str]:
    found = story.findings_by_code(report)
    if found:
        yield "### Findings"
        rows = [
            [code(name), numbers.count(times), _places(places)] for name, times, places in found
        ]
        yield table(("finding", "times", "first places"), rows, right={1})


def _places(places: Sequence[Finding]) -> str:
    return "; ".join(code(story.finding_text(place)) for place in places)
