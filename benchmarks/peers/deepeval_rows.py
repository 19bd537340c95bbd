"""Times deepeval on the generated traces, without any model.

python -m benchmarks.peers.deepeval_rows --gold GOLD.jsonl --traces TRACES.jsonl --limit 2000

deepeval has no metric of its own for phrases and citations, so it runs a custom one whose work is
next to nothing: what is timed is the library around it.
"""

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.samples import Sample, read_samples
from benchmarks.peers.stopwatch import arguments, cost_line, cost_of

SETTINGS = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_NO_INSPECT_PROMPT": "1",
}
TUNED = {"DEEPEVAL_DISABLE_TIMEOUTS": "1"}


def make_case(sample: Sample) -> Any:
    from deepeval.test_case import LLMTestCase

    return LLMTestCase(
        input=sample.question,
        actual_output=sample.claim,
        expected_output=sample.phrase,
        context=sample.gold_ids,
        retrieval_context=sample.cited_ids,
    )


def make_metric() -> Any:
    """A metric that is 1 where the claim holds the phrase and a cited id is gold."""
    from deepeval.metrics import BaseMetric

    class ContainedAndHit(BaseMetric):
        threshold = 1.0
        async_mode = False
        include_reason = False

        def measure(self, case: Any, *_: Any, **__: Any) -> float:
            contained = case.expected_output.lower() in case.actual_output.lower()
            hit = not set(case.context).isdisjoint(case.retrieval_context)
            self.score = float(contained and hit)
            self.success = self.score >= self.threshold
            return self.score

        async def a_measure(self, case: Any, *_: Any, **__: Any) -> float:
            return self.measure(case)

        def is_successful(self) -> bool:
            return bool(self.success)

        @property
        def __name__(self) -> str:
            return "Contained and hit"

    return ContainedAndHit()


def evaluate_call(cases: list[Any]) -> Callable[[], object]:
    """deepeval's own entry point as it comes, but for what it would show."""
    from deepeval import evaluate
    from deepeval.evaluate import DisplayConfig

    display = DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False)
    return lambda: evaluate(cases, [make_metric()], display_config=display)


def tuned_call(cases: list[Any]) -> Callable[[], object]:
    """The same with its cheapest settings.

    In sequence (its asynchronous mode takes twice the CPU time), nothing shown, nothing cached.
    """
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig

    display = DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False)
    return lambda: evaluate(
        cases,
        [make_metric()],
        async_config=AsyncConfig(run_async=False),
        display_config=display,
        cache_config=CacheConfig(write_cache=False, use_cache=False),
    )


def measure_call(cases: list[Any]) -> Callable[[], object]:
    """The metric alone, in a loop."""
    metric = make_metric()
    return lambda: [metric.measure(case) for case in cases]


CALLS = {"evaluate": evaluate_call, "tuned": tuned_call, "measure": measure_call}


def main() -> None:
    given = arguments(__doc__.splitlines()[0], tuple(CALLS))
    os.environ.update(SETTINGS | (TUNED if given.call == "tuned" else {}))
    samples = read_samples(given.gold, given.traces, given.limit)
    # deepeval keeps its latest run in the working folder and prints a summary all the same.
    with in_temporary_folder(), contextlib.redirect_stdout(io.StringIO()):
        cost = cost_of(CALLS[given.call]([make_case(sample) for sample in samples]))
    print(cost_line("deepeval", given.call, len(samples), cost))


@contextlib.contextmanager
def in_temporary_folder() -> Iterator[None]:
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(home)


if __name__ == "__main__":
    main()
