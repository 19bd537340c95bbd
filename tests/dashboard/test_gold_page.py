"""The pages of gold sets: which there are, their strata, how runs cover them, their questions."""

from __future__ import annotations

import csv
import io
import json
from urllib.request import urlopen

import pytest
from msgspec import structs

from ragauge.dashboard.material import Missing
from ragauge.dashboard.page import Links
from ragauge.dashboard.pages import gold
from ragauge.dashboard.query import BadAddress, Query
from ragauge.dashboard.unit_list import correct_means
from ragauge.reports import phrasing
from ragauge.reports.kinds.runs import when
from ragauge.stats.intervals import wilson
from tests.dashboard.page_parts import Parts, material_at
from tests.dashboard.served import serving
from tests.reports.payloads import PAYLOADS
from tests.runners.recorded import HITS, ones, questions, record

SIZE = 60
COVERAGE, STRATA, QUESTIONS = range(3)
"""The tables of the page of a set."""


@pytest.fixture
def material(tmp_path):
    with material_at(tmp_path) as made:
        yield made


def sets(material, **fields):
    pairs = list(fields.items())
    return gold.sets(material, Links("/gold", pairs), Query(pairs))


def one_set(material, sha256, **fields):
    pairs = list(fields.items())
    links = Links(f"/gold/{sha256}", pairs)
    return gold.page(material, links, Query(pairs, {"sha256": sha256}))


def parts(material, sha256, **fields):
    return Parts(one_set(material, sha256, **fields).body)


def asked_questions(size=SIZE):
    """Questions of three countries in turn, of which the first three are rare."""
    return [
        structs.replace(
            one, strata={**one.strata, "tier": "rare" if place < 3 else "common", "none": ""}
        )
        for place, one in enumerate(questions(size))
    ]


def wrong_ones(*countries):
    return [place for place in range(SIZE) if ("NL", "BE", "DE")[place % 3] in countries]


def test_each_set_is_told_with_its_questions_and_runs(material):
    small = record(material.history, {HITS: ones(10)}, minute=0)
    record(material.history, {HITS: ones(SIZE)}, minute=60)
    large = record(material.history, {HITS: ones(SIZE)}, minute=120, name="weekly")
    found = Parts(sets(material).body)
    assert found.rows() == [
        [
            large.record.gold_sha256[:12],
            "60",
            "48",
            "2",
            "2026-11-01 09:00",
            "2026-11-01 10:00",
            "weekly score",
        ],
        [
            small.record.gold_sha256[:12],
            "10",
            "8",
            "1",
            "2026-11-01 08:00",
            "2026-11-01 08:00",
            "nightly score",
        ],
    ]
    assert f"/gold/{large.record.gold_sha256}" in found.links
    assert f"/runs/{large.id}" in found.links
    rows = json.loads(sets(material).wanted("sets.json")[0])
    assert [(row["questions"], row["answerable"], row["runs"]) for row in rows] == [
        (60, 48, 2),
        (10, 8, 1),
    ]
    second = Parts(sets(material, rows="1", start="1").body)
    assert len(second.rows()) == 1
    assert "2–2 of 2" in second.text


def test_sets_are_sorted_by_any_column_and_a_page_past_the_end_says_so(tmp_path):
    with material_at(tmp_path) as material:
        for minute, size in enumerate((10, 30, 20)):
            record(material.history, {HITS: ones(size)}, gold=questions(size), minute=minute)
        past = Parts(sets(material, start="3").body)
        assert "There is no such page 3 gold sets match. Show the first of them" in past.text
        assert "/gold" in past.links
        assert not past.tables
    with serving(str(tmp_path / "store")) as served:
        for order, sizes in (("1.2", "10 20 30"), ("1.2-", "30 20 10")):
            with urlopen(served.at(f"/gold?order={order}")) as answer:
                found = Parts(answer.read().decode())
            assert found.column("questions") == sizes.split()
        assert "?order=1.3" in " ".join(found.links), "each head sorts"


def component_run(material, **changed):
    """A run of a component, whose units stand in the place of questions."""
    units = [
        structs.replace(one, question=one.qid, answerable=True, gold_claim="0a" * 32, strata={})
        for one in questions(3)
    ]
    return record(material.history, {HITS: ones(3, [1])}, gold=units, command="eval ner", **changed)


def test_units_of_a_component_are_not_told_as_questions(material):
    record(material.history, {HITS: ones(10)}, minute=1)
    run = component_run(material)
    listed = sets(material)
    asked_row, row = Parts(listed.body).rows()
    assert row[1:3] == ["3 samples of eval ner", "–"]
    assert asked_row[1:3] == ["10", "8"]
    told = json.loads(listed.wanted("sets.json")[0])
    assert [one["answerable"] for one in told] == [8, None]
    page = one_set(material, run.record.gold_sha256)
    found = Parts(page.body)
    assert "3 samples: eval ner. 1 run, from" in found.text
    assert "question" not in found.text.replace("These questions", "")
    assert "answerable" not in found.text
    assert "The samples of this set have no strata" in found.text
    assert found.tables[-1][0] == ["id", "strata", "last runs", "incorrect"]
    assert found.column("id", -1) == ["q000", "q001", "q002"]
    one = json.loads(page.wanted("questions.json")[0])[0]
    assert (one["qid"], one.get("question"), one.get("answerable")) == ("q000", None, None)
    assert "No sample matches" in parts(material, run.record.gold_sha256, q="nothing").text


def test_units_whose_gold_is_in_words_are_told_by_their_command(material):
    typed = [structs.replace(one, question=one.qid, gold_claim="M") for one in questions(3)]
    record(material.history, {HITS: ones(3)}, gold=typed, command="eval types")
    assert Parts(sets(material).body).rows()[0][1] == "3 samples of eval types"


def test_past_the_last_question_the_page_says_so(material):
    sha256 = record(material.history, {HITS: ones(SIZE)}).record.gold_sha256
    found = parts(material, sha256, start="60", answerable="no")
    assert "There is no such page 12 questions match. Show the first of them" in found.text
    assert f"/gold/{sha256}?answerable=no#questions" in found.links


def test_without_sets_it_says_how_one_comes_here(material):
    assert "--record" in sets(material).body
    record(material.history, {HITS: []}, gold=[], gold_sha256=None)
    assert "No gold sets yet" in sets(material).body


def test_a_set_that_is_not_there_is_missing(material):
    record(material.history, {HITS: ones(4)})
    with pytest.raises(Missing, match="no run of this history was measured with a set whose hash"):
        one_set(material, "0" * 64)


def test_a_set_is_named_by_the_beginning_of_its_hash(material):
    made = [record(material.history, {HITS: ones(n)}, gold=questions(n)) for n in range(4, 9)]
    hashes = [run.record.gold_sha256 for run in made]
    assert len({one[:4] for one in hashes}) == len(hashes)
    for one in hashes:
        for named in (one, one[:4], one[:12].upper()):
            assert f"<bdi>{one}</bdi>" in one_set(material, named).body
    with pytest.raises(Missing, match="is named by 4 characters of its hash at least"):
        one_set(material, hashes[0][:3])


def test_a_beginning_that_several_sets_share_is_refused_with_them(material, monkeypatch):
    run = record(material.history, {HITS: ones(4)})
    [held] = material.pages.gold_sets()
    twin = structs.replace(held, sha256=held.sha256[:10] + "x" * 54)
    monkeypatch.setattr(type(material.pages), "gold_sets", lambda pages: [held, twin])
    with pytest.raises(Missing, match=f"several hashes: {held.sha256[:12]}, {twin.sha256[:12]}"):
        one_set(material, held.sha256[:8])
    assert run.record.gold_sha256 in one_set(material, held.sha256).body


def test_what_correct_means_is_said(material):
    run = record(material.history, {HITS: ones(4)})
    assert (
        f"Correct means: {correct_means('score')}" in one_set(material, run.record.gold_sha256).body
    )


def test_strata_are_shown_with_the_fraction_correct_in_the_newest_run(material):
    questions = asked_questions()
    wrong = wrong_ones("DE")[:-2]
    record(material.history, {HITS: ones(SIZE)}, gold=questions, minute=0)
    newest = record(material.history, {HITS: ones(SIZE, wrong)}, gold=questions, minute=1)
    found = parts(material, newest.record.gold_sha256)
    twin = {}
    for place, one in enumerate(questions):
        values = {"answerable": str(one.answerable).lower(), **one.strata}
        for stratum, value in values.items():
            if value:
                ended = twin.setdefault((stratum, value), [0, 0])
                ended[place in wrong] += 1
    rows = {(row[0], row[1]): row[2:] for row in found.rows(STRATA)}
    assert rows.keys() == twin.keys(), "an empty value is none"
    whole = 1 - len(wrong) / SIZE
    for key, (right, failed) in twin.items():
        n = right + failed
        low, high = wilson(right / n, n)
        remark = "thin" if n < 5 else "weak" if high < whole else ""
        assert rows[key] == [
            str(n),
            phrasing.value(right / n),
            "",
            phrasing.interval((low, high)),
            str(n),
            remark,
        ]
    assert rows["country", "DE"][-1] == "weak"
    assert rows["tier", "rare"][-1] == "thin"
    told = f"{phrasing.value(whole)} {phrasing.interval(wilson(whole, SIZE))} over all 60 samples"
    assert told in found.text
    assert f"/gold/{newest.record.gold_sha256}?stratum=country&value=DE#questions" in found.links


def test_another_of_the_last_runs_can_be_looked_at(material):
    first = record(material.history, {HITS: ones(SIZE)}, minute=0)
    record(material.history, {HITS: ones(SIZE, range(30))}, minute=1)
    sha256 = first.record.gold_sha256
    assert "0.500 [" in parts(material, sha256).text
    assert f"/gold/{sha256}?run={first.id}" in parts(material, sha256).links
    assert "1.000 [" in parts(material, sha256, run=first.id).text
    with pytest.raises(Missing, match="none of the last"):
        one_set(material, sha256, run="f" * 64)


def test_a_run_that_does_not_tell_is_passed_over(material):
    record(material.history, {HITS: ones(SIZE, [0])}, minute=0)
    quiet = record(material.history, {HITS: ones(SIZE)}, right=[None] * SIZE, minute=1)
    found = parts(material, quiet.record.gold_sha256)
    assert found.column("strata", COVERAGE) == ["not known", "shown below"]
    assert found.column("not known", COVERAGE) == ["60", "0"]
    named = parts(material, quiet.record.gold_sha256, run=quiet.id)
    assert "None of the last runs says which samples are correct" in named.text


def test_when_no_run_tells_only_questions_are_counted(material):
    quiet = record(material.history, {HITS: ones(SIZE)}, right=[None] * SIZE)
    found = parts(material, quiet.record.gold_sha256)
    assert "None of the last runs says which samples are correct" in found.text
    assert found.tables[STRATA][0] == ["stratum", "value", "questions"]


def test_a_run_that_leaves_questions_out_is_seen(material):
    questions = asked_questions()
    record(material.history, {HITS: ones(SIZE)}, gold=questions, minute=0)
    partial = partial_run(material, questions, 45)
    found = parts(material, partial.record.gold_sha256)
    assert found.column("samples", COVERAGE) == ["45 of 60", "60 of 60"]
    assert found.column("correct", COVERAGE) == ["45", "60"]
    left_out = parts(material, partial.record.gold_sha256, q="q050").rows(QUESTIONS)
    assert left_out[0][-1] == "0 of 1"


def partial_run(material, questions, answered):
    """A run of the set that has units of the first questions only."""
    from ragauge.contracts.gold import fingerprint
    from ragauge.contracts.history import NewRun, sealed_units

    whole = record(material.history, {HITS: ones(SIZE)}, gold=questions, minute=9)
    units = list(material.history.units(whole.id))[:answered]
    cut = structs.replace(
        whole.record,
        units=answered,
        units_sha256=sealed_units(units),
        recorded_at=whole.record.recorded_at.replace("08:09", "08:19"),
        gold_sha256=fingerprint(questions),
    )
    material.history.remove([whole.id])
    return material.history.record(NewRun(record=cut, units=units, gold=questions, files={}))


def test_questions_show_how_they_ended_in_the_last_runs(material):
    runs = [
        record(material.history, {HITS: ones(SIZE, range(night))}, minute=night)
        for night in range(12)
    ]
    sha256 = runs[0].record.gold_sha256
    found = parts(material, sha256)
    assert "The last 10 of 12 runs" in found.text
    assert found.column("incorrect", QUESTIONS)[:12] == [
        f"{min(10, 11 - place)} of 10" for place in range(12)
    ]
    squares = found.labels[3].split("; ")
    assert [one.split(" in ")[0] for one in squares] == ["correct"] * 2 + ["incorrect"] * 8
    assert squares[-1] == f"incorrect in nightly, {when(runs[-1].record.recorded_at)}"
    assert f"/runs/{runs[-1].id}/question?unit=q003" in found.links


def test_questions_are_searched_filtered_sorted_and_paged(material):
    sha256 = record(material.history, {HITS: ones(SIZE)}).record.gold_sha256

    def ids(**fields):
        found = parts(material, sha256, **fields)
        return found.column("id", QUESTIONS) if len(found.tables) > QUESTIONS else found.text

    assert ids() == [f"q{place:03}" for place in range(50)]
    assert ids(start="50") == [f"q{place:03}" for place in range(50, 60)]
    assert ids(sort="-qid", rows="2") == ["q059", "q058"]
    assert ids(answerable="no", rows="2") == ["q048", "q049"]
    assert ids(stratum="country", value="BE", rows="3") == ["q001", "q004", "q007"]
    assert ids(stratum="answerable", value="false", rows="1") == ["q048"]
    assert ids(q="WHAT 59") == ["q059"]
    assert "No question matches" in ids(q="nothing")
    assert "No question matches" in ids(stratum="country", value="FR")
    for field, value in (("sort", "colour"), ("answerable", "perhaps"), ("rows", "x")):
        with pytest.raises(BadAddress, match=field):
            ids(**{field: value})


def test_a_stratum_with_many_values_is_cut(material, monkeypatch):
    monkeypatch.setattr(gold, "VALUES_SHOWN", 24)
    many = [
        structs.replace(one, strata={"source": f"doc {place}"})
        for place, one in enumerate(questions(SIZE))
    ]
    sha256 = record(material.history, {HITS: ones(SIZE)}, gold=many).record.gold_sha256
    found = parts(material, sha256)
    assert found.column("stratum", STRATA).count("source") == 24
    assert f"And {SIZE - 24} more" in found.text
    assert found.column("value", STRATA)[-24:] == [f"doc {place}" for place in range(24)]


def test_figures_are_those_of_the_tables(material):
    kept = record(material.history, {HITS: ones(SIZE, range(0, SIZE, 4))}, gold=asked_questions())
    page = one_set(material, kept.record.gold_sha256)
    found = Parts(page.body)

    def figures(name):
        rows = list(csv.DictReader(io.StringIO(page.wanted(f"{name}.csv")[0].decode())))
        objects = json.loads(page.wanted(f"{name}.json")[0])
        assert [list(row) for row in rows] == [list(one) for one in objects]
        return objects

    strata = figures("strata")
    assert [row[:3] for row in found.rows(STRATA)] == [
        [one["stratum"], one["value"], str(one["questions"])] for one in strata
    ]
    assert found.column("correct", STRATA) == [phrasing.value(one["correct"]) for one in strata]
    assert found.column("95 % interval", STRATA) == [
        phrasing.interval((one["95 % interval low"], one["95 % interval high"])) for one in strata
    ]
    [covered] = figures("coverage")
    assert (covered["run"], covered["correct"]) == (f"{kept.record.name} {kept.id}", 45)
    told = figures("questions")
    assert [one["qid"] for one in told] == found.column("id", QUESTIONS)
    assert [f"{one['incorrect']} of 1" for one in told] == found.column("incorrect", QUESTIONS)


def test_foreign_text_adds_no_tag_and_no_attribute(tmp_path):
    shapes = {}
    for place, given in enumerate(("plain words", *PAYLOADS)):
        text = given.encode(errors="backslashreplace").decode()
        hostile = [
            structs.replace(
                one,
                qid=f"{one.qid} {text}",
                question=text,
                strata={f"a {text}": text, "b": f"{text}{number % 2}"},
            )
            for number, one in enumerate(questions(6))
        ]
        with material_at(tmp_path / str(place)) as material:
            kept = record(material.history, {HITS: ones(6)}, gold=hostile, name=text, command=text)
            sha256 = kept.record.gold_sha256
            shapes[given] = (
                Parts(sets(material).body).shape,
                parts(material, sha256).shape,
                parts(material, sha256, stratum=f"a {text}", value=text).shape,
                parts(material, sha256, q=f"not there {text}").shape,
            )
    for given, shape in shapes.items():
        assert shape == shapes["plain words"], given


def test_every_link_leads_to_a_page(tmp_path):
    with material_at(tmp_path) as material:
        kept = record(material.history, {HITS: ones(6, [1])}, gold=asked_questions(6))
    with serving(str(tmp_path / "store")) as served:
        for path in ("/gold", f"/gold/{kept.record.gold_sha256}"):
            with urlopen(served.at(path)) as answer:
                found = Parts(answer.read().decode())
            for link in sorted({one for one in found.links if one.startswith("/")}):
                with urlopen(served.at(link)) as answer:
                    assert answer.status == 200, link
        with pytest.raises(OSError, match="404"):
            urlopen(served.at(f"/gold/{'0' * 64}"))
