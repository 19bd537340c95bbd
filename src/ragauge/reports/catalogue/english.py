"""The words around the catalogue in English."""

from __future__ import annotations

from ragauge.reports.catalogue.labels import Columns, Labels, OwnRules, Section
from ragauge.reports.words import wording

_EXAMPLE = """\
[[entry]]
id = "ours.dates_left_out"
metrics = ["context_recall", "factual_correctness"]
title = "The dates of Dutch collections were never taken in"
means = "Their catalogue has a column of dates that our importer skips."
evidence = "questions for the date of a Dutch collection, not found: {n}"
confirm = "Look up a year of that catalogue in the index."

  [entry.when]
  symptom = ["missed", "partly_missed"]
  country = ["NL", "BE"]
  question_type = ["when"]

  [[entry.actions]]
  do = "Take the catalogue in again, with its dates."
  knob = "index"
  costs = "A night of indexing."
  worsens = "Chunk ids change: check the gold set against the new ones."

[[threshold]]
metric = "tone"
better = "higher"
warning = 0.8
critical = 0.6
"""

_OWN = OwnRules(
    section=Section(
        "Rules of your own",
        "Write them into a TOML file and name it with `--rules rules.toml`. A rule of your own is a"
        " cause that you know: where a sample beyond its threshold matches it, it is told before"
        " the causes of the catalogue.",
    ),
    entry=Section("`[[entry]]`: a cause", ""),
    entry_fields={
        "id": (True, "a name that no other entry has, such as `ours.dates_left_out`"),
        "metrics": (True, "the metrics that it spoils, with or without their family"),
        "when": (
            True,
            "which samples speak for it: all the facts have to match, each by any of its values",
        ),
        "title": (True, "the cause in a line"),
        "means": (False, "what it amounts to"),
        "evidence": (False, "what is counted; `{n}` stands for the number of samples"),
        "confirm": (True, "how to make sure"),
        "actions": (
            True,
            "what to change, each in a table `[[entry.actions]]`: `do`, and if you like `knob`,"
            " `costs`, `worsens`",
        ),
    },
    threshold=Section(
        "`[[threshold]]`: from where on a metric is low",
        "For a metric that has no rule, or in place of ours.",
    ),
    threshold_fields={
        "metric": (True, "its name, as it stands in the scores"),
        "better": (True, "`higher` or `lower`"),
        "warning": (True, "strictly beyond it, a mean is a warning"),
        "critical": (False, "strictly beyond it, critical"),
    },
    facts=Section(
        "What `when` may ask for",
        'Values are texts: write `answerable = ["false"]`. What cannot be told of a sample matches'
        " nothing.",
    ),
    symptom="one of the symptoms above",
    stratum=("any other name", "a stratum of the samples, such as `country`"),
    example_title="A whole file",
    example=_EXAMPLE,
)

LABELS = Labels(
    common=wording("en"),
    title="Catalogue of causes",
    about="What may be wrong where a score is low, how to make sure, and what to change."
    " `ragauge diagnose --catalogue` prints it, `--lang zh` in Chinese, and"
    " `--metrics faithfulness` only what concerns that metric.",
    count="{n} entries, {causes} of them causes that are ranked by evidence",
    only="Only what concerns {metrics}.",
    no_entry="No entry is about {metrics}. A rule of your own can be:"
    " `ragauge diagnose --catalogue` without `--metrics` shows how to write one.",
    columns=Columns(
        metric="metric",
        better="better",
        warning="warning",
        critical="critical",
        limit="limit",
        entries="entries",
        symptom="symptom",
        seen="what is seen",
        tolerated="tolerated",
        causes="causes",
        sign="sign",
        bits="if seen",
        bits_if_not="if not",
        step="what to change",
        knob="knob",
        costs="costs",
        worsens="may worsen",
        field="field",
        needed="needed",
        meaning="what it says",
        fact="fact",
        values="values",
    ),
    judged=Section(
        "Thresholds of the judged metrics",
        "Of the mean, strictly beyond: 0.7 is not below 0.7. They hold under any tool's name for"
        " the metric, our lexical ones among them.",
    ),
    usual=Section(
        "Usual limits of our own metrics",
        "The bounds of the presets and profiles; a mean strictly beyond one is a warning.",
    ),
    contents=Section("By metric", "Which entries to read where a metric is beyond its limit."),
    ranking=Section(
        "How causes are ranked",
        "A sample that went wrong shows symptoms. It is shared among the causes that can bring a"
        " symptom about, and signs decide how.\n"
        "A sign weighs bits: some where it is seen, others where it was looked for in vain. Three"
        " bits make a cause eight times as likely as one that the sign says nothing of; below zero"
        " they speak against it. A sign that cannot be told weighs nothing, or a little against a"
        " cause that needs it.\n"
        "A cause that needs a sign is struck out where no sample shows it, and cannot be told where"
        " no sample tells of it. A cause is called likely where more samples fall to it than are"
        " tolerated, beyond chance.",
    ),
    symptoms=Section(
        "Symptoms", "Tolerated is the share of samples that show it in a sound system, too."
    ),
    families={
        "cause": Section(
            "Causes", "Ranked by `ragauge diagnose`: what speaks for each is weighed in bits."
        ),
        "answers": Section("Answers", "Advice of `ragauge eval answers` and `ragauge eval qa`."),
        "entities": Section("Entities", "Advice of `ragauge eval ner`."),
        "labels": Section("Labels", "Advice of `ragauge eval types`."),
        "linking": Section("Linking", "Advice of `ragauge eval linking`."),
        "quality": Section("Quality", "Advice of `ragauge score`."),
        "retrieval": Section("Retrieval", "Advice of `ragauge eval retrieval`."),
        "stability": Section("Stability", "Advice of `ragauge stability`."),
        "traceability": Section("Traceability", "Advice of `ragauge trace-eval`."),
    },
    other_family="Entries of {family}",
    shows_in="Metrics",
    shows_as="Shows as",
    seen_in="Speaks for it",
    applies="Applies where",
    scores="only with ",
    no_signs="No sign tells it from others: its symptoms alone speak for it.",
    weighs="{bits} bits",
    weighs_if_not="{bits} if not",
    needed="needed",
    yes="yes",
    no="no",
    higher="higher",
    lower="lower",
    comma=", ",
    alternatives=" or ",
    is_one_of=" is ",
    count_frame=("{n} of {of} that went wrong: ",),
    own=_OWN,
)
