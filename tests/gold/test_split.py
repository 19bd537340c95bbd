"""A split set: every question in one file, as it was, and each file like the whole."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ragauge.contracts.gold import Gold
from ragauge.errors import UsageError
from ragauge.ingest.gold import read_gold
from ragauge.runners.gold_parts import NONE, factors_of, names_of, shares_of, split, value_or_none
from tests.cli.command import ragauge

HERITAGE = Path(__file__).resolve().parents[2] / "src/ragauge/demo/heritage/gold.jsonl"
PARTS = ("train", "dev", "test")


def ask(n, answerable=True, question=None, **strata):
    return Gold(
        qid=f"q{n:03}",
        question=question or f"What is {n}?",
        answerable=answerable,
        gold_claim=f"It is {n}." if answerable else None,
        strata=strata,
    )


SET = [ask(n, n % 3 > 0, country="ABCD"[n % 4], tier=n % 2) for n in range(100)]


def codes(report):
    return {finding.code for finding in report.findings}


def test_every_question_is_in_one_file_as_it_was(tmp_path):
    done = ragauge("gold", "split", HERITAGE, "--into", tmp_path / "new" / "parts")
    assert done.returncode == 0, done.stderr
    files = [tmp_path / "new" / "parts" / f"{name}.jsonl" for name in PARTS]
    found = [question for file in files for question in read_gold(str(file))]
    assert sorted(found, key=lambda one: one.qid) == read_gold(str(HERITAGE))
    assert [len(read_gold(str(file))) for file in files] == [56, 12, 12]


ANNOTATED = HERITAGE.with_name("annotated.jsonl")


def records(*files):
    return [json.loads(line) for file in files for line in Path(file).read_text().splitlines()]


def test_heritage_entries_are_split_by_their_strata_and_written_as_they_are(tmp_path):
    entries = [{**one, "note": {"by": [1, None]}} for one in records(ANNOTATED)]
    source = tmp_path / "entries.json"
    source.write_text(json.dumps(entries))
    by = ("--by", "language,country")
    done = ragauge("gold", "split", source, "--into", tmp_path, *by, "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["units"] == "entries"
    assert report["factors"] == ["language", "country"]
    parts = [records(tmp_path / f"{name}.jsonl") for name in PARTS]
    assert [len(part) for part in parts] == [59, 13, 13]
    found = sorted((one for part in parts for one in part), key=lambda one: one["id"])
    assert found == sorted(entries, key=lambda one: one["id"])
    languages = [Counter(one["strata"]["language"] for one in part) for part in parts]
    assert all(max(counts.values()) - min(counts.values()) <= 2 for counts in languages)
    wrong = ragauge("gold", "split", source, "--into", tmp_path, "--by", "answerable")
    assert b'no entry has the stratum "answerable"; there are country' in wrong.stderr


def test_heritage_entries_without_strata_are_split_by_chance(tmp_path):
    source = tmp_path / "entries.jsonl"
    plain = [{**one, "strata": {}} for one in records(ANNOTATED)]
    source.write_text("".join(json.dumps(one) + "\n" for one in plain))
    done = ragauge("gold", "split", source, "--into", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"85 entries in 3 parts by chance")
    assert len(records(*(tmp_path / f"{name}.jsonl" for name in PARTS))) == 85


def test_a_broken_heritage_entry_is_named(tmp_path):
    source = tmp_path / "entries.jsonl"
    source.write_text('{"id": "a", "text": "t", "qa_pairs": []}\n{"id": "b", "qa_pairs": []}\n')
    done = ragauge("gold", "split", source, "--into", tmp_path)
    assert done.returncode == 3
    assert b"entries.jsonl:2: text: missing" in done.stderr


def test_files_keep_the_order_of_the_set(tmp_path):
    split(SET, tmp_path)
    for name in PARTS:
        qids = [question.qid for question in read_gold(str(tmp_path / f"{name}.jsonl"))]
        assert qids == sorted(qids)


def test_unknown_keys_and_other_names_survive(tmp_path):
    lines = [
        {
            "qid": f"q{n}",
            "q": f"Why {n}?",
            "answerable": False,
            "extra": {"deep": [1, None]},
            "note": None,
            "gold_citations": [],
            "gold_ids": ["kept as it is"],
        }
        for n in range(10)
    ]
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps(lines))
    split(read_gold(str(gold)), tmp_path, names=("a", "b"), shares=(1, 1))
    found = [*read_gold(str(tmp_path / "a.jsonl")), *read_gold(str(tmp_path / "b.jsonl"))]
    assert sorted(found, key=lambda one: one.qid) == read_gold(str(gold))


def test_the_balance_is_what_the_files_hold(tmp_path):
    report = split(SET, tmp_path, by=["country", "tier"])
    assert report.factors == ("answerable", "country", "tier")
    for name in PARTS:
        part = read_gold(str(tmp_path / f"{name}.jsonl"))
        for factor, values in report.balance.items():
            counted = Counter(value_or_none(question, factor) for question in part)
            assert {value: counts[name] for value, counts in values.items()} == {
                value: counted[value] for value in values
            }
    assert [part.questions for part in report.parts] == [70, 15, 15]
    assert sum(cell.questions for cell in report.cells) == 100
    assert report.largest_deviation < 1


def test_the_order_of_the_file_moves_no_question(tmp_path):
    split(SET, tmp_path / "one")
    split(SET[::-1], tmp_path / "other")
    for name in PARTS:
        one, other = (read_gold(str(tmp_path / way / f"{name}.jsonl")) for way in ("one", "other"))
        assert {question.qid for question in one} == {question.qid for question in other}


DEFAULTS = {
    "few values": ([ask(n, n % 2 == 0, tier=n % 3) for n in range(60)], ("answerable", "tier")),
    "too many values": ([ask(n, n % 2 == 0, city=n % 12) for n in range(60)], ("answerable",)),
    "one value": ([ask(n, n % 2 == 0, city="A") for n in range(60)], ("answerable",)),
    "fewest values first": (
        [ask(n, a=n % 5, b=n % 2, c=n % 3) for n in range(60)],
        ("answerable", "b", "c", "a"),
    ),
}


@pytest.mark.parametrize(("questions", "factors"), DEFAULTS.values(), ids=DEFAULTS)
def test_factors_where_none_are_named(tmp_path, questions, factors):
    assert split(questions, tmp_path).factors == factors


def test_answerable_has_the_place_it_is_given():
    asked = ["country", "answerable"]
    assert factors_of(SET, asked, lambda _: True) == ("country", "answerable")
    assert factors_of(SET, ["tier"], lambda _: True) == ("answerable", "tier")


def test_values_of_any_kind_are_text():
    question = ask(1, tier=1, open=True, name="NL", gone=None, empty="")
    names = ("tier", "open", "name", "gone", "empty", "never", "answerable")
    values = [value_or_none(question, name) for name in names]
    assert values == ["1", "true", "NL", NONE, NONE, NONE, "true"]


def test_cells_that_cannot_reach_every_part_are_named(tmp_path):
    rare = [ask(n, country="Z") for n in range(100, 102)]
    report = split([*SET, *rare], tmp_path, by=["country"])
    assert report.passed
    small = [one for one in report.findings if one.where == "answerable=true country=Z"]
    assert [one.code for one in small] == ["small_cell"]
    assert small[0].message.startswith("2 questions, none of them in ")
    assert ("missing_value", "country=Z") in {(one.code, one.where) for one in report.findings}


def test_the_same_question_in_two_parts_is_found(tmp_path):
    twins = [ask(n, question=f"What is the answer to {n // 2}") for n in range(40)]
    report = split(twins, tmp_path, shares=(1, 1), names=("a", "b"))
    first, second = (read_gold(str(tmp_path / f"{name}.jsonl")) for name in "ab")
    shared = {one.question for one in first} & {one.question for one in second}
    assert report.finding_counts["question_in_two_parts"] == len(shared) > 0


def test_other_content_is_not_replaced_unasked(tmp_path):
    split(SET, tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert split(SET, tmp_path).passed  # the same once more is no harm
    with pytest.raises(UsageError) as refused:
        split(SET, tmp_path, seed=1)
    assert len(refused.value.problems) == 3
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    split(SET, tmp_path, seed=1, force=True)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} != before


WRONG = {
    "shares": (["--shares", "70/x"], "is not like 70/15/15"),
    "one share": (["--shares", "70", "--names", "a"], "takes two numbers or more"),
    "zero share": (["--shares", "70/0/30"], "each above 0"),
    "names": (["--names", "a,b"], "2 names for 3 shares"),
    "path in a name": (["--names", "a,../b,c"], '"../b" cannot name a file'),
    "name twice": (["--names", "a,b,A"], "has a name twice"),
    "factor": (["--by", "contry"], 'no question has the stratum "contry"; there are answerable'),
    "empty part": (["--shares", "1000/1/1"], "leave dev and test without any"),
    "folder is a file": (["--into", HERITAGE], "cannot be a folder"),
}


@pytest.mark.parametrize(("words", "fact"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_done_is_said(tmp_path, words, fact):
    into = [] if "--into" in words else ["--into", tmp_path]
    done = ragauge("gold", "split", HERITAGE, *into, *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert fact in done.stderr.decode()
    assert not list(tmp_path.iterdir())


def test_shares_are_read_exactly():
    assert shares_of("0.7/0.15/0.15") == (14, 3, 3)
    assert shares_of("1/2/3") == (1, 2, 3)
    assert names_of("a, b_2,c-3", (1, 1, 1)) == ("a", "b_2", "c-3")


def test_the_report_is_the_common_one_and_repeats_itself(tmp_path):
    words = ("gold", "split", HERITAGE, "--into", "parts", "--format", "json")
    done, again = (ragauge(*words, cwd=tmp_path) for _ in range(2))
    assert done.stdout == again.stdout
    report = json.loads(done.stdout)
    assert report["schema"] == "ragauge.gold-split/1"
    assert report.keys() >= {"pass", "metrics", "gates", "findings", "finding_counts", "coverage"}
    assert list(report) == sorted(report)


def test_foreign_words_cannot_forge_a_line(tmp_path):
    hostile = [ask(n, country="\x1b[31mred\nnext") for n in range(20)]
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(json.dumps(one) + "\n" for one in map(record, hostile)))
    shown = ragauge("gold", "split", gold, "--into", tmp_path / "p", "--by", "country").stdout
    assert b"\x1b" not in shown
    assert b"country \\x1b[31mred next" in shown


def record(question):
    return {
        "qid": question.qid,
        "question": question.question,
        "answerable": True,
        "gold_claim": "x",
        "strata": question.strata,
    }
