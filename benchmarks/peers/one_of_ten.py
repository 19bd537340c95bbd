"""Scores ten samples of which nine fail, with one tool's default settings, and prints what it said.

python -m benchmarks.peers.one_of_ten ragas

Prints one JSON object: what the tool's own summary says, the CPU seconds of its import, and how
many hosts other than this machine it tried to reach meanwhile.
"""

import contextlib
import io
import json
import logging
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

SAMPLES = 10
FAILURE = "the system gave no answer"


def ragas() -> Callable[[], str]:
    from ragas import EvaluationDataset, SingleTurnSample, evaluate
    from ragas.metrics import StringPresence

    class FailsButOnce(StringPresence):  # type: ignore[misc]
        async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:
            if sample.response != "answer 0":
                raise RuntimeError(FAILURE)
            return 1.0

    rows = [
        SingleTurnSample(user_input="q", response=f"answer {i}", reference="answer")
        for i in range(SAMPLES)
    ]
    dataset, metric = EvaluationDataset(samples=rows), FailsButOnce(name="present")
    return lambda: f"`{evaluate(dataset, metrics=[metric], show_progress=False)!r}`"


def deepeval() -> Callable[[], str]:
    from deepeval import evaluate
    from deepeval.evaluate import ErrorConfig
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase

    class FailsButOnce(BaseMetric):  # type: ignore[misc]
        threshold, async_mode, include_reason = 0.9, False, False
        __name__ = "present"

        def measure(self, case: Any, *_: Any, **__: Any) -> float:
            if case.input != "question 0":
                raise RuntimeError(FAILURE)
            self.score, self.success = 1.0, True
            return self.score

        async def a_measure(self, case: Any, *_: Any, **__: Any) -> float:
            return self.measure(case)

        def is_successful(self) -> bool:
            return bool(self.success)

    cases = [LLMTestCase(input=f"question {i}", actual_output="a") for i in range(SAMPLES)]

    def summary() -> str:
        try:
            evaluate(cases, [FailsButOnce()])
        except RuntimeError as error:
            first = f"stops with `RuntimeError: {error}`"
        else:
            first = "finishes"
        config = ErrorConfig(ignore_errors=True)
        results = evaluate(cases, [FailsButOnce()], error_config=config).test_results
        passed = sum(bool(result.success) for result in results)
        return f"{first}; with `ignore_errors` {passed} passed, {len(results) - passed} failed"

    return summary


def ragauge() -> Callable[[], str]:
    from ragauge import score

    def summary() -> str:
        with tempfile.TemporaryDirectory() as folder:
            gold, traces = Path(folder, "gold.jsonl"), Path(folder, "traces.jsonl")
            gold.write_text("".join(_gold_line(i) for i in range(SAMPLES)))
            traces.write_text("".join(_trace_line(i) for i in range(SAMPLES)))
            report = score(gold, traces, gates="precision_strict>=0.9").report
        gate = next(one for one in report.gates if one.metric == "quality.precision_strict")
        found = report.metrics[gate.metric]
        return f"{found.value} from {found.n} of {found.of}; the gate is `{gate.verdict}`"

    return summary


def _gold_line(i: int) -> str:
    wanted = {"gold_claim_substr": ["answer"], "gold_citations": ["p#1"]}
    return (
        json.dumps({"qid": f"q{i}", "question": f"Question {i}?", "answerable": True} | wanted)
        + "\n"
    )


def _trace_line(i: int) -> str:
    answered = {
        "answer_json": {"claim": "the answer", "citations": ["p#1"]},
        "retrieved_ids": ["p#1"],
    }
    failed = {"status": "error", "error": FAILURE}
    return json.dumps({"qid": f"q{i}"} | (failed if i else answered)) + "\n"


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    hosts: set[str] = set()

    def watch(event: str, given: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo" and given[0]:
            hosts.add(str(given[0]))
        elif event == "socket.connect" and isinstance(given[1], tuple):
            hosts.add(str(given[1][0]))

    sys.addaudithook(watch)
    started = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        summary = {"ragas": ragas, "deepeval": deepeval, "ragauge": ragauge}[sys.argv[1]]()
        import_s = time.process_time() - started
        said = summary()
        time.sleep(3)  # some tools report in the background
    outside = sorted(host for host in hosts if not re.match(r"127\.|::1|localhost", host))
    print(json.dumps({"said": said, "import_s": import_s, "hosts": len(outside)}))


if __name__ == "__main__":
    main()
