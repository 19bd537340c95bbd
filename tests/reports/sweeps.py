"""Stability reports made by hand: small and telling, large, hostile, of the reference profile."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

from msgspec import structs

from ragauge.contracts.report import Advice, Finding, Score, Verdict
from ragauge.contracts.run import FACTORS, Variation
from ragauge.contracts.stability import (
    STABILITIES,
    Explanation,
    FactorEffect,
    QuestionStability,
    Shown,
    StabilityCoverage,
    StabilityReport,
)
from ragauge.stats.intervals import wilson

JITTERS = ("none", "ws", "punct", "syn")
NOT_MADE = "!?=."


def grid(jitters=JITTERS, temperatures=(0.0,), seeds=range(5), paraphrases=(0,)):
    """The columns of a sweep, in their order."""
    return tuple(
        Variation(paraphrase=p, jitter=j, temperature=t, seed=s)
        for p in paraphrases
        for j in jitters
        for t in temperatures
        for s in seeds
    )


def effects(columns, cells):
    """For each factor, the pairs of runs that differ in it alone, and how many disagree."""
    found = {factor: [0, 0] for factor in FACTORS}
    made = [(c, cell) for c, cell in zip(columns, cells, strict=True) if cell not in NOT_MADE]
    for (one, mine), (other, theirs) in combinations(made, 2):
        differing = [f for f in FACTORS if getattr(one, f) != getattr(other, f)]
        if len(differing) == 1:
            found[differing[0]][0] += 1
            found[differing[0]][1] += mine != theirs
    return {
        factor: FactorEffect(pairs=p, differ=d, rate=round(d / p, 4) if p else None)
        for factor, (p, d) in found.items()
    }


def explained(factors):
    told = {name: effect for name, effect in factors.items() if effect.rate}
    if not told:
        return None
    name = max(told, key=lambda name: (told[name].rate, name))
    words = f"{name}: {told[name].differ} of {told[name].pairs} pairs differ"
    return Explanation(factor=name, about="outcome", rate=told[name].rate, words=words)


def numbers(cells, answerable):
    """The rates that the letters of a row give, and their intervals."""
    made = [cell for cell in cells if cell not in NOT_MADE]
    planned = [cell for cell in cells if cell != "."]
    counts = {
        "acr": (sum(c in "+hk" for c in made), len(made)) if answerable else None,
        "cghc": (sum(c in "+ck" for c in made), len(made)) if answerable else None,
        "refusal_rate": None if answerable else (made.count("+"), len(made)),
        "success": (sum(c in "+k" for c in made), len(made)),
        "error_rate": (planned.count("!"), len(planned)),
    }
    known = {name: pair for name, pair in counts.items() if pair and pair[1]}
    rates = {name: round(k / n, 4) for name, (k, n) in known.items()}
    ci = {name: tuple(round(end, 4) for end in wilson(k / n, n)) for name, (k, n) in known.items()}
    return made, rates, ci


def examples(qid, columns, cells, asked, claims, cited):
    """A run of each outcome, the commonest outcome first."""
    counts = Counter(cell for cell in cells if cell not in "=.?")
    shown = []
    for cell in sorted(counts, key=lambda cell: (-counts[cell], cell)):
        column = columns[cells.index(cell)]
        sent = asked if column.jitter == "none" else asked.replace("What", "Tell me what")
        shown.append(
            Shown(
                run_id=f"{qid}#{column}",
                variation=column,
                cell=cell,
                question_sent=sent,
                claim="" if cell == "!" else claims.get(cell, claims["+"]),
                cited=() if cell in "!r" else cited.get(cell, cited["+"]),
                error="timeout: no answer within 90 s" if cell == "!" else None,
            )
        )
    return tuple(shown)


def failed_gates(made, rates, css):
    """The gates these numbers fail, in words."""
    least = {"acr": 0.95, "cghc": 0.95, "refusal_rate": 0.98}
    for name, bound in least.items():
        if rates.get(name, 1) < bound:
            yield f"{name} {rates[name]:g} < {bound:g}"
    if css == 0.5:
        yield "css 0.5 < 0.7"
    if "k" in made:
        yield "scu_cons 0 ≠ 1"
    if rates.get("error_rate"):
        yield f"error_rate {rates['error_rate']:g} > 0"


def verdict_of(cells, made, failed):
    if {"!", "?"} & set(cells):
        return "incomplete"
    if not failed:
        return "stable_pass"
    return "stable_fail" if len(set(made)) == 1 else "flaky"


def counts(cells, made):
    return {
        "planned": len(cells) - cells.count("."),
        "runs": len(made),
        "errors": cells.count("!"),
        "missing": cells.count("?"),
        "saved": cells.count("="),
    }


def agreement(made, css):
    """The numbers that compare runs with each other."""
    pairs = list(combinations(made, 2))
    refused = made.count("r") / max(1, len(made))
    return {
        "css": css,
        "css_all": css,
        "css_pairwise": css,
        "ned50": 0.0 if len(set(made)) == 1 else 0.1551,
        "agreement": 1.0 if len(set(made)) == 1 else 0.5,
        "rcr": round(max(refused, 1 - refused), 4),
        "scu_cons": 0.0 if "k" in made else None,
        "iaa": round(sum(a == b for a, b in pairs) / len(pairs), 4) if pairs else None,
    }


def jitters(columns, cells, *, idle):
    """The jitters with runs of their own, or those without."""
    met = zip(columns, cells, strict=True)
    return tuple(dict.fromkeys(c.jitter for c, cell in met if (cell == ".") == idle))


CLAIMS = {"+": "X is a constrained mapping.", "r": "not in context"}
CITED = {"+": ("p1#1",), "h": ("p9#9",), "x": ("p9#9", "p3#2")}


def question(
    qid, columns, cells, asked="What is X?", answerable=True, claims=CLAIMS, cited=CITED, **facts
):
    """A question whose numbers follow from its row of letters."""
    made, rates, ci = numbers(cells, answerable)
    css = None if not answerable or len(made) < 2 else 0.5 if {"h", "x"} & set(made) else 1.0
    failed = tuple(failed_gates(made, rates, css))
    factors = effects(columns, cells)
    inapplicable = {"refusal_rate": "answerable"} if answerable else {"acr": "unanswerable"}
    known = {
        "verdict": verdict_of(cells, made, failed),
        "answerable": answerable,
        **counts(cells, made),
        **{
            name: rates.get(name)
            for name in ("acr", "cghc", "success", "refusal_rate", "error_rate")
        },
        **agreement(made, css),
        "ci": ci,
        "reasons": {"scu_cons": "no constraints", **inapplicable},
        "failed": failed,
        "factors": factors,
        "explained_by": explained(factors) if failed else None,
        "prompts": len(jitters(columns, cells, idle=False)),
        "noop": jitters(columns, cells, idle=True),
        "question": asked,
        "examples": examples(qid, columns, cells, asked, claims, cited),
    }
    return QuestionStability(**{**known, **facts})


RULES = {
    "acr": (">=", 0.95, "true"),
    "cghc": (">=", 0.95, "true"),
    "css": (">=", 0.7, "true"),
    "ned50": ("<=", 0.2, "true"),
    "refusal_rate": (">=", 0.98, "false"),
    "error_rate": ("<=", 0, None),
}
REFERENCE_RULES = {
    "acr": (">=", 0.95, "true"),
    "cghc": (">=", 0.95, "true"),
    "css_all": (">=", 0.7, "true"),
    "ned50": ("<=", 0.2, "true"),
    "rcr": (">=", 0.98, "false"),
    "scu_cons": ("=", 1, None),
    "error_rate": ("<=", 0, None),
}


def gates(details, rules=RULES):
    """The stable share, then each rule with the share of questions that satisfy it."""
    stable, of = sum(one.verdict == "stable_pass" for one in details.values()), len(details)
    yield Verdict(
        rule="stability.stable>=1",
        metric="stability.stable",
        op=">=",
        bound=1,
        value=stable / of,
        n=of,
        ci=wilson(stable / of, of),
        verdict="pass" if stable == of else "fail",
        reason=None,
    )
    for name, rule in rules.items():
        yield rule_gate(details, name, *rule)


def rule_gate(details, name, op, bound, answerable):
    judged = [
        qid
        for qid, one in details.items()
        if getattr(one, name) is not None and answerable in (None, str(one.answerable).lower())
    ]
    failing = [q for q in judged if any(f.startswith(f"{name} ") for f in details[q].failed)]
    where = f" where answerable={answerable}" if answerable else ""
    decision, reason = "pass", None
    if not judged:
        decision, reason = "not_applicable", "no question the rule applies to"
    elif failing:
        decision = "fail"
        reason = f"{len(failing)} of {len(judged)} fail: {', '.join(failing[:5])}"
    return Verdict(
        rule=f"stability.{name}{op}{bound:g} per question{where}",
        metric=f"stability.{name}",
        op=op,
        bound=bound,
        value=1 - len(failing) / len(judged) if judged else None,
        n=len(judged),
        ci=None,
        verdict=decision,
        reason=reason,
    )


MEANS = (
    "acr",
    "cghc",
    "css",
    "css_pairwise",
    "ned50",
    "agreement",
    "rcr",
    "refusal_rate",
    "scu_cons",
    "iaa",
    "error_rate",
)


def means(details):
    """The mean of each number over the questions that have it."""
    found = {}
    for name in MEANS:
        values = [value for one in details.values() if (value := getattr(one, name)) is not None]
        mean = sum(values) / len(values) if values else None
        found[f"stability.{name}"] = Score(
            value=mean,
            n=len(values),
            of=len(details),
            ci=(max(0.0, mean - 0.08), min(1.0, mean + 0.06)) if values else None,
            reason=None if values else "no constraints",
            signature=f"stability.{name}|v1|n:{len(values)}",
        )
    return found


def together(details):
    """The effect of each factor over all questions."""
    for name in FACTORS:
        pairs = sum(one.factors[name].pairs for one in details.values())
        differ = sum(one.factors[name].differ for one in details.values())
        rate = round(differ / pairs, 4) if pairs else None
        yield name, FactorEffect(pairs=pairs, differ=differ, rate=rate)


def totals_of(details):
    verdicts = Counter(one.verdict for one in details.values())
    return {
        "questions": len(details),
        "answerable": sum(one.answerable for one in details.values()),
        "unanswerable": sum(not one.answerable for one in details.values()),
        "pass": verdicts["stable_pass"],
        "fail": len(details) - verdicts["stable_pass"],
        **{name: verdicts[name] for name in STABILITIES},
    }


def coverage_of(details):
    summed = ("planned", "runs", "errors", "missing", "saved")
    return StabilityCoverage(
        gold=len(details),
        questions=len(details),
        **{name: sum(getattr(one, name) for one in details.values()) for name in summed},
        unknown=0,
        surplus=0,
        rejected=0,
    )


IDENTITY = {"command": "stability", "gold": "sha256:2f7d9a", "metrics": {"stability.acr": 1}}


def report(rows, columns, **parts):
    """A report of questions by qid; parts of it may be replaced."""
    details = {qid: question(qid, columns, **row) for qid, row in rows.items()}
    totals = totals_of(details)
    rules = REFERENCE_RULES if parts.get("profile") == "reference" else RULES
    verdicts = tuple(gates(details, rules))
    known = {
        "passed": not totals["fail"],
        "profile": "ours",
        "metrics": means(details),
        "gates": verdicts,
        "verdicts": verdicts,
        "totals": totals,
        "details": details,
        "columns": columns,
        "cells": {qid: row["cells"] for qid, row in rows.items()},
        "factors": dict(together(details)),
        "findings": (),
        "finding_counts": {},
        "coverage": coverage_of(details),
        "advice": (),
        "identity": IDENTITY,
    }
    return StabilityReport(**{**known, **parts})


REFUSES = {"+": "not in context", "a": "They were painted by Pierre Cuypers."}
NIGHT_WATCH = {
    "+": "The Night Watch hangs in the Rijksmuseum in Amsterdam.",
    "c": "The Night Watch is kept in the Mauritshuis in The Hague.",
}
FOUNDED = {"+": "It was founded in 1934.", "r": "not in context"}
ISIL = {
    "+": "An ISIL code identifies a library, archive or museum worldwide.",
    "h": "An ISIL code identifies a library, archive or museum worldwide.",
    "x": "An ISIL code is a kind of ISBN.",
    "k": "An ISIL code identifies a library, an archive or a museum.",
}
OAIS = {"+": "", "c": "OAIS is a file format for scanned newspapers."}
EAD = {
    "+": "",
    "c": "Encoded archival description is a Dutch law of 1995.",
    "x": "Encoded archival description is a database in Ghent.",
}
ADVICE = (
    Advice(
        id="stability.unstable_retrieval",
        title="The retrieved context changes from run to run",
        evidence="questions with a low acr or cghc: 3",
        confirm="Compare the retrieved ids of two runs that disagree.",
        action="Intersect the lexical and the semantic pool, cut at the knee, use smaller chunks.",
        questions=("h013", "h030"),
    ),
    Advice(
        id="stability.refusal_token",
        title="Refusals are not exact",
        evidence="unanswerable questions answered at times: 1",
        confirm="Read the answers that should have been refusals.",
        action="Enforce the exact token.",
        questions=("h048",),
    ),
)
FINDINGS = (
    Finding("noop_jitter", "h001", "syn changes nothing in this question: it is not run"),
    Finding("noop_jitter", "h002", "syn changes nothing in this question: it is not run"),
    Finding("seed_without_effect", "", "all 5 seeds give the same answer to 11 of 12 questions"),
)


def telling():
    """12 questions × 20 runs, with every verdict and nearly every outcome."""
    columns = grid()
    rows = {
        "h001": {"cells": "+" * 15 + "." * 5, "asked": "What does legal deposit mean?"},
        "h002": {"cells": "+" * 15 + "." * 5, "asked": "Wat is het herkomstbeginsel?"},
        "h005": {"cells": "+" * 20, "asked": "故宮博物院收藏什麼？"},
        "h009": {"cells": "+" * 20, "answerable": False, "asked": "Who cleans the windows? 🪟"},
        "h013": {
            "cells": "+" * 15 + "ccccc",
            "asked": "What museum holds The Night Watch?",
            "claims": NIGHT_WATCH,
        },
        "h022": {
            "cells": "+++rr" * 4,
            "asked": "When was the Allard Pierson founded?",
            "claims": FOUNDED,
        },
        "h030": {"cells": "++h+x+++++h++++k+++x", "asked": "What is an ISIL code?", "claims": ISIL},
        "h041": {"cells": "c" * 20, "asked": "What is OAIS?", "claims": OAIS},
        "h048": {
            "cells": "+a+++" * 4,
            "answerable": False,
            "asked": "Who painted the walls?",
            "claims": REFUSES,
            "cited": {"+": (), "a": ("p4#2",)},
        },
        "h049": {"cells": "+++++++!++++++++?+++", "asked": "What is IIIF?"},
        "h050": {
            "cells": "xc" + "=" * 18,
            "asked": "Explain encoded archival description.",
            "claims": EAD,
        },
        "h051": {"cells": "+" * 20, "asked": "What is provenance research?"},
    }
    return report(
        rows,
        columns,
        advice=ADVICE,
        findings=FINDINGS,
        finding_counts={"noop_jitter": 2, "seed_without_effect": 1},
    )


def steady():
    """Four questions that pass in every run, over seeds alone."""
    columns = grid(jitters=("none",))
    return report({f"q{n}": {"cells": "+++++"} for n in range(1, 5)}, columns)


def large(questions=200, seed=7):
    """Many questions × 50 runs: five jitters, two temperatures, five seeds."""
    draw = random.Random(seed)
    columns = grid((*JITTERS, "order"), (0.0, 0.2), range(5))
    rows = {}
    for number in range(questions):
        kind = draw.random()
        wrong = 0 if kind < 0.7 else draw.choice((0.05, 0.2, 0.5, 1))
        letter = draw.choice("chxr")
        cells = "".join(letter if draw.random() < wrong else "+" for _ in columns)
        rows[f"q{number:04d}"] = {"cells": cells, "asked": f"What is item {number}?"}
    return report(rows, columns, advice=ADVICE)


def reference():
    """The parity fixture of the brief: its gates are a plain object."""
    columns = grid(jitters=("none",), seeds=range(4))
    facts = {
        "cells": "+++c",
        "asked": "Does X take null keys?",
        "claims": {"+": "X rejects null keys.", "c": "X rejects any null keys."},
        "cited": {"+": ("p1#2",), "c": ("p1#2",)},
        "acr": 0.75,
        "cghc": 1.0,
        "success": 1.0,
        "css": 0.5,
        "css_all": 0.5,
        "ned50": 0.1551,
        "scu_cons": 1.0,
        "failed": ("acr 0.75 < 0.95", "css_all 0.5 < 0.7"),
    }
    bounds = {name: bound for name, (_, bound, _) in REFERENCE_RULES.items()}
    bounds["css"] = bounds.pop("css_all")
    return report({"A0001": facts}, columns, profile="reference", gates=bounds)


def repeated():
    """A question asked four times alike, by runs without ids of their own."""
    columns = tuple(Variation(repeat=number) for number in range(4))
    made = report({"q1": {"cells": "++cc"}}, columns)
    one = made.details["q1"]
    unnamed = tuple(structs.replace(run, run_id=str(run.variation)) for run in one.examples)
    return structs.replace(made, details={"q1": structs.replace(one, examples=unnamed)})


def unanswered():
    """Three questions whose runs all failed: nothing could be judged."""
    made = report(
        {f"q{n}": {"cells": "!!!!!"} for n in range(1, 4)}, grid(jitters=("none",)), passed=False
    )
    reason = "no question has a finished run"
    verdicts = tuple(
        structs.replace(gate, verdict="not_evaluated", value=None, n=3, ci=None, reason=reason)
        for gate in made.verdicts
    )
    return structs.replace(made, gates=verdicts, verdicts=verdicts)


def hostile(text):
    """A report with a foreign text wherever foreign text can stand."""
    columns = grid((*JITTERS[:3], text))
    rows = {text: hostile_row(text, columns), "q2": {"cells": "+" * 20}}
    made = report(rows, columns)
    advice = Advice(id="a", title=text, evidence=text, confirm=text, action=text, questions=(text,))
    verdicts = (*made.verdicts, hostile_gate(text))
    return structs.replace(
        made,
        gates=verdicts,
        verdicts=verdicts,
        metrics={**made.metrics, f"acme.{text}": Score(value=None, n=0, of=2, reason=text)},
        factors={**made.factors, text: FactorEffect(pairs=4, differ=1, rate=0.25)},
        findings=(Finding(text, f"{text}:4", text),),
        finding_counts={text: 7},
        advice=(advice,),
        identity={"command": "stability", text: [text, {"deep": text}]},
    )


def hostile_row(text, columns):
    """A question of which every word is foreign."""
    shown = tuple(
        Shown(
            run_id=f"{text}#{columns[place]}",
            variation=columns[place],
            cell=cell,
            question_sent=text,
            claim=text,
            cited=(text, "p1#1"),
            error=text if cell == "!" else None,
        )
        for place, cell in ((0, "+"), (10, "c"), (15, "!"))
    )
    return {
        "cells": "+" * 10 + "ccccc!xh+r",
        "asked": text,
        "examples": shown,
        "explained_by": Explanation(factor="jitter", about="outcome", rate=0.5, words=text),
        "failed": (text, "acr 0.5 < 0.95"),
        "reasons": {"scu_cons": text},
        "noop": (text,),
    }


def hostile_gate(text):
    return Verdict(
        rule=f"stability.acr>=0.5 where language={text}",
        metric="stability.acr",
        op=">=",
        bound=0.5,
        value=0.5,
        n=2,
        ci=None,
        verdict="fail",
        reason=text,
    )
