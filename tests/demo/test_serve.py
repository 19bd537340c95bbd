"""`ragauge demo serve`: a real server, not ready before everything is green."""

import asyncio
import json
import re
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from itertools import chain

import pytest

from ragauge.contracts.system import Ask
from ragauge.demo.index import Index
from ragauge.demo.knobs import Knobs
from ragauge.demo.pipeline import Pipeline
from ragauge.demo.serve import Service
from ragauge.models.embedders import NgramEmbedder
from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge

QUESTION = "Who gave the Ashmolean Museum its first collection?"


class Served:
    """A served pipeline and its log so far."""

    def __init__(self, process):
        self.process, self.log = process, []
        self.url = self._wait_for(r"running on (http://\S+)")[1]

    def _wait_for(self, pattern):
        """The first line of the log that matches, read already or still to come."""
        for line in chain(list(self.log), self._lines()):
            if found := re.search(pattern, line):
                return found
        raise AssertionError("".join(self.log))

    def _lines(self):
        for line in self.process.stderr:
            self.log.append(line)
            yield line

    def wait_until_ready(self):
        self._wait_for(r" ready$")

    def wait_until_red(self):
        return self._wait_for(r"phase (\w+): red: (.*)")

    def get(self, path, body=None, **headers):
        data = None if body is None else json.dumps(body).encode() if body != "" else b"{"
        request = urllib.request.Request(self.url + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            content = error.read().decode()
            return error.code, json.loads(content) if content.startswith("{") else content


@pytest.fixture
def serve():
    """A function that serves the pipeline with options."""
    processes = []

    def run(*options):
        process = subprocess.Popen(
            [RAGAUGE, "demo", "serve", "--port", "0", *options],
            stderr=subprocess.PIPE,
            env=QUIET_ENVIRONMENT,
            text=True,
        )
        processes.append(process)
        # A server that says nothing must not keep the tests waiting for ever.
        watchdog = threading.Timer(60, process.kill)
        watchdog.daemon = True
        watchdog.start()
        return Served(process)

    yield run
    for process in processes:
        process.kill()
        process.communicate()


def test_it_answers_in_the_shape_of_the_brief_once_every_phase_is_green(serve, tmp_path):
    served = serve()
    served.wait_until_ready()
    assert served.get("/livez") == (200, {"live": True})
    status, ready = served.get("/readyz")
    assert (status, ready["ready"]) == (200, True)
    assert all(state.startswith("green") for state in ready["phases"].values())
    logged = [line for line in served.log if "phase" in line]
    order = ["configuration", "manifest", "index", "model", "smoke"]
    assert [re.search(r"phase (\w+)", line)[1] for line in logged] == order
    status, reply = served.get("/qa", {"q": QUESTION, "seed": 1, "temperature": 0, "knobs": {}})
    assert status == 200
    assert "Elias Ashmole" in reply["answer_json"]["claim"]
    assert reply["answer_json"]["citations"] == ["ashmolean-museum#history"]
    assert reply["retrieved"][0]["snippet_id"] == reply["retrieved_ids"][0]
    assert set(reply["stage_ms"]) == {"retrieve", "generate"}
    gold = tmp_path / "gold.jsonl"
    gold.write_text(
        json.dumps(
            {
                "qid": "q1",
                "question": QUESTION,
                "answerable": True,
                "gold_claim_substr": ["Elias Ashmole"],
                "gold_citations": ["ashmolean-museum#history"],
            }
        )
    )
    swept = ragauge(
        *("sweep", gold, "--http", served.url + "/qa", "--out", tmp_path / "runs.jsonl"),
        *("--preset", "pr", "--quiet"),
    )
    assert swept.returncode == 0, swept.stderr
    assert ragauge("stability", gold, tmp_path / "runs.jsonl").returncode == 0


BAD_BODIES = {
    "no JSON": ("", "JSON"),
    "no question": ({"seed": 1}, "q"),
    "an empty question": ({"q": "  "}, "q is empty"),
    "an overlong question": ({"q": "what is it " * 90_000}, "4,000"),
    "a seed that is text": ({"q": "Why?", "seed": "x"}, "seed"),
    "an unknown knob": ({"q": "Why?", "knobs": {"top": 3}}, "top_k"),
    "an unknown fault": ({"q": "Why?", "knobs": {"faults": ["slowly"]}}, "slow"),
}


def test_bad_requests_get_words_and_faults_get_what_they_are(serve):
    served = serve()
    served.wait_until_ready()
    for body, words in BAD_BODIES.values():
        status, reply = served.get("/qa", body)
        assert (status, words in reply["error"]) == (400, True), reply
    status, reply = served.get("/qa", {"q": "Why?", "knobs": {"faults": ["failing=1"]}})
    assert status == 500
    assert "failing" in reply["error"]
    assert served.get("/qa")[0] == 405
    assert served.get("/elsewhere")[0] == 404
    assert served.get("/livez", Host="evil.example")[0] == 400


def test_a_smoke_set_that_fails_its_gates_keeps_it_unready(serve, tmp_path):
    smoke = tmp_path / "smoke.jsonl"
    smoke.write_text(
        json.dumps(
            {"qid": "s", "question": QUESTION, "answerable": True, "gold_claim_substr": ["Nobody"],
             "gold_citations": ["nowhere#1"]}
        )
    )  # fmt: skip
    served = serve("--smoke", smoke)
    red = served.wait_until_red()
    assert red[1] == "smoke"
    assert "precision_strict" in red[2]
    status, ready = served.get("/readyz")
    assert (status, ready["ready"]) == (503, False)
    assert ready["phases"]["smoke"].startswith("red: gates fail")
    assert served.get("/livez")[0] == 200
    assert served.get("/qa", {"q": QUESTION})[0] == 503


def test_a_wrong_configuration_is_the_first_red_phase(serve):
    served = serve("--knobs", '{"top_k": 0}')
    red = served.wait_until_red()
    assert red[1] == "configuration"
    assert "top_k" in red[2]
    assert served.get("/readyz")[0] == 503


@pytest.mark.parametrize("fault", ["wrong_citations=1", "chatty_refusals=1", "failing=1"])
def test_a_fault_keeps_it_from_nothing_but_right_answers(serve, fault):
    served = serve("--fault", fault)
    served.wait_until_ready()
    asked = "Who won the World Cup in 1998?" if "refusals" in fault else QUESTION
    right = served.get("/qa", {"q": asked, "knobs": {"faults": []}})[1]["answer_json"]
    status, reply = served.get("/qa", {"q": asked})
    assert (status, reply.get("answer_json")) != (200, right)


class Gated(NgramEmbedder):
    """Embeds the question only once the gate is opened."""

    def __init__(self):
        super().__init__()
        self.reached, self.opened = threading.Event(), threading.Event()

    def embed(self, texts):
        if list(texts) == [QUESTION]:
            self.reached.set()
            assert self.opened.wait(20), "nobody could open the gate meanwhile"
        return super().embed(texts)


def test_the_event_loop_is_free_while_a_question_is_worked_on(tmp_path):
    (tmp_path / "one.md").write_text("# One\n\n## a\nThe Eiffel Tower opened in 1889.\n")
    gate = Gated()

    def build():
        return Pipeline(Index.of(tmp_path, gate), tmp_path, Knobs())

    async def ask():
        service = Service(build, tmp_path / "no smoke.jsonl")
        await service.start()
        asking = asyncio.create_task(service.ask(Ask(q=QUESTION)))
        await asyncio.to_thread(gate.reached.wait, 20)
        gate.opened.set()
        return await asking

    assert asyncio.run(ask())["answer_json"]["claim"] == "not in context"


def test_on_all_interfaces_any_host_may_be_named(serve):
    served = serve("--host", "0.0.0.0")
    assert any("listens on all interfaces" in line for line in served.log)
    assert served.get("/livez", Host="museum.example:8136") == (200, {"live": True})


def test_a_port_that_cannot_be_had_ends_in_words():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = {taken.getsockname()[1]: b"in use", 70_000: b"65535"}
        for port, words in ports.items():
            ended = ragauge("demo", "serve", "--port", port)
            assert ended.returncode == 2, ended.stderr
            assert words in ended.stderr
            assert b"Traceback" not in ended.stderr
    ended = ragauge("demo", "serve", "--port", "0", "--host", "nowhere.invalid")
    assert ended.returncode == 2
    assert b"Traceback" not in ended.stderr
