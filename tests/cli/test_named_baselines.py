"""`--model spacy:…`, `zero-shot:…` and `wikidata:…`: baselines by name, and what they lack."""

import importlib.util
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.cli.command import in_a_process as ragauge

ENTRIES = [
    {
        "id": f"e{number}",
        "text": f"Het {mention} opende in 1800.",
        "ner_annotations": [
            {"text": mention, "type": "GRP.HER.MUS", "start": 4, "end": 4 + len(mention)}
        ],
        "type_classification": {"primary_type": "M", "secondary_types": []},
        "entity_linking": {mention: {"wikidata_id": id}},
    }
    for number, (mention, id) in enumerate(
        {"Rijksmuseum": "Q190804", "Mauritshuis": "Q221092", "Museum Nergens": None}.items(), 1
    )
]


@pytest.fixture
def entries(tmp_path):
    file = tmp_path / "entries.jsonl"
    file.write_text("".join(json.dumps(entry) + "\n" for entry in ENTRIES))
    return file


KNOWN = {"Rijksmuseum": ["Q190804"], "Mauritshuis": ["Q9", "Q221092"]}


class Wikidata(BaseHTTPRequestHandler):
    """Answers `wbsearchentities` for two names, as Wikidata does."""

    def do_GET(self):
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        self.server.queries.append(query)
        found = [{"id": id, "label": id} for id in KNOWN.get(query["search"], [])]
        body = json.dumps({"search": found, "success": 1}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture
def wikidata():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Wikidata)
    server.queries = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def refused(*arguments, **environment):
    done = ragauge("eval", "all", *arguments, **environment)
    assert done.returncode == 2, done
    assert b"Traceback" not in done.stderr
    return done.stderr.decode()


def test_a_wikidata_search_is_a_linker(entries, wikidata):
    search = f"http://me:secret@127.0.0.1:{wikidata.server_port}/w/api.php?language=nl"
    done = ragauge("eval", "all", entries, "--model", f"wikidata:{search}", "--format", "json")
    report = json.loads(done.stdout)
    linking = report["tasks"]["linking"]["metrics"]
    assert linking["linking.hits@1"]["value"] == 0.5
    assert linking["linking.mrr"]["value"] == 0.75
    assert linking["linking.nil_f1"]["value"] == 1.0
    assert {query["language"] for query in wikidata.queries} == {"nl"}
    assert report["model"] == f"wikidata:http://127.0.0.1:{wikidata.server_port}/w/api.php"
    assert b"secret" not in done.stdout + done.stderr


TRANSFORMERS = """
class Pipeline:
    def __call__(self, text, candidate_labels):
        known = [label for label in candidate_labels if label in text.lower()]
        rest = [label for label in candidate_labels if label not in known]
        return {"sequence": text, "labels": known + rest, "scores": [0.0] * len(candidate_labels)}


def pipeline(task, model):
    assert task == "zero-shot-classification"
    if model != "./mnli":
        raise OSError(f"{model} is not a local folder and is not a valid model identifier")
    return Pipeline()
"""


def test_a_zero_shot_classifier_gives_types(entries, tmp_path):
    """A stand-in with the interface of transformers: the real one brings torch with it."""
    (tmp_path / "transformers.py").write_text(TRANSFORMERS)
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    given = (entries, "--labels", "heritage", "--task", "types", "--format", "json")
    done = ragauge("eval", "all", *given, "--model", "zero-shot:./mnli", PYTHONPATH=path)
    metrics = json.loads(done.stdout)["tasks"]["types"]["metrics"]
    assert metrics["labels.accuracy"]["value"] == pytest.approx(2 / 3)  # the Mauritshuis says not
    told = refused(*given, "--model", "zero-shot:no/such", PYTHONPATH=path)
    assert 'transformers cannot load the model "no/such": OSError: no/such is not a local' in told
    assert "name a folder with the model" in told


@pytest.mark.parametrize(
    ("package", "model", "remedy"),
    [
        ("spacy", "spacy:nl_core_news_sm", "install it with `pip install spacy`"),
        ("transformers", "zero-shot:any/model", "`pip install transformers torch`"),
    ],
)
def test_a_missing_package_is_named_with_how_to_install_it(entries, package, model, remedy):
    if importlib.util.find_spec(package):
        pytest.skip(f"{package} is installed here")
    assert remedy in refused(entries, "--model", model)


@pytest.mark.parametrize(
    ("model", "fact"),
    [
        ("spacy:", "names no pipeline"),
        ("zero-shot:", "names no model"),
        ("wikidata:", "names no search; write a language"),
        ("wikidata:somewhere/api", "names no search; write a language"),
        ("wikidata:ftp://host/x", "is not one of http or https"),
    ],
)
def test_a_name_that_says_too_little(entries, model, fact):
    assert fact in refused(entries, "--model", model)
