"""What `ragauge gold lint` says."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.gold_report import AnchorChunks, LintReport
from ragauge.reports.gold.page import finding_lines, first, table, told
from ragauge.reports.numbers import ABSENT, counted, n_of

VALUES_SHOWN = 5
ANCHORS_SHOWN = 20


def lines(report: LintReport) -> Iterator[str]:
    held = report.summary
    yield (
        f"{counted(report.coverage['gold'], 'question')}: "
        f"{held.answerable:,} answerable, {held.unanswerable:,} unanswerable"
    )
    yield (
        f"with gold citations {held.with_citations:,}, with paraphrases "
        f"{held.with_paraphrases:,}, with constraints {held.with_constraints:,}"
    )
    for key, values in held.strata.items():
        yield told(f"by {key}: {_commonest(values)}")
    if report.locks:
        yield ""
        yield from table([(qid, lock) for qid, lock in report.locks.items()], left=2)
    if report.anchors:
        yield ""
        yield from _anchors(report.anchors)
    yield from finding_lines(report)
    yield ""
    yield _advice(report)


def _anchors(anchors: tuple[AnchorChunks, ...]) -> Iterator[str]:
    rows = [("question", "span", "characters", "chunks", "inside")]
    for one in anchors[:ANCHORS_SHOWN]:
        ids = ABSENT if one.chunks is None else first(one.chunks, VALUES_SHOWN) or "none"
        cut = ABSENT if one.cut is None else "cut by the window" if one.cut else "in one window"
        inside = cut if one.chunks is None else one.inside or "no single chunk"
        rows.append((one.qid, one.span, f"{one.end - one.start:,}", ids, inside))
    yield from table(rows, left=5)
    if len(anchors) > ANCHORS_SHOWN:
        yield f"  and {len(anchors) - ANCHORS_SHOWN:,} more; see --format json"
    known = [one for one in anchors if one.chunks is not None]
    if known:
        mean = sum(len(one.chunks or ()) for one in known) / len(known)
        whole = sum(one.inside is not None for one in known)
        yield f"{mean:.2f} chunks per anchor; {n_of(whole, len(known))} are inside one chunk"
    windows = [one for one in anchors if one.cut is not None]
    if windows:
        times = n_of(sum(one.cut is True for one in windows), len(windows))
        yield f"windows from the beginning of the document cut {times} anchors"


def _commonest(values: dict[str, int]) -> str:
    ranked = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
    return first((f"{value} {count:,}" for value, count in ranked), VALUES_SHOWN)


def _advice(report: LintReport) -> str:
    warnings = counted(report.warnings, "warning")
    if report.errors:
        errors = counted(report.errors, "error")
        beside = f"; {warnings} can wait" if report.warnings else ""
        return f"Not ready: mend {errors} before scoring with this set{beside}."
    if not report.warnings:
        return "Ready: nothing to mend."
    if report.passed:
        return f"Ready: no errors. Have a look at {warnings}; --strict would fail here."
    return f"Not ready: mend {warnings}, which --strict does not let pass."
