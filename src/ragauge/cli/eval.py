"""`ragauge eval`: the components of a system, each against gold of its own kind."""

from __future__ import annotations

import click

from ragauge.cli.main import Lazy

TASKS = {
    "ner": "Entities: strict, exact, partial and by token, with an error browser.",
    "types": "Types: accuracy, macro F1, confusion matrix, categories.",
    "linking": "Links: hits, MRR, NIL, end to end, consistency of knowledge bases.",
    "retrieval": "Rankings: nDCG, P, R, RR, AP and more, as trec_eval has them.",
    "qa": "Answers against gold, by type of question.",
    "answers": "Answers: groundedness, numbers, overlap, judged metrics.",
    "all": "All tasks of a model over heritage entries, in one report.",
    "convert": "Write annotated texts or rankings in another format.",
}


class Tasks(Lazy):
    table = TASKS

    def place(self, name: str) -> tuple[str, str]:
        return ("answering" if name in ("qa", "answers") else "evaluating"), f"eval_{name}"


@click.group(
    cls=Tasks,
    context_settings={"help_option_names": ["-h", "--help"]},
)
def eval() -> None:
    """Evaluate a component of a system: entities, types, links, retrieval or answers.

    Every number has an interval over documents, queries or answers, and says how much it covers.
    Without gates, everything in the gold must have been predicted.

    \b
    Example:
      ragauge eval retrieval qrels.txt run.txt
      ragauge eval answers answers.jsonl
      ragauge eval all --demo
    """
