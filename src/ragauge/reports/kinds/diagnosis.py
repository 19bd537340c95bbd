"""The report of `ragauge diagnose`: which scores are low, what causes it, and what to change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from msgspec import Struct

from ragauge.contracts.claims import AnswerAddress, ReferenceAddress
from ragauge.contracts.diagnosis import (
    Cause,
    DiagnosisReport,
    Evidence,
    MetricDiagnosis,
    Replay,
    Sample,
    Severity,
    Threshold,
)
from ragauge.diagnosis.words import words
from ragauge.reports import document as doc
from ragauge.reports import envelope, numbers
from ragauge.reports.document import (
    Bar,
    Block,
    Cell,
    Document,
    Facts,
    Item,
    Items,
    Only,
    Points,
    Row,
    Section,
    Span,
    Table,
    Text,
    Tone,
    names,
    theirs,
)
from ragauge.reports.foreign import cut
from ragauge.reports.formats import github, junit
from ragauge.reports.numbers import count
from ragauge.reports.words import Wording, wording

LOW: tuple[Severity, ...] = ("critical", "warning")
TONES: dict[str, Tone] = {
    "critical": "bad",
    "warning": "warm",
    "none": "good",
    "not_evaluable": "bad",
    "no_rule": "dim",
    "likely": "bad",
    "possible": "warm",
    "untested": "dim",
    "grounded": "good",
    "self_knowledge": "plain",
    "misled_by_relevant": "warm",
    "misled_by_noise": "warm",
    "invented": "bad",
    "said": "good",
    "unused": "warm",
    "retriever_missed": "bad",
}
"""Of severities, standings and addresses of claims."""
UNJUDGED = "unjudged"
NAMED = 3
"""Low metrics in the verdict."""
BRIEF_CAUSES, BRIEF_METRICS = 3, 5
"""What a terminal shows unless `--full` is given."""
OPENED, CAUSES_SHOWN, SAMPLES_SHOWN, REPAIRED_SHOWN, CONTEXTS_SHOWN = 3, 50, 30, 10, 3
LONGEST, LONGEST_CONTEXT = 4_000, 120
"""Characters of a text on a page, and of a passage elsewhere; the JSON report has all of it."""
LEAST_P = 0.001
EXACT_BELOW = 10
"""From here on, tenths of an answer say nothing."""
COVERED = ("samples", "traces", "gold", "traced", "scored", "claims")
"""What comes first in the coverage; the rest by name."""
CSV_COLUMNS = (
    *("metric", "severity", "id", "value", "symptoms", "causes", "question", "answer"),
    *("reference", "retrieved_ids", "contexts", "where"),
)
"""Named as in the JSON report, in either language: a program may read them."""
_NUMBERS = re.compile(r"\d[\d,]*")


def document(report: DiagnosisReport) -> Document:
    say = wording(report.language)
    return _titled(report, list(_blocks(report, say)))


def brief(report: DiagnosisReport) -> Document:
    """What fits on a screen: the verdict, the top causes, the low metrics, and how to see more."""
    say = wording(report.language)
    found, ranked = lead(report), kept(report)
    likely = [one for one in ranked if one.standing == "likely"]
    first = likely[:BRIEF_CAUSES] or ([found.cause] if found.cause else [])
    also = [one.title for one in ranked if one.standing != "untested" and one not in first]
    severe = [one for one in report.diagnoses if one.severity in (*LOW, "not_evaluable")]
    causes = [block for one in first for block in _in_short(one, say)]
    if also and first:
        label = f"{say.diagnosis.also_possible}{say.signs.colon}"
        causes.append(Text([Span(label, "dim"), Span(say.told(also))]))
    blocks: list[Block] = [
        _verdict(report),
        Section(title=found.heading, blocks=causes or [Text(found.why)]),
    ]
    if severe:
        heads = say.diagnosis.heads
        blocks.append(
            Table(
                title=heads.metrics,
                columns=doc.columns(
                    *(say.metric, heads.severity, say.value, heads.beyond),
                    right=(heads.beyond,),
                ),
                rows=[Row(_brief_metric(one, say)) for one in severe],
                shown=BRIEF_METRICS,
                everything="--full",
            )
        )
    findings = say.listed(f"{code} {count(n)}" for code, n in sorted(report.finding_counts.items()))
    found_words = f"{say.findings.lower()}{say.signs.colon}{findings}" if findings else ""
    blocks.append(doc.Coverage(say.told((coverage_words(report), found_words))))
    more = say.diagnosis.see_full.format(told=_left_out(report, say))
    return _titled(report, [*blocks, doc.Steps([more, say.diagnosis.see_page])])


def _brief_metric(one: MetricDiagnosis, say: Wording) -> tuple[Cell, ...]:
    beyond = numbers.share(one.beyond_warning, one.n) if one.limits and one.n else numbers.ABSENT
    return (
        names(one.metric, "strong"),
        Cell(say.diagnosis.severities[one.severity], one.severity, TONES[one.severity]),
        Cell(held_against(one), one.value),
        Cell(beyond),
    )


def _left_out(report: DiagnosisReport, say: Wording) -> str:
    """What there is besides: `metrics 21, causes 4, ruled out 11`."""
    heads, standings = say.diagnosis.heads, Counter(one.standing for one in report.causes)
    there = {
        heads.metrics: len(report.diagnoses),
        heads.causes: standings["likely"] + standings["possible"],
        heads.untested: standings["untested"],
        heads.ruled_out: standings["struck_out"],
        heads.worst: len(_low_samples(report)),
    }
    return say.listed(f"{name.lower()} {count(n)}" for name, n in there.items() if n)


def _titled(report: DiagnosisReport, blocks: Sequence[Block]) -> Document:
    say = wording(report.language)
    kind, word = say.diagnosis.kind, verdict_words(report)[0]
    return Document(kind, blocks, report.language, f"Ragauge {kind}{say.signs.colon}{word}")


def table(report: DiagnosisReport) -> tuple[tuple[str, ...], Iterator[list[object]]]:
    """One row a sample and metric."""
    return CSV_COLUMNS, (
        [
            one.metric,
            one.severity,
            sample.id,
            sample.value,
            sample.symptoms,
            tuple(cause.id for cause in report.causes if sample.id in cause.samples),
            sample.question,
            sample.answer,
            sample.reference,
            sample.retrieved_ids,
            "\n".join(f"{context.id}: {context.text}" for context in sample.contexts or ()) or None,
            sample.where,
        ]
        for one, sample in _worst(report)
    )


def cases(report: DiagnosisReport) -> Iterator[junit.Suite]:
    """A suite of gates, one of metrics, and one of the worst samples.

    The verdict decides: in a diagnosis that passed, nothing turns CI red.
    """
    say = wording(report.language)
    yield junit.gate_suite(report.gates)
    yield junit.Suite(
        "metrics", [junit.Case(one.metric, _problem(report, one, say)) for one in report.diagnoses]
    )
    yield junit.Suite(
        "samples",
        [
            junit.Case(
                sample.id,
                junit.Problem(
                    "skipped" if report.passed else "failure",
                    say.told(
                        (f"{one.metric} {numbers.value(sample.value)}", symptoms_of(sample, report))
                    ),
                    "sample",
                    (
                        *junit.facts(
                            dict(_texts(sample, say))
                            | {say.diagnosis.retrieved: " ".join(sample.retrieved_ids or ())}
                        ),
                        *(f"{found.id}: {found.text}" for found in sample.contexts or ()),
                        *junit.facts({say.diagnosis.heads.where: sample.where}),
                    ),
                ),
                one.metric,
            )
            for one, sample in _worst(report)
        ],
    )


def _problem(report: DiagnosisReport, one: MetricDiagnosis, say: Wording) -> junit.Problem | None:
    if one.severity == "none":
        return None
    standings = words(report.language).standing
    lines = []
    for number, cause in enumerate(kept(report), 1):
        if cause.id in one.causes:
            title = f"{cause.title}{say.beside(standings[cause.standing])}"
            do = [action.do for action in cause.actions[:1]]
            lines.append(f"{number}. {say.told((title, *do))}")
    value = "" if one.value is None else f"{say.signs.colon}{held_against(one)}"
    word = f"{say.diagnosis.severities[one.severity]}{value}"
    return junit.Problem(
        "skipped"
        if report.passed or one.severity == "no_rule"
        else "error"
        if one.severity == "not_evaluable"
        else "failure",
        say.told((word, counts_words(report, one, say), *notes_of(one, say))),
        one.severity,
        tuple(lines),
    )


def notes(report: DiagnosisReport) -> Iterator[github.Notes]:
    """The verdict, the likeliest cause, the metrics that are not fine, the worst samples."""
    say, (word, why), found = wording(report.language), verdict_words(report), lead(report)
    title, colon = f"Ragauge {say.diagnosis.kind}", say.signs.colon
    more = say.more.format(n="{rest}")
    said = [f"{found.heading}{colon}{found.cause.title if found.cause else found.why}"]
    if found.cause:
        said.append(found.evidence)
        said.append(f"{found.turn}{colon}{found.step}" if found.step else "")
    yield github.Notes(
        [github.Note("notice", why, f"{title} {word}"), github.Note("notice", said, title)]
    )
    yield github.Notes(
        [
            github.Note(
                "warning" if report.passed else "error",
                say.told(
                    (
                        "" if one.value is None else held_against(one),
                        counts_words(report, one, say),
                        *notes_of(one, say),
                    )
                ),
                f"{say.diagnosis.severities[one.severity]} {one.metric}",
            )
            for one in report.diagnoses
            if one.severity not in ("none", "no_rule")
        ],
        "metric",
        more=more,
    )
    yield github.Notes(
        [
            github.Note(
                "warning",
                [
                    symptoms_of(sample, report),
                    *(f"{label}{colon}{github.cut(text)}" for label, text in _texts(sample, say)),
                ]
                if sample.symptoms or _texts(sample, say)
                else numbers.value(sample.value),
                f"{one.metric} {numbers.value(sample.value)} {sample.id}",
                sample.where,
            )
            for one, sample in _worst(report)
        ],
        "sample",
        more=more,
    )


def _blocks(report: DiagnosisReport, say: Wording) -> Iterator[Block]:
    own = say.diagnosis
    heads, found = own.heads, lead(report)
    yield _verdict(report)
    yield Section(
        title=found.heading,
        blocks=_in_short(found.cause, say, kept(report).index(found.cause) + 1)
        if found.cause
        else [Text(found.why)],
        part="lead",
    )
    if report.diagnoses:
        yield _metrics(report, say)
    yield from _causes(report, say)

    def or_none(found: list[Block], title: str, none: str, part: str) -> list[Block]:
        """A part; where it is empty and something is low, that it is empty."""
        empty = Section(title=title, blocks=[Text(none, "dim")], part=part)
        return found or ([empty] if is_low(report) else [])

    yield from or_none(_slices(report, say), heads.slices, own.no_slice, "slices")
    yield from or_none(_symptoms(report, say), heads.symptoms, own.no_symptom, "symptoms")
    yield from or_none(_addresses(report, say), heads.addresses, own.no_addresses, "addresses")
    yield from or_none(_replay(report, say), heads.replay, own.no_replay, "replay")
    yield from or_none(_samples(report, say), heads.worst, own.no_worst, "worst")
    yield from doc.gates(
        report.gates,
        report.metrics,
        {gate.metric: gate.metric for gate in report.gates},
        remark=heads.gates_about,
        language=report.language,
    )
    diagnosed = {one.metric for one in report.diagnoses}
    others = {id: score for id, score in sorted(report.metrics.items()) if id not in diagnosed}
    if others:
        yield doc.scores(
            others, {id: id for id in others}, title=say.other_metrics, language=report.language
        )
    yield Section(
        title=heads.unknown,
        blocks=[Points(report.unknown)] if report.unknown else [Text(own.no_unknown, "dim")],
        part="unknown",
    )
    yield doc.findings(report)
    yield doc.Coverage(coverage_words(report), report.identity)


# The verdict and the lead.


def _verdict(report: DiagnosisReport) -> doc.Verdict:
    return doc.Verdict(*verdict_words(report), tone="good" if report.passed else "bad")


def is_low(report: DiagnosisReport) -> bool:
    return any(one.severity in LOW for one in report.diagnoses)


def verdict_words(report: DiagnosisReport) -> tuple[str, str]:
    """The verdict in a word, and why: which metrics are low, and where one that passes is."""
    say, own = wording(report.language), wording(report.language).diagnosis
    times = Counter(one.severity for one in report.diagnoses)
    low = [one for one in report.diagnoses if one.severity in LOW]
    of = say.counted(len(report.diagnoses), own.metrics)
    unjudged = own.not_evaluable.format(n=count(times["not_evaluable"]))
    unruled = own.no_rule.format(n=count(times["no_rule"]))
    unjudged, unruled = unjudged * bool(times["not_evaluable"]), unruled * bool(times["no_rule"])
    too_bad = LOW if report.identity.get("fail_on") == "warning" else ("critical",)
    if low:
        named = [f"{one.metric} {own.severities[one.severity]}" for one in low[:NAMED]]
        left = own.others.format(n=count(len(low) - NAMED)) if len(low) > NAMED else ""
        judged = own.low.format(n=count(len(low)), of=of, names=say.listed((*named, left)))
    else:
        judged = own.fine.format(n=count(times["none"]), of=of)
    parts = [judged, unjudged, unruled]
    if not low and not times["none"]:
        rest = say.told((unjudged, unruled)) or own.no_metrics
        parts = [f"{own.nothing_judged}{say.signs.colon}{rest}"]
    elif not report.passed and not any(times[severity] for severity in too_bad):
        parts = [unjudged, judged, unruled]  # nothing but missing values fails the run
    objected = low or times["not_evaluable"] or not times["none"]
    if report.passed and objected and report.identity.get("fail_on") == "never":
        parts = [f"--fail-on never{say.signs.colon}{say.told(parts)}"]
    elif report.passed and times["warning"] and not times["critical"]:
        parts.insert(0, own.none_is_critical)
    if report.passed and report.slices:
        parts.append(own.but.format(told=report.slices[0].text))
    return say.passed if report.passed else say.failed, say.told(parts)


class Lead(Struct, frozen=True, kw_only=True):
    """What is right below the verdict: the likeliest cause, or why none is claimed."""

    heading: str
    cause: Cause | None = None
    evidence: str = ""
    """How much it accounts for, and its best evidence or why it cannot be tested."""
    turn: str = ""
    """`First turn recall_top_k`; without a knob, `First`."""
    step: str = ""
    """The first thing to change; of a cause that was not tested, how to test it."""
    why: str = ""


def lead(report: DiagnosisReport) -> Lead:
    """The likeliest cause with its evidence and the first thing to change, or why there is none."""
    say, own, found = wording(report.language), wording(report.language).diagnosis, kept(report)
    if found and (found[0].standing == "likely" or is_low(report)):
        return _lead(found[0], say)
    if not report.diagnoses:
        why = own.no_metrics
    elif not is_low(report):
        judged = any(one.severity == "none" for one in report.diagnoses)
        why = own.none_is_low if judged else own.nothing_judged
    elif not report.causes:
        why = own.none_goes_with
    else:
        why = own.all_ruled_out.format(n=count(len(report.causes)))
    return Lead(heading=own.no_cause, why=why)


def _lead(first: Cause, say: Wording) -> Lead:
    own = say.diagnosis
    headings = {"likely": own.lead_likely, "possible": own.lead_possible}
    turn, step = say.confirm, first.confirm
    if first.actions and first.standing != "untested":
        action = first.actions[0]
        turn = own.turn.format(knob=action.knob) if action.knob else own.do_first
        step = action.do
    supporting = [one for one in first.evidence if one.speaks == "for"]
    best = max(supporting, key=lambda one: one.bits).text if supporting else first.means
    return Lead(
        heading=headings.get(first.standing, own.lead_untested),
        cause=first,
        evidence=say.told((explains_words(first, say), first.why or best)),
        turn=turn,
        step=step,
    )


def _in_short(cause: Cause, say: Wording, number: int | None = None) -> list[Block]:
    """A cause with its best evidence and the first thing to change."""
    found = _lead(cause, say)
    to: doc.Target | None = None if number is None else ("here", f"cause-{number}")
    return [
        Text([Span(cause.title, "strong", to=to)]),
        Facts([("", found.evidence), (found.turn, found.step)]),
    ]


# Metrics.


def _metrics(report: DiagnosisReport, say: Wording) -> Table:
    own, heads = say.diagnosis, say.diagnosis.heads
    places = {cause.id: str(number) for number, cause in enumerate(kept(report), 1)}

    def row(one: MetricDiagnosis) -> Row:
        score = report.metrics.get(one.metric)
        ci, limits, low = score.ci if score else None, one.limits, one.severity in LOW
        return Row(
            (
                names(one.metric, "strong" if low else "", ("metric", one.metric)),
                Cell(
                    own.severities[one.severity],
                    one.severity,
                    TONES[one.severity],
                    badge=one.severity,
                ),
                Cell(held_against(one), one.value),
                doc.plot(doc.Range(one.value, ci, limits.warning if limits else None)),
                Cell(limits_words(limits), tone="dim"),
                Cell(say.n_of(one.n, one.of), one.n, "dim"),
                Cell(_part(one.beyond_warning, one.n) if limits else "", one.beyond_warning),
                Cell(
                    _part(one.beyond_critical, one.n) if _is_graded(one) else "",
                    one.beyond_critical,
                ),
                doc.interval(ci),
                names(say.listed(places.get(id, id) for id in one.causes)),
            ),
            say.told(notes_of(one, say)),
            strong=low,
        )

    causes = heads.causes.lower()
    made = Table(
        title=heads.metrics,
        part="diagnosed",
        columns=doc.columns(
            *(say.metric, heads.severity, say.value, "plot", heads.limits, heads.valid),
            *(heads.beyond_warning, heads.beyond_critical, say.interval_95, causes),
            right=(heads.valid, heads.beyond_warning, heads.beyond_critical),
            plots=("plot",),
            spare=(
                *(causes, say.interval_95, heads.beyond_critical, heads.valid),
                *(heads.beyond_warning, heads.limits),
            ),
        ),
        rows=[row(one) for one in report.diagnoses],
    )
    return doc.filled(made)


def held_against(one: MetricDiagnosis) -> str:
    """`0.412 < 0.50` where it is beyond a threshold, else the value alone."""
    if one.value is None or one.threshold is None:
        return numbers.value(one.value)
    sign = ">" if one.better == "lower" else "<"
    return f"{numbers.value_beside(one.value, one.threshold)} {sign} {_limit(one.threshold)}"


def limits_words(limits: Threshold | None) -> str:
    """`< 0.70 / 0.50`: from where on a mean is a warning, and from where critical."""
    if limits is None:
        return numbers.ABSENT
    sign = ">" if limits.better == "lower" else "<"
    return f"{sign} {_limit(limits.warning)} / {_limit(limits.critical)}"


def _limit(number: float | None) -> str:
    if number is None:
        return numbers.ABSENT
    return f"{number:.2f}" if round(number, 2) == number else f"{number:.12g}"


def _part(n: int, of: int) -> str:
    """`18 (47.4 %)`; nothing for none."""
    return f"{count(n)} ({numbers.share(n, of)})" if n else ""


def _is_graded(one: MetricDiagnosis) -> bool:
    """Whether it has a critical threshold besides the other."""
    return one.limits is not None and one.limits.critical is not None


def counts_words(report: DiagnosisReport, one: MetricDiagnosis, say: Wording) -> str:
    """`18 of 38 samples beyond warning, 15 beyond critical; 95 % [0.341, 0.487]`."""
    if not one.n or one.limits is None:
        return ""
    own, score = say.diagnosis, report.metrics.get(one.metric)
    beyond, interval = "", numbers.interval(score.ci) if score else ""
    if one.beyond_warning:
        told = say.n_of(one.beyond_warning, say.counted(one.n, own.samples))
        critical = own.beyond_critical.format(n=count(one.beyond_critical))
        graded = say.listed((own.beyond.format(told=told), critical))
        beyond = graded if _is_graded(one) else own.beyond_bound.format(told=told)
    return say.told((beyond, interval and f"95 % {interval}"))


def notes_of(one: MetricDiagnosis, say: Wording) -> list[str]:
    """Why a metric has no value or no rule, and what was in place of its values."""
    own = say.diagnosis
    invalid = say.listed(
        f"{_named(own.invalid, kind)} {count(times)}"
        for kind, times in sorted(one.invalid.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    wanted = {"higher": own.higher_is_better, "lower": own.lower_is_better}
    found = (
        one.reason,
        own.invalid_are.format(told=invalid) if invalid else "",
        wanted[one.better] if one.better and one.limits is None else "",
    )
    return [note for note in found if note]


def _named(known: Mapping[str, str], name: str) -> str:
    """The word for a name; the name itself where there is none, for it may be a user's own.

    >>> _named({"missed": "the retriever missed it"}, "home_made")
    'home made'
    """
    return known.get(name, name.replace("_", " "))


# Causes.


def kept(report: DiagnosisReport) -> list[Cause]:
    """The causes that are not ruled out, in the report's order, which numbers them."""
    return [one for one in report.causes if one.standing != "struck_out"]


def explains_words(one: Cause, say: Wording) -> str:
    """How many of the answers that went wrong it accounts for; nothing where it was not tested."""
    own = say.diagnosis
    of = say.counted(one.of, own.answers)
    if one.explains and round(one.explains, 1) < 1:
        return own.explains_little.format(of=of)
    if one.explains >= EXACT_BELOW:
        return own.explains.format(n=count(round(one.explains)), of=of)
    if one.explains:
        return own.explains.format(n=f"{one.explains:.1f}".removesuffix(".0"), of=of)
    return "" if one.standing == "untested" else own.explains_nothing.format(of=of)


def _causes(report: DiagnosisReport, say: Wording) -> Iterator[Block]:
    heads, standings = say.diagnosis.heads, words(report.language).standing
    anchors: dict[str, doc.Target] = {
        id: ("here", f"sample-{number}") for number, id in enumerate(_low_samples(report), 1)
    }

    def item(number: int, one: Cause) -> Item:
        return Item(
            name=str(number),
            badge=(one.standing, standings[one.standing], TONES[one.standing]),
            about=one.title,
            aside=explains_words(one, say),
            blocks=[Facts(list(_cause_facts(one, anchors, say)))],
            opened=number <= OPENED and one.standing != "untested",
            anchor=f"cause-{number}",
        )

    numbered = list(enumerate(kept(report), 1))
    tested = [item(n, one) for n, one in numbered if one.standing != "untested"]
    untested = [(n, one) for n, one in numbered if one.standing == "untested"]
    ruled_out = [(n, one) for n, one in enumerate(report.causes) if one.standing == "struck_out"]
    if tested:
        yield Items(
            title=heads.causes,
            remark=heads.causes_about,
            items=tested,
            shown=CAUSES_SHOWN,
            part="causes",
        )
    if untested:
        yield Only(
            frozenset({"html"}),
            [
                Items(
                    title=heads.untested,
                    remark=heads.untested_about,
                    items=[item(n, one) for n, one in untested],
                    part="causes",
                )
            ],
            "untested",
        )
        yield Only(
            frozenset({"text", "markdown"}),
            [
                Section(
                    title=heads.untested,
                    remark=heads.untested_about,
                    blocks=[
                        Points(
                            [
                                [
                                    Span(say.told(f"{n}. {one.title}" for n, one in alike)),
                                    Span(f"{say.signs.colon}{why}", "dim"),
                                ]
                                for why, alike in _by_why(untested).items()
                            ]
                        )
                    ],
                )
            ],
            "untested",
        )
    if ruled_out:
        groups = sorted(_by_why(ruled_out).items(), key=lambda group: len(group[1]))
        yield Section(
            title=heads.ruled_out,
            remark=say.told((count(len(ruled_out)), heads.ruled_out_about)),
            blocks=[
                Points(
                    [
                        [
                            Span(f"{why}{say.signs.colon}" if why else "", "dim"),
                            Span(say.told(one.title for _, one in alike)),
                        ]
                        for why, alike in groups
                    ],
                    "×",
                )
            ],
            part="ruled-out",
        )


def _by_why(found: Sequence[tuple[int, Cause]]) -> dict[str, list[tuple[int, Cause]]]:
    """The causes that share a reason, with it."""
    groups: dict[str, list[tuple[int, Cause]]] = {}
    for number, one in found:
        groups.setdefault(one.why or "", []).append((number, one))
    return groups


def _cause_facts(
    one: Cause, anchors: Mapping[str, doc.Target], say: Wording
) -> Iterator[tuple[str, doc.Words]]:
    own = say.diagnosis
    yield own.means, one.means
    for speaks, label in (("for", own.supports), ("against", own.contradicts)):
        for found in one.evidence:
            if found.speaks == speaks:
                weight = [own.bits.format(n=f"{found.bits:+.1f}")] if found.bits else []
                beside = say.beside(say.told((*_counts(found, say), *weight, found.sign)))
                yield label, [Span(found.text), Span(beside, "dim")]
    yield own.why, one.why or ""
    yield say.confirm, one.confirm
    for action in one.actions:
        knob = [Span(action.knob or "", "strong", foreign=True), Span(say.signs.colon)]
        price = (
            own.costs.format(told=action.costs.rstrip(".。")) if action.costs else "",
            own.worsens.format(told=action.worsens.rstrip(".。")) if action.worsens else "",
        )
        do, costs = Span(action.do), Span(say.beside(say.told(price)), "dim")
        yield say.change, [*(knob if action.knob else []), do, costs]
    yield (
        say.see,
        _listed(
            (Span(id, foreign=True, to=anchors.get(id, ("question", id))) for id in one.samples),
            say,
        ),
    )
    yield own.heads.metrics, _listed((Span(name, foreign=True) for name in one.metrics), say)
    yield own.heads.id, theirs(one.id)


def _listed(given: Iterator[Span], say: Wording) -> list[Span]:
    return [piece for span in given for piece in (span, Span(say.signs.comma))][:-1]


def _counts(one: Evidence, say: Wording) -> Iterator[str]:
    """The counts of a sign, as far as its sentence does not name them."""
    said = set(_NUMBERS.findall(one.text))
    if not {count(one.n), count(one.of)} <= said:
        yield say.n_of(one.n, one.of)
    if one.elsewhere is None or one.elsewhere_of is None:
        return
    if not {count(one.elsewhere), count(one.elsewhere_of)} <= said:
        yield say.diagnosis.elsewhere.format(told=say.n_of(one.elsewhere, one.elsewhere_of))


# Slices, symptoms, addresses of claims, the replay.


def _slices(report: DiagnosisReport, say: Wording) -> list[Block]:
    heads, named = say.diagnosis.heads, words(report.language).slices
    if not report.slices:
        return []
    return [
        Table(
            title=heads.slices,
            part="slices",
            columns=doc.columns(
                *(heads.slice, say.metric, heads.samples, heads.beyond, say.value),
                *(heads.elsewhere, heads.corrected_p),
                right=(
                    *(heads.samples, heads.beyond, say.value),
                    *(heads.elsewhere, heads.corrected_p),
                ),
                spare=(heads.corrected_p, heads.samples, say.metric, heads.elsewhere),
            ),
            rows=[
                Row(
                    (
                        names(named.conditions(dict(sorted(one.conditions.items()))), "strong"),
                        names(one.metric),
                        doc.count(one.n),
                        Cell(say.n_of(one.beyond, one.beyond_all), one.beyond),
                        doc.number(one.value),
                        doc.number(one.elsewhere),
                        doc.number(one.p, f"< {LEAST_P}" if one.p < LEAST_P else None),
                    ),
                    one.text,
                )
                for one in report.slices
            ],
        )
    ]


def _symptoms(report: DiagnosisReport, say: Wording) -> list[Block]:
    """The most frequent first; a sample may show several."""
    called, heads = words(report.language).symptoms, say.diagnosis.heads
    ranked = sorted(report.symptoms.items(), key=lambda pair: (-pair[1], pair[0]))
    if not any(report.symptoms.values()):
        return []
    return [
        Table(
            title=heads.symptoms,
            remark=heads.symptoms_about,
            part="symptoms",
            columns=doc.columns(
                heads.symptom, heads.samples, "plot", right=(heads.samples,), plots=("plot",)
            ),
            rows=[
                Row(
                    (
                        Cell(_named(called, name), name, foreign=name not in called),
                        doc.count(times),
                        doc.plot(Bar(times / ranked[0][1], "bad")),
                    )
                )
                for name, times in ranked
                if times
            ],
        )
    ]


def _addresses(report: DiagnosisReport, say: Wording) -> list[Block]:
    """The claims of answers and of references by where they come from or were lost."""
    found, own = report.addresses, say.diagnosis
    if found is None:
        return []
    blocks: list[Block] = []
    for title, counts, order, sums, none in (
        (
            own.heads.of_answers,
            found.answer,
            get_args(AnswerAddress),
            answer_sums(found.answer, say),
            own.no_answer_claims,
        ),
        (
            own.heads.of_references,
            found.reference,
            get_args(ReferenceAddress),
            reference_sums(found.reference, say),
            own.no_reference_claims,
        ),
    ):
        known = (*order, UNJUDGED)
        blocks.append(Text([Span(title, "strong")]))
        bars = [
            (
                name if name in known else UNJUDGED,
                _named(own.addresses, name),
                counts[name],
                TONES.get(name, "dim"),
            )
            for name in (*known, *sorted(set(counts) - set(known)))
            if counts.get(name)
        ]
        if bars:
            blocks.append(doc.Bars(title="", heads=(own.heads.where, own.heads.claims), bars=bars))
        blocks.append(Facts([("", line) for line in (sums if bars else [none])]))
    of = say.counted(found.samples, own.samples)
    judged = own.judged_by.format(of=of, source=found.source)
    return [Section(title=own.heads.addresses, remark=judged, blocks=blocks, part="addresses")]


def answer_sums(counts: Mapping[str, int], say: Wording) -> list[str]:
    """Every judged claim is in a passage, known or invented; every wrong one misled or invented.

    In counts, because rounded fractions would not add up in print.
    """
    right, own, relevant, noise, invented = (counts.get(one, 0) for one in get_args(AnswerAddress))
    judged = right + own + relevant + noise + invented
    if not judged:
        return []
    found, say_own = right + relevant + noise, say.diagnosis
    return [
        say_own.faithful.format(found=found, own=own, invented=invented, judged=judged),
        say_own.wrong.format(
            relevant=relevant, noise=noise, invented=invented, judged=judged, right=right + own
        ),
        say_own.rates.format(
            faithfulness=numbers.value(found / judged),
            own=numbers.value(own / judged),
            hallucination=numbers.value(invented / judged),
            precision=numbers.value((right + own) / judged),
        ),
    ]


def reference_sums(counts: Mapping[str, int], say: Wording) -> list[str]:
    said, unused, missed = (counts.get(one, 0) for one in get_args(ReferenceAddress))
    judged = said + unused + missed
    if not judged:
        return []
    return [
        say.diagnosis.recalled.format(said=said, unused=unused, missed=missed, judged=judged),
        say.diagnosis.reference_rates.format(
            recall=numbers.value(said / judged), missed=numbers.value(missed / judged)
        ),
    ]


def _replay(report: DiagnosisReport, say: Wording) -> list[Block]:
    replay, heads, own = report.replay, say.diagnosis.heads, say.diagnosis
    if replay is None:
        return []
    called = words(report.language).interventions
    blocks: list[Block] = [Text([Span(_replay_words(replay, say))])]
    if replay.interventions:
        counted = (heads.asked, heads.effective, heads.repaired, heads.failed, heads.impossible)
        blocks.append(
            Table(
                columns=doc.columns(
                    *(heads.intervention, *counted[:3], "plot", *counted[3:]),
                    right=counted,
                    plots=("plot",),
                    spare=(heads.impossible, heads.failed, heads.effective),
                ),
                rows=[
                    Row(
                        (
                            Cell(called[one.name].label),
                            doc.count(one.asked),
                            doc.count(one.effective),
                            doc.count(one.repaired),
                            doc.plot(Bar(one.repaired / one.asked, "good") if one.asked else None),
                            doc.count(one.failed, "dim"),
                            doc.count(one.impossible, "dim"),
                        ),
                        say.told(
                            (
                                own.not_made.format(told=one.reason) if one.reason else "",
                                own.shown_in.format(told=" ".join(one.samples))
                                if one.samples
                                else "",
                                called[one.name].repaired if one.samples else "",
                            )
                        ),
                    )
                    for one in replay.interventions
                ],
            )
        )
    if replay.repaired_by:
        labels = {name: one.label for name, one in called.items()}
        blocks.append(
            Table(
                title=heads.repaired_by.capitalize(),
                columns=doc.columns(heads.sample, heads.repaired_by),
                rows=[
                    Row(
                        (
                            names(id, "strong", ("question", id)),
                            Cell(say.listed(_named(labels, one) for one in by)),
                        )
                    )
                    for id, by in sorted(replay.repaired_by.items())
                ],
                shown=REPAIRED_SHOWN,
            )
        )
    return [Section(title=heads.replay, blocks=blocks, part="replay")]


def _replay_words(replay: Replay, say: Wording) -> str:
    """How many questions were sent again, in how many calls, to which system."""
    own = say.diagnosis
    of = say.counted(replay.of, own.questions)
    system = ", ".join(
        f"{name}={text}"
        for name, text in envelope.identity_words(replay.system)
        if "." not in name  # how it is set up is in the JSON report
    )
    return say.told(
        (
            own.replayed.format(chosen=count(replay.chosen), of=of),
            say.counted(replay.calls, own.calls),
            own.resumed.format(n=count(replay.resumed)) if replay.resumed else "",
            own.system.format(told=system) if system else "",
            "" if replay.ended == "complete" else _named(own.ended, replay.ended),
        )
    )


# The worst samples.


def _worst(report: DiagnosisReport) -> Iterator[tuple[MetricDiagnosis, Sample]]:
    """The worst samples of each metric, with it."""
    for one in report.diagnoses:
        for sample in one.worst:
            yield one, sample


def _low_samples(report: DiagnosisReport) -> dict[str, tuple[Sample, dict[str, float]]]:
    """The worst samples by id, each once, with its values by metric."""
    found: dict[str, tuple[Sample, dict[str, float]]] = {}
    for one, sample in _worst(report):
        _, values = found.setdefault(sample.id, (sample, {}))
        values[one.metric] = sample.value
    return found


def symptoms_of(sample: Sample, report: DiagnosisReport) -> str:
    called = words(report.language).symptoms
    return wording(report.language).told(_named(called, name) for name in sample.symptoms)


def _texts(sample: Sample, say: Wording) -> list[tuple[str, str]]:
    """Question, answer and reference, as far as there are any, each with its label."""
    own = say.diagnosis
    given = (
        (own.question, sample.question),
        (own.answer, sample.answer),
        (own.reference, sample.reference),
    )
    return [(label, text or own.empty) for label, text in given if text is not None]


def _missing(sample: Sample, say: Wording) -> str:
    """What the row does not have; that nothing was retrieved."""
    own, (contexts, ids) = say.diagnosis, (sample.contexts, sample.retrieved_ids)
    labels = (own.question, own.answer, own.reference)
    texts = (sample.question, sample.answer, sample.reference)
    missing = [label for label, text in zip(labels, texts, strict=True) if text is None]
    if contexts is None or (not contexts and ids):
        missing.append(own.passages)
    gone = own.not_given.format(told=say.listed(missing)) if missing else ""
    nothing = not contexts and not ids and () in (contexts, ids)
    return say.told((gone, own.nothing_retrieved if nothing else ""))


def _samples(report: DiagnosisReport, say: Wording) -> list[Block]:
    own, low = say.diagnosis, _low_samples(report)
    if not low:
        return []
    return [
        Items(
            title=own.heads.worst,
            remark=own.heads.worst_about,
            items=[
                Item(
                    name=sample.id,
                    badge=("critical", numbers.value(sample.value), "bad"),
                    about=cut(sample.question or "", LONGEST),
                    blocks=list(_sample(report, sample, values, say)),
                    to=("question", sample.id),
                    anchor=f"sample-{number}",
                )
                for number, (sample, values) in enumerate(low.values(), 1)
            ],
            shown=SAMPLES_SHOWN,
            folded=True,
            part="worst",
        )
    ]


def _sample(
    report: DiagnosisReport, sample: Sample, values: Mapping[str, float], say: Wording
) -> Iterator[Block]:
    own = say.diagnosis
    low = [f"{metric} {numbers.value(value)}" for metric, value in values.items()]
    contexts = [(found.id, found.text) for found in sample.contexts or ()]
    yield Facts(
        [
            (own.heads.metrics.lower(), theirs(say.listed(low))),
            (own.heads.symptom, symptoms_of(sample, report)),
            *(
                (label, theirs(cut(text, LONGEST)))
                for label, text in _texts(sample, say)
                if label != own.question
            ),
            (own.retrieved, theirs(" ".join(sample.retrieved_ids or ()))),
            (say.note, _missing(sample, say)),
            (own.heads.where, theirs(sample.where)),
        ]
    )
    if contexts:
        left = len(contexts) - CONTEXTS_SHOWN
        shown = [_context(id, cut(text, LONGEST_CONTEXT)) for id, text in contexts[:CONTEXTS_SHOWN]]
        more = [say.counted(left, own.more_contexts)] if left > 0 else []
        yield Only(frozenset({"text", "markdown"}), [Points([*shown, *more], "·")])
        yield doc.on_pages(
            Items(
                items=[
                    Item(
                        name=say.counted(len(contexts), own.contexts),
                        blocks=[
                            Points([_context(id, cut(text, LONGEST)) for id, text in contexts])
                        ],
                    )
                ]
            )
        )


def _context(id: str, text: str) -> list[Span]:
    return [Span(id, "strong", foreign=True), Span("  "), Span(text, foreign=True)]


# Coverage.


def coverage_words(report: DiagnosisReport) -> str:
    """How much was looked at: `samples 40, traces 80`; what is zero is left out."""
    say, own = wording(report.language), wording(report.language).diagnosis

    def place(pair: tuple[str, str]) -> tuple[int, str]:
        name = pair[0]
        return (COVERED.index(name) if name in COVERED else len(COVERED), name)

    pairs = sorted(envelope.identity_words(report.coverage), key=place)
    told = say.listed(f"{_named(own.coverage, name)} {text}" for name, text in pairs if text != "0")
    return told or own.no_coverage
