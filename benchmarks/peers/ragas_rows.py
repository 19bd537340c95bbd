"""Times ragas on the generated traces, without any model.

python -m benchmarks.peers.ragas_rows --gold GOLD.jsonl --traces TRACES.jsonl --limit 2000

`StringPresence` asks whether the answer holds the gold phrase, `IDBasedContextPrecision`, given
the cited ids in place of the retrieved ones, whether they are gold. These two are the nearest that
ragas has to claim_containment and citation_hit_rate; it compares raw text, not canonical text.
"""

import asyncio
import logging
import os
import warnings
from collections.abc import Callable
from typing import Any

from benchmarks.peers.samples import Sample, read_samples
from benchmarks.peers.stopwatch import arguments, cost_line, cost_of


def quieten() -> None:
    """Switches off usage tracking and the warnings that would be printed for each sample."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)


def make_sample(sample: Sample) -> Any:
    from ragas import SingleTurnSample

    return SingleTurnSample(
        user_input=sample.question,
        response=sample.claim,
        reference=sample.phrase,
        retrieved_context_ids=sample.cited_ids,
        reference_context_ids=sample.gold_ids,
    )


def make_metrics() -> list[Any]:
    from ragas.metrics import IDBasedContextPrecision, StringPresence

    return [StringPresence(), IDBasedContextPrecision()]


def evaluate_call(samples: list[Any], metrics: list[Any]) -> Callable[[], object]:
    """ragas's own entry point, with its cheapest settings.

    No progress bar, no patched loop, no timers, no semaphore; errors are raised, lest a failed
    metric be timed as a scored one.
    """
    from ragas import EvaluationDataset, RunConfig, evaluate

    dataset = EvaluationDataset(samples=samples)
    options = {"show_progress": False, "allow_nest_asyncio": False, "raise_exceptions": True}
    config = RunConfig(max_workers=-1, timeout=None)
    return lambda: evaluate(dataset, metrics=metrics, run_config=config, **options)


def measure_call(samples: list[Any], metrics: list[Any]) -> Callable[[], object]:
    """The metrics alone, awaited one after the other."""

    async def score_all() -> None:
        for sample in samples:
            for metric in metrics:
                await metric.single_turn_ascore(sample)

    return lambda: asyncio.run(score_all())


CALLS = {"evaluate": evaluate_call, "measure": measure_call}


def main() -> None:
    given = arguments(__doc__.splitlines()[0], tuple(CALLS))
    quieten()
    samples = [make_sample(s) for s in read_samples(given.gold, given.traces, given.limit)]
    cost = cost_of(CALLS[given.call](samples, make_metrics()))
    print(cost_line("ragas", given.call, len(samples), cost))


if __name__ == "__main__":
    main()
