"""Vectors from an endpoint: batched, checked, brought to length one, in the order of the texts."""

import asyncio
import hashlib
import json

import numpy as np
import pytest

from ragauge.errors import UsageError
from ragauge.models import endpoint_embedder
from ragauge.models.embedders import embedder
from ragauge.models.endpoint import Limits
from ragauge.models.endpoint_embedder import CachingEmbedder, EndpointEmbedder, batches
from tests.models.judge_server import chatting, refuses
from tests.pipelines.misbehaving import BEHAVIOURS, RETRY_AFTER_S

DIMENSION = 6


def vector(text):
    """A vector that depends on the text alone; it is not of length one."""
    return [byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSION]]


def unit(text):
    whole = np.array(vector(text))
    return (whole / np.sqrt((whole**2).sum())).astype(np.float32)


def embeddings(texts, *, reverse=True):
    """A reply of the protocol; the order of its list means nothing."""
    rows = [
        {"object": "embedding", "index": at, "embedding": vector(text)}
        for at, text in enumerate(texts)
    ]
    return {"object": "list", "data": rows[::-1] if reverse else rows}


def embeds(asked):
    return embeddings(asked.body["input"])


TEXTS = ["The museum opened.", "", "A library", "  \n", "The museum opened.", "é" * 50]


def test_each_text_has_its_row_of_length_one():
    with chatting(embeds) as server:
        used = embedder(f"{server.at('v1')}#small/embedder")
        rows = used.embed(TEXTS)
        assert used.id == "endpoint:small/embedder:6" and used.dimension == 6
    assert rows.shape == (6, 6) and rows.dtype == np.float32
    for row, text in zip(rows, TEXTS, strict=True):
        assert np.allclose(row, unit(text) if text.strip() else 0, atol=1e-6)
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.body["model"] == "small/embedder"
    assert "" not in request.body["input"] and len(request.body["input"]) == 4


def test_the_dimension_is_asked_for_where_it_is_not_known():
    with chatting(embeds) as server:
        used = embedder(f"{server.at('v1')}#m")
        assert used.id == "endpoint:m:6"
        assert used.embed([]).shape == (0, 6) and used.embed([""]).shape == (1, 6)
    assert len(server.requests) == 1


def test_no_request_is_too_large_and_texts_of_like_length_go_together(monkeypatch):
    monkeypatch.setattr(endpoint_embedder, "MOST_TEXTS", 4)
    monkeypatch.setattr(endpoint_embedder, "MOST_BYTES", 100)
    texts = [f"{n:03}" * (1 + n * 7 % 13) for n in range(40)] + ["x" * 500]
    with chatting(embeds) as server:
        rows = EndpointEmbedder(server.at("v1"), "m").embed(texts)
    assert all((row == unit(text)).all() for row, text in zip(rows, texts, strict=True))
    sent = [body["input"] for body in server.bodies]
    assert sorted(text for batch in sent for text in batch) == sorted(texts)
    assert max(map(len, sent)) == 4
    assert all(sum(map(len, batch)) <= 100 or len(batch) == 1 for batch in sent)
    for batch in sent:
        assert [len(text) for text in batch] == sorted(len(text) for text in batch)


def test_batches_lose_nothing():
    for texts in ([], ["a"], ["a" * 70_000], ["a", "é" * 32_000, "b"]):
        assert [text for batch in batches(texts) for text in batch] == texts


def test_an_embedder_may_be_used_where_a_loop_runs():
    with chatting(embeds) as server:
        used = EndpointEmbedder(server.at("v1"), "m")

        async def run():
            return used.embed(["museum"])

        assert (asyncio.run(run())[0] == unit("museum")).all()


def test_half_a_character_is_a_text_too():
    with chatting(embeds) as server:
        rows = EndpointEmbedder(server.at("v1"), "m").embed(["\ud800 museum"])
    assert (rows[0] == unit("? museum")).all()


def test_a_text_that_comes_back_is_not_sent_again():
    with chatting(embeds) as server:
        used = CachingEmbedder(embedder(f"{server.at('v1')}#m"))
        first, second = used.embed(["museum", "library"]), used.embed(["library", "museum"])
    assert (first == second[::-1]).all() and len(server.requests) == 1


@pytest.mark.parametrize("fault", ["429", "500", "cut", "reset", "html"])
def test_a_passing_fault_is_waited_out(fault, waits):
    def script(asked):
        return BEHAVIOURS[fault] if asked.number == 1 else embeds(asked)

    with chatting(script) as server:
        rows = EndpointEmbedder(server.at("v1"), "m").embed(["museum"])
    assert (rows[0] == unit("museum")).all()
    assert len(waits) == 1 and (fault != "429" or waits == [RETRY_AFTER_S])


def changed(**fields):
    def script(asked):
        reply = embeds(asked)
        reply["data"][0] |= fields
        return reply

    return script


def shorter(asked):
    return {"data": embeds(asked)["data"][1:]}


BAD = {
    "a vector too few": (shorter, "2 texts were sent, and 1 vectors came"),
    "the same place twice": (changed(index=0), "or not one for each"),
    "a place that is none": (changed(index=7), "or not one for each"),
    "no place": (changed(index=None), "no list of embeddings"),
    "texts for numbers": (changed(embedding=["a"]), "no list of embeddings"),
    "numbers packed as text": (changed(embedding="AAAA"), "no list of embeddings"),
    "another dimension": (changed(embedding=[1.0, 2.0]), "numbers, and the first had"),
    "an endless vector": (changed(embedding=[1e308] * DIMENSION), "too long for a number"),
    "no data": (lambda asked: {"error": "busy"}, "no list of embeddings"),
    "a model that is not there": (lambda asked: refuses("no such model: m"), "no such model: m"),
    "nobody": (lambda asked: BEHAVIOURS["reset"], "disconnected: "),
}


@pytest.mark.parametrize("what", BAD)
def test_vectors_that_cannot_be_used_are_an_error_in_words(what, waits):
    script, fact = BAD[what]
    with chatting(script) as server:
        used = EndpointEmbedder(server.at("v1"), "m", limits=Limits(attempts=2))
        with pytest.raises(
            UsageError, match=r"^embedder m: .*; look whether the endpoint"
        ) as error:
            used.embed(["museum", "library"])
    assert fact in str(error.value)


def test_a_vector_of_nothing_stays_nothing():
    with chatting(changed(embedding=[0.0] * DIMENSION)) as server:
        rows = EndpointEmbedder(server.at("v1"), "m").embed(["museum"])
    assert not rows.any() and rows.shape == (1, DIMENSION)


def test_a_key_is_sent_and_never_shown(monkeypatch, waits):
    canary = "sk-canary-88c1d2"
    monkeypatch.setenv("RAGAUGE_EMBEDDER_KEY", canary)
    monkeypatch.setenv("RAGAUGE_JUDGE_KEY", "of-the-judge")

    def quoting(asked):
        return lambda call: call.send(json.dumps(call.request.headers).encode(), "401 No")

    with chatting(quoting) as server:
        used = embedder(f"{server.at('v1')}#m")
        with pytest.raises(UsageError) as error:
            used.embed(["museum"])
    assert server.requests[0].headers["authorization"] == f"Bearer {canary}"
    assert canary not in str(error.value) + repr(used) and "***" in str(error.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("http://h:1/v1", "written with its model"),
        ("http://h:1/v1#", "written with its model"),
        ("http://:x/v1#m", "URL"),
        ("word2vec", r"there are ngram, minilm, minilm:/path and http://host:port/v1#model"),
    ],
)
def test_a_name_that_is_none_is_refused_in_words(name, words):
    with pytest.raises(UsageError, match=words):
        embedder(name)
