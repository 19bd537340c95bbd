"""The bundled heritage set is well formed."""

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "src" / "ragauge" / "demo" / "heritage"
SLUG = r"[a-z0-9]+(?:-[a-z0-9]+)*"
HEADER = re.compile(
    r"# [^\n]+\nlanguage: (en|nl)\ncustodian_type: (museum|archive|library|practice)\n"
    r"country: ([A-Z]{2}|INT)\n\n"
)
IMPERATIVE = re.compile(r"^(Explain|List|Name|Describe|Compare|Leg uit|Noem|Vergelijk)\b")


def read_lines(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def read_documents():
    """Return ({doc_id: strata}, {chunk_id: paragraph}); a document out of format fails here."""
    strata, chunks = {}, {}
    for path in sorted((ROOT / "documents").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        head = HEADER.match(text)
        assert head and re.fullmatch(SLUG, path.stem), path.name
        strata[path.stem] = dict(
            zip(("language", "custodian_type", "country"), head.groups(), strict=True)
        )
        sections = text[head.end() :].removesuffix("\n").split("\n\n")
        assert 2 <= len(sections) <= 4, path.name
        for section in sections:
            match = re.fullmatch(rf"## ({SLUG})\n([^\n]+)", section)
            assert match, (path.name, section)
            chunk_id = f"{path.stem}#{match[1]}"
            assert chunk_id not in chunks, chunk_id
            chunks[chunk_id] = match[2]
    return strata, chunks


def canonical(text):
    text = unicodedata.normalize("NFKC", text).casefold()
    kept = (
        " " if c == "-" else c for c in text if c == "-" or unicodedata.category(c)[0] not in "PS"
    )
    return " ".join("".join(kept).split())


def contains(claim, phrase):
    claim, phrase = canonical(claim), canonical(phrase)
    if len(phrase) < 5:
        return re.search(rf"\b{re.escape(phrase)}\b", claim) is not None
    return phrase in claim


STRATA, CHUNKS = read_documents()
GOLD = read_lines("gold.jsonl")
ANSWERABLE = [g for g in GOLD if g["answerable"]]


def test_documents_are_many_bilingual_and_short():
    assert len(STRATA) >= 66
    dutch = sum(s["language"] == "nl" for s in STRATA.values()) / len(STRATA)
    assert 0.35 <= dutch <= 0.45
    assert {"NL", "BE", "GB", "FR", "DE", "US", "IT", "ES", "CN", "EG"} <= {
        s["country"] for s in STRATA.values()
    }
    assert {c: len(p.split()) for c, p in CHUNKS.items() if not 35 <= len(p.split()) <= 90} == {}
    markup = re.compile(r"[*_`\[\]<>#]|^[-+>] |https?:|  ")
    assert [c for c, p in CHUNKS.items() if markup.search(p)] == []


def test_gold_has_the_promised_shape():
    keys = [
        "qid",
        "question",
        "answerable",
        "gold_claim_substr",
        "gold_claim",
        "gold_citations",
        "constraints",
        "paraphrases",
        "target_section",
        "anchor",
        "decoy",
        "strata",
    ]
    for number, g in enumerate(GOLD, 1):
        assert g["qid"] == f"h{number:03d}"
        spans = {"target_section", "anchor", "decoy"}
        unanswered = {"constraints", "gold_claim", *spans}
        optional = {"constraints"} if g["answerable"] else unanswered
        assert list(g) == [k for k in keys if k in g or k not in optional], g["qid"]
        assert list(g["strata"]) == ["custodian_type", "country", "language", "question_type"], g[
            "qid"
        ]
        assert g["strata"]["custodian_type"] in {"museum", "archive", "library", "practice"}, g[
            "qid"
        ]
        assert len(g.get("constraints", ["none"])) == 1, g["qid"]
        wordings = {canonical(w) for w in [g["question"], *g["paraphrases"]]}
        assert len(g["paraphrases"]) == 3 and len(wordings) == 4, g["qid"]


def test_no_wording_belongs_to_two_questions():
    wordings = Counter(canonical(w) for g in GOLD for w in [g["question"], *g["paraphrases"]])
    assert [w for w, n in wordings.items() if n > 1] == []


def test_gold_mix_holds_enough_of_every_kind():
    assert len(GOLD) >= 72 and len(GOLD) - len(ANSWERABLE) >= 21
    assert 0.65 <= len(ANSWERABLE) / len(GOLD) <= 0.75
    types = Counter(g["strata"]["question_type"] for g in GOLD)
    assert (
        set(types) == {"factual", "comparative", "relationship", "temporal"}
        and min(types.values()) >= 8
    )
    assert 8 <= sum("constraints" in g for g in GOLD) <= 12
    assert 0.15 <= sum(bool(IMPERATIVE.match(g["question"])) for g in GOLD) / len(GOLD) <= 0.25


def test_answerable_questions_rest_on_the_cited_sections():
    for g in ANSWERABLE:
        cited, phrases = g["gold_citations"], g["gold_claim_substr"]
        assert 1 <= len(phrases) <= 3 and 1 <= len(cited) <= 2 and set(cited) <= set(CHUNKS), g[
            "qid"
        ]
        assert any(p.casefold() in CHUNKS[c].casefold() for p in phrases for c in cited), g["qid"]
        assert any(contains(g["gold_claim"], p) for p in phrases), g["qid"]
        assert g["strata"]["question_type"] != "comparative" or len(cited) == 2, g["qid"]
        documents = [STRATA[c.split("#")[0]] for c in cited]
        assert {d["language"] for d in documents} == {g["strata"]["language"]}, g["qid"]
        assert documents[0].items() <= g["strata"].items(), g["qid"]


def test_unanswerable_questions_promise_nothing():
    for g in GOLD:
        if not g["answerable"]:
            assert g["gold_claim_substr"] == g["gold_citations"] == [] and "gold_claim" not in g, g[
                "qid"
            ]
            assert not {"target_section", "anchor", "decoy"} & g.keys(), g["qid"]


def text_at(span):
    assert list(span) == ["doc_id", "section_id", "start", "end"]
    content = (ROOT / "documents" / f"{span['doc_id']}.md").read_bytes().decode()
    assert 0 <= span["start"] < span["end"] <= len(content)
    return content[span["start"] : span["end"]]


def section_of(span):
    return CHUNKS[f"{span['doc_id']}#{span['section_id']}"]


def test_the_target_is_a_whole_section_that_is_cited():
    for g in ANSWERABLE:
        target = g["target_section"]
        assert text_at(target) == section_of(target), g["qid"]
        assert f"{target['doc_id']}#{target['section_id']}" in g["gold_citations"], g["qid"]


def test_the_anchor_is_whole_sentences_of_the_target_that_hold_a_gold_phrase():
    for g in ANSWERABLE:
        anchor, target = g["anchor"], g["target_section"]
        said = text_at(anchor)
        assert {k: anchor[k] for k in ("doc_id", "section_id")}.items() <= target.items(), g["qid"]
        assert target["start"] <= anchor["start"] < anchor["end"] <= target["end"], g["qid"]
        assert any(contains(said, phrase) for phrase in g["gold_claim_substr"]), g["qid"]
        before, _, after = section_of(anchor).partition(said)
        assert said[0].isupper() and said.endswith("."), g["qid"]
        assert before[-2:] in ("", ". ") and after[:1] in ("", " "), g["qid"]


def test_the_decoy_is_as_long_and_stands_in_a_section_that_does_not_answer():
    for g in ANSWERABLE:
        anchor, decoy = g["anchor"], g["decoy"]
        words = text_at(decoy)
        assert decoy["end"] - decoy["start"] == anchor["end"] - anchor["start"], g["qid"]
        assert decoy["doc_id"] == anchor["doc_id"], g["qid"]
        assert f"{decoy['doc_id']}#{decoy['section_id']}" not in g["gold_citations"], g["qid"]
        assert words in section_of(decoy) and words == words.strip(), g["qid"]
        assert not any(contains(words, phrase) for phrase in g["gold_claim_substr"]), g["qid"]
        assert re.search(rf"(?<!\w){re.escape(words)}(?!\w)", section_of(decoy)), g["qid"]
