"""Writes a gold set and traces for it, the same bytes for the same arguments.

python benchmarks/generate.py --traces 1000000 --questions 2000 --gold GOLD.jsonl --out TRACES.jsonl

A trace is about 1 KB. Half of them are dialect B (structured answers, joined by qid), half are
dialect A (answers as text, joined by the question). About 2 % hold text beyond ASCII. Every
question is traced once before any is traced twice.
"""

import argparse
import json
import unicodedata
from collections.abc import Callable, Iterator
from itertools import accumulate, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

ANSWERABLE_SHARE = 0.75
FOREIGN_QUESTION_EVERY = 100
FOREIGN_TRACE_SHARE = 0.01
LONG_PASSAGE_SHARE = 0.4
FIRST_TS = 1_750_000_000

FOUNDERS = ("Harbour", "City", "Royal", "Maritime", "Textile", "Weavers", "Railway", "Mission")
FOUNDERS += ("Botanical", "Brewers", "Printers", "Lace", "Pilgrim", "Customs", "Canal", "Guild")
HOUSES = ("Museum", "Archive", "Library", "Print Room", "Gallery", "Collection", "Chapel", "Mill")
PLACES = ("Delft", "Ghent", "York", "Lisbon", "Bergen", "Leiden", "Bruges", "Turin", "Cork", "Bath")
PLACES += ("Utrecht", "Antwerp", "Bremen", "Lyon", "Seville", "Krakow", "Riga", "Basel", "Trier")
PLACES += ("Haarlem", "Dublin", "Porto", "Vilnius", "Graz", "Siena", "Oslo", "Lund", "Aarhus")
FOREIGN_PLACES = (
    "Orléans",
    "Málaga",
    "Zürich",
    "Łódź",
    "Gießen",
    "Besançon",
    "東京",
    "北京",
    "京都",
)
PEOPLE = (
    "Anna Visser",
    "Peter Aldous",
    "Maria Conti",
    "Jan de Witt",
    "Ruth Hale",
    "Carl Lindqvist",
)
FOREIGN_PEOPLE = (
    "José Peña",
    "François Müller",
    "Zoë Strauß",
    "Ægir Øster",
    "丹下 健三",
    "貝 聿銘",
)
GUILDS = ("ship-builders'", "bell-founders'", "book-sellers'", "glass-blowers'", "cloth-cutters'")


class Fact(NamedTuple):
    """A question about a house, with what a right and a wrong answer say."""

    kind: str
    question: str
    phrases: tuple[str, ...]
    right: str
    wrong: str


# The wrong claims of the short phrases hold them inside a longer word ("18741", "eyes"), which
# only a match on word boundaries tells apart.
FACTS = (
    Fact(
        "temporal",
        "When did the {name} open its doors?",
        ("opened in {year}", "{year}"),
        "The {name} {phrase}.",
        "The {name} keeps {year}1 photographs in its reading room.",
    ),
    Fact(
        "factual",
        "How many objects does the {name} hold?",
        ("{count} objects",),
        "The {name} holds {phrase}, most of them on paper.",
        "The {name} holds a great many objects, most of them on paper.",
    ),
    Fact(
        "relationship",
        "Who designed the building of the {name}?",
        ("designed by {person}",),
        "The building of the {name} was {phrase}.",
        "The building of the {name} was designed by the town's own mason.",
    ),
    Fact(
        "relationship",
        "Which guild paid for the {name}?",
        ("the {guild} guild",),
        "It was {phrase} that paid for the {name}.",
        "The {name} was paid for by a lottery among the citizens.",
    ),
    Fact(
        "boolean",
        "Is the {name} open on Sundays?",
        ("yes",),
        "{phrase}, the {name} is open on Sundays.",
        "The {name} has drawn many eyes, mostly on weekdays.",
    ),
    Fact(
        "factual",
        "Where does the {name} stand?",
        ("stands in {place}",),
        "The {name} {phrase}, beside the old bridge.",
        "The {name} was moved more than once and has no fixed seat.",
    ),
)
# Facts whose gold phrase itself holds a foreign name: designer and place.
FOREIGN_FACTS = (FACTS[2], FACTS[5])

UNKNOWABLE = (
    "What will a ticket to the {name} cost next year?",
    "Which painting in the {name} do visitors like least?",
    "How often was the roof of the {name} repaired before it was built?",
    "What does the director of the {name} think of the new tram?",
)

SUBJECTS = ("The inventory", "A later catalogue", "The annual report", "An old guidebook")
SUBJECTS += ("The first curator", "A letter from the mayor", "The register of gifts", "One visitor")
VERBS = ("describes", "mentions", "does not mention", "lists", "praises", "corrects", "questions")
THINGS = ("the cabinet of coins and medals", "the maps of the lower river", "a set of tiles")
THINGS += ("the painted ceiling", "the loan of two altar pieces", "the cost of the new wing")
THINGS += ("a dispute about the north gate", "the portraits in the upper hall", "the lost keys")
ASIDES = ("which few readers noticed", "as was the custom then", "without giving a source")
ASIDES += ("and the note was copied twice", "though the page is damaged", "in a hand we know well")
FOREIGN_REMARKS = (
    "Le catalogue décrit la façade rénovée, où cette œuvre fut déposée en été.",
    "Die Übersicht erwähnt das Gemälde über der Straße, größer als gewöhnlich.",
    "El archivo conservó la colección de señales, según la última edición.",
    "目録には展示室の改修と寄贈品の一覧が記されている。",
    "馆藏目录提到了新的展厅并列出了捐赠者的姓名。",
)


class Question(NamedTuple):
    """A gold question together with the answers its traces may give."""

    qid: str
    text: str
    phrases: tuple[str, ...]
    gold_chunks: tuple[dict[str, str], ...]
    right_claims: tuple[str, ...]
    typographic_claims: tuple[str, ...]
    wrong_claim: str
    strata: dict[str, str]

    @property
    def answerable(self) -> bool:
        return bool(self.phrases)

    @property
    def gold_ids(self) -> tuple[str, ...]:
        return tuple(chunk["id"] for chunk in self.gold_chunks)


class Kind(NamedTuple):
    """One way for a trace to turn out: how often, what it cites, what it says."""

    weight: float
    says: str
    cites: str = "nothing"
    gold_retrieved: bool = True


ANSWERABLE_KINDS = (
    Kind(68.0, says="right", cites="gold"),
    Kind(8.0, says="right", cites="other"),
    Kind(7.0, says="wrong", cites="gold"),
    Kind(3.0, says="right", cites="gold and stray"),
    Kind(5.0, says="wrong", cites="other", gold_retrieved=False),
    Kind(1.5, says="right"),
    Kind(5.0, says="refusal"),
    Kind(1.5, says="near refusal"),
    Kind(0.8, says="error"),
    Kind(0.2, says="empty"),
)
UNANSWERABLE_KINDS = (
    Kind(88.0, says="refusal"),
    Kind(4.0, says="near refusal"),
    Kind(7.0, says="wrong", cites="other"),
    Kind(0.8, says="error"),
    Kind(0.2, says="empty"),
)

REFUSALS = ("not in context", "Not in context", " not in context ", "NOT  IN CONTEXT")
NEAR_REFUSALS = ("Not in context.", "- not in context", '"not in context"', "Not in context!")


def fullwidth_digits(phrase: str) -> str:
    return phrase.translate({ord(digit): 0xFEE0 + ord(digit) for digit in "0123456789"})


STYLES: tuple[Callable[[str], str], ...] = (
    str,
    str,
    str.upper,
    str.title,
    lambda phrase: phrase.replace(" ", "-"),
    lambda phrase: phrase.replace(" ", "  "),
    lambda phrase: phrase.replace(",", "").replace("'", ""),
    lambda phrase: phrase.replace("-", " "),
    lambda phrase: f'"{phrase}"',
    lambda phrase: phrase.replace(" ", ", ", 1),
)
TYPOGRAPHIC_STYLES: tuple[Callable[[str], str], ...] = (
    lambda phrase: f"\u201c{phrase}\u201d",
    lambda phrase: phrase.replace(" ", "\u2013"),
    lambda phrase: phrase.replace(" ", "\u00a0"),
    lambda phrase: f"\u2018{fullwidth_digits(phrase)}\u2019",
    lambda phrase: f"«{unicodedata.normalize('NFD', phrase)}»",
)


def make_questions(count: int, seed: int) -> list[Question]:
    """The gold questions, in qid order."""
    rng = Random(f"{seed} questions")
    return [make_question(number, rng) for number in range(count)]


def make_question(number: int, rng: Random) -> Question:
    foreign = number % FOREIGN_QUESTION_EVERY == FOREIGN_QUESTION_EVERY // 2
    places = FOREIGN_PLACES if foreign else PLACES
    place = places[number % len(places)]
    words = {
        "name": house_name(number, place),
        "place": place,
        "year": str(rng.randrange(1500, 1990)),
        "count": f"{rng.randrange(1_000, 900_000):,}",
        "person": rng.choice(FOREIGN_PEOPLE if foreign else PEOPLE),
        "guild": rng.choice(GUILDS),
    }
    strata = {"country": f"C{number % 12:02}", "language": "mul" if foreign else "en"}
    if rng.random() < ANSWERABLE_SHARE:
        fact = rng.choice(FOREIGN_FACTS if foreign else FACTS)
        return answerable_question(number, fact, words, strata, rng)
    return unanswerable_question(number, words, strata, rng)


def house_name(number: int, place: str) -> str:
    """A name that no other number has: the numbers count through founders, then houses."""
    rest, founder = divmod(number, len(FOUNDERS))
    wing, house = divmod(rest, len(HOUSES))
    return f"{FOUNDERS[founder]} {HOUSES[house]} of {place}, site {wing + 1}"


def answerable_question(
    number: int, fact: Fact, words: dict[str, str], strata: dict[str, str], rng: Random
) -> Question:
    phrases = tuple(phrase.format(**words) for phrase in fact.phrases)
    claims = [claim(fact, words, style(phrases[0])) for style in STYLES]
    gold = [{"id": f"p{number}#1", "text": claims[0]}]
    if rng.random() < 0.2:
        gold.append({"id": f"p{number}#2", "text": remark(rng)})
    return Question(
        qid=f"q{number:05}",
        text=fact.question.format(**words),
        phrases=phrases,
        gold_chunks=tuple(gold),
        right_claims=tuple(claims),
        typographic_claims=tuple(
            claim(fact, words, style(phrases[0])) for style in TYPOGRAPHIC_STYLES
        ),
        wrong_claim=fact.wrong.format(**words),
        strata=strata | {"question_type": fact.kind},
    )


def claim(fact: Fact, words: dict[str, str], phrase: str) -> str:
    text = fact.right.format(phrase=phrase, **words)
    return text[0].upper() + text[1:]


def unanswerable_question(
    number: int, words: dict[str, str], strata: dict[str, str], rng: Random
) -> Question:
    return Question(
        qid=f"q{number:05}",
        text=rng.choice(UNKNOWABLE).format(**words),
        phrases=(),
        gold_chunks=(),
        right_claims=(),
        typographic_claims=(),
        wrong_claim=rng.choice(FACTS).wrong.format(**words),
        strata=strata | {"question_type": "unanswerable"},
    )


def remark(rng: Random) -> str:
    words = rng.choice(SUBJECTS), rng.choice(VERBS), rng.choice(THINGS), rng.choice(ASIDES)
    return "{} {} {}, {}.".format(*words)


def passage(rng: Random) -> str:
    """One remark or two, in the mix that makes a trace about 1 KB."""
    return f"{remark(rng)} {remark(rng)}" if rng.random() < LONG_PASSAGE_SHARE else remark(rng)


def gold_record(question: Question) -> dict[str, object]:
    return {
        "qid": question.qid,
        "question": question.text,
        "answerable": question.answerable,
        "gold_claim_substr": question.phrases,
        "gold_citations": question.gold_ids,
        "strata": question.strata,
    }


class Corpus(NamedTuple):
    """What a retriever finds beside the gold: chunks in ASCII and a few that are not."""

    chunks: list[dict[str, str]]
    foreign_chunks: list[dict[str, str]]


def make_corpus(questions: int, seed: int) -> Corpus:
    rng = Random(f"{seed} corpus")
    names = [f"p{number}#{part}" for number in range(max(questions, 10)) for part in (3, 4, 5)]
    chunks = [{"id": name, "text": passage(rng)} for name in names]
    foreign = [{"id": f"f{i}#1", "text": text} for i, text in enumerate(FOREIGN_REMARKS)]
    return Corpus(chunks, foreign)


def retrieve(question: Question, kind: Kind, corpus: Corpus, rng: Random) -> list[dict[str, str]]:
    """The chunks in the order found; the gold may stand past the fifth."""
    found = rng.sample(corpus.chunks, rng.choice((4, 4, 4, 5, 6)))
    if kind.gold_retrieved:
        for chunk in question.gold_chunks:
            found.insert(int(rng.random() * (len(found) + 1)), chunk)
    return found


def cited_ids(question: Question, kind: Kind, found: list[dict[str, str]]) -> list[str]:
    if kind.cites == "gold":
        return list(question.gold_ids)
    if kind.cites == "gold and stray":
        return [*question.gold_ids, f"{question.gold_ids[0]}9"]
    if kind.cites == "other":
        return [next(chunk["id"] for chunk in found if chunk not in question.gold_chunks)]
    return []


def answer_text(question: Question, kind: Kind, foreign: bool, rng: Random) -> str:
    if kind.says == "refusal":
        return rng.choice(REFUSALS)
    if kind.says == "near refusal":
        return rng.choice(NEAR_REFUSALS)
    if kind.says == "wrong":
        return question.wrong_claim
    if kind.says == "empty":
        return ""
    return rng.choice(question.typographic_claims if foreign else question.right_claims)


def make_traces(questions: list[Question], count: int, seed: int) -> Iterator[str]:
    """The traces as JSON lines, every question once in each round, in a fresh order."""
    rng = Random(f"{seed} traces")
    corpus = make_corpus(len(questions), seed)
    pick_answerable = picker(ANSWERABLE_KINDS, rng)
    pick_unanswerable = picker(UNANSWERABLE_KINDS, rng)
    for number, question in enumerate(islice(asked(questions, rng), count)):
        kind = pick_answerable() if question.answerable else pick_unanswerable()
        write = dialect_a if rng.random() < 0.5 else dialect_b
        yield write(number, question, kind, corpus, rng)


def asked(questions: list[Question], rng: Random) -> Iterator[Question]:
    order = list(questions)
    while order:
        rng.shuffle(order)
        yield from order


def picker(kinds: tuple[Kind, ...], rng: Random) -> Callable[[], Kind]:
    bounds = list(accumulate(kind.weight for kind in kinds))
    return lambda: rng.choices(kinds, cum_weights=bounds)[0]


class Answered(NamedTuple):
    """What both dialects write in their own ways."""

    found: list[dict[str, str]]
    text: str
    citations: list[str]


def answered(question: Question, kind: Kind, corpus: Corpus, rng: Random) -> Answered:
    foreign = rng.random() < FOREIGN_TRACE_SHARE
    found = retrieve(question, kind, corpus, rng)
    citations = cited_ids(question, kind, found)
    if foreign:
        found.append(rng.choice(corpus.foreign_chunks))
    return Answered(found, answer_text(question, kind, foreign, rng), citations)


def dialect_a(number: int, question: Question, kind: Kind, corpus: Corpus, rng: Random) -> str:
    """A line with the answer as text, escaped to ASCII as Python's default writer does."""
    ts = FIRST_TS + number
    if kind.says == "error":
        return json.dumps({"ts": ts, "q": question.text, "status": "error", "error": "timeout"})
    found, text, citations = answered(question, kind, corpus, rng)
    if kind.says in ("right", "wrong"):
        text = f"- claim: {text}"
        if citations:
            text += f"\n- citations: [{', '.join(citations)}]"
    return json.dumps({"ts": ts, "q": question.text, "chunks": found, "answer": text, "ok": True})


encode_utf8 = json.JSONEncoder(ensure_ascii=False).encode


def dialect_b(number: int, question: Question, kind: Kind, corpus: Corpus, rng: Random) -> str:
    """A line with the answer as fields, in plain UTF-8 as most other writers do."""
    head = {"qid": question.qid, "q": question.text}
    if kind.says == "error":
        return encode_utf8(head | {"status": "error", "error": "timeout", "latency_ms": 30_000})
    found, text, citations = answered(question, kind, corpus, rng)
    answer = {"claim": text, "citations": citations} if text else None
    return encode_utf8(
        head
        | {
            "retrieved_ids": [chunk["id"] for chunk in found],
            "answer_json": answer,
            "latency_ms": 200 + int(rng.random() * 1800),
            "chunks": found,
        }
    )


def write_lines(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def generate(traces: int, questions: int, gold: Path, out: Path, seed: int = 0) -> None:
    """Writes both files; nothing comes back."""
    asked_questions = make_questions(questions, seed)
    write_lines(gold, (encode_utf8(gold_record(question)) for question in asked_questions))
    write_lines(out, make_traces(asked_questions, traces, seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=2_000)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    generate(**vars(arguments))


if __name__ == "__main__":
    main()
