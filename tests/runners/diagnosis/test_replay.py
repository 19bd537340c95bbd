"""What repairs a wrong answer, whether the change took place, and when nothing can be said."""

import unicodedata
from random import Random

import pytest
from msgspec import structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.run import Variation
from ragauge.contracts.system import CallFailed
from ragauge.errors import UsageError
from ragauge.metrics.facts import Reading
from tests.runners.diagnosis.replaying import (
    REFUSAL,
    Shelf,
    counts,
    encoded,
    number_of,
    question,
    questions,
    replayed,
    row,
    unanswerable,
)

NAMES = ["again", "gold_in", "noise_out", "temperature_0", "top_k_doubled"]


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "replay.jsonl"


# What repairs.


def test_what_retrieval_misses_is_repaired_by_putting_it_in_and_by_looking_deeper(journal):
    result = replayed(questions(4), Shelf(), journal)
    assert counts(result) == {
        "again": (4, 0, None),
        "gold_in": (4, 4, 4),
        "noise_out": (4, 0, 4),
        "temperature_0": (4, 0, None),
        "top_k_doubled": (4, 4, 4),
    }
    assert [one.name for one in result.interventions] == NAMES
    assert {one.reason for one in result.interventions} == {None}
    assert result.repaired_by == {f"q{n}": ("gold_in", "top_k_doubled") for n in range(1, 5)}
    assert row(result, "gold_in").samples == ("q1", "q2", "q3", "q4")
    assert (result.of, result.chosen, result.calls, result.resumed) == (4, 4, 20, 0)
    assert (result.ended, result.system) == ("complete", {"kind": "shelf"})


def test_what_noise_spoils_is_repaired_by_taking_it_out(journal):
    def undistracted(ask, retrieved):
        return not any(id.startswith("n") for id in retrieved)

    result = replayed(questions(3), Shelf(undistracted), journal)
    assert [name for name in NAMES if row(result, name).repaired] == ["noise_out"]
    assert result.repaired_by == dict.fromkeys(("q1", "q2", "q3"), ("noise_out",))


def test_what_sampling_spoils_is_repaired_by_temperature_0(journal):
    result = replayed(questions(3), Shelf(lambda ask, _: not ask.temperature), journal)
    assert [name for name in NAMES if row(result, name).repaired] == ["temperature_0"]


def test_what_is_right_whatever_is_changed_is_told_by_asking_again(journal):
    result = replayed(questions(3), Shelf(lambda ask, _: number_of(ask.q) == 2), journal)
    assert [row(result, name).repaired for name in ("again", "temperature_0")] == [1, 1]
    assert result.repaired_by["q2"] == ("again", "gold_in", "noise_out", "temperature_0", NAMES[-1])


def test_what_chance_repairs_of_a_seeded_system_is_told_by_asking_again(journal):
    """Its answers are drawn by question and seed: the very same ask gets the very same reply."""

    def lucky(n, seed):
        return Random(f"{n} {seed}").random() < 0.5

    wrong = [
        one for one in questions(60) if not lucky(number_of(one.question_sent), one.variation.seed)
    ]
    again = [one.id for one in wrong if lucky(number_of(one.question_sent), one.variation.seed + 1)]
    assert 10 < len(again) < len(wrong) - 10
    result = replayed(wrong, Shelf(lambda ask, _: lucky(number_of(ask.q), ask.seed)), journal)
    assert row(result, "again").repaired == len(again)
    assert result.repaired_by == dict.fromkeys(again, ("again",))


def test_an_answer_is_right_with_the_phrase_and_a_gold_id_and_not_with_one_of_them(journal):
    class Half(Shelf):
        def reply(self, ask):
            reply = super().reply(ask)
            spoilt = {"citations": ["n1.1"]} if number_of(ask.q) == 1 else {"claim": "Nobody."}
            return {**reply, "answer_json": {**reply["answer_json"], **spoilt}}

    result = replayed(questions(2), Half(lambda ask, _: True), journal)
    assert result.repaired_by == {}


def test_what_cannot_be_answered_is_repaired_by_a_refusal(journal):
    class Careful(Shelf):
        def reply(self, ask):
            retrieved = self.retrieved(ask)
            made_up = {"claim": "Somebody did.", "citations": retrieved[:1]}
            return {
                "answer_json": made_up if retrieved else REFUSAL,
                "retrieved_ids": retrieved,
            }

    result = replayed([unanswerable(1)], Careful(), journal)
    assert result.repaired_by == {"q1": ("noise_out",)}
    assert (row(result, "gold_in").asked, row(result, "gold_in").impossible) == (0, 1)
    assert row(result, "gold_in").reason == "no question has gold ids to add"


def test_answers_are_read_as_they_were_when_they_were_wrong(journal, tmp_path):
    class Stops(Shelf):
        def reply(self, ask):
            return {"answer": "Not in context.", "retrieved_ids": []}

    exact = replayed([unanswerable(1)], Stops(), journal, reading=Reading(refusal="exact"))
    assert exact.repaired_by == {}
    near = replayed([unanswerable(1)], Stops(), tmp_path / "near")
    assert "again" in near.repaired_by["q1"]


# What is sent.


def test_each_change_is_the_only_one(journal):
    system = Shelf()
    wrong = question(1, variation=Variation(2, "ws", 0.7, 5, 1), question_sent="What is  fact 1?")
    locked = structs.replace(wrong.gold, constraints=("X is not Y.",))
    replayed([structs.replace(wrong, gold=locked)], system, journal, knobs={"pool": 40})
    assert {(ask.q, ask.jitter) for ask in system.asked} == {("What is  fact 1?", "ws")}
    assert [ask.seed for ask in system.asked] == [6, 5, 5, 5, 5]
    assert [ask.temperature for ask in system.asked] == [0.7, 0.7, 0.7, 0.0, 0.7]
    always = {"pool": 40, "constraints": ["X is not Y."]}
    assert [ask.knobs for ask in system.asked] == [
        always,
        {**always, "put_in": ["g1"]},
        {**always, "take_out": ["n1.1", "n1.2", "n1.3"]},
        always,
        {**always, "top_k": 6},
    ]


@pytest.mark.parametrize(("known", "sent"), [(2, 6), (3, 6), (8, 16)])
def test_the_larger_of_what_was_shown_and_what_the_knobs_say_is_doubled(journal, known, sent):
    system = Shelf()
    replayed([question(1)], system, journal, knobs={"k": known}, knob_names={"top_k": "k"})
    assert system.asked[-1].knobs == {"k": sent}


def test_knobs_go_by_the_names_the_system_has_for_them(journal):
    class Renamed(Shelf):
        def retrieved(self, ask):
            named = {"extra": "put_in", "without": "take_out", "k": "top_k"}
            knobs = {named[name]: value for name, value in ask.knobs.items()}
            return super().retrieved(structs.replace(ask, knobs=knobs))

    names = {"put_in": "extra", "take_out": "without", "top_k": "k", "reranker": "other"}
    result = replayed(questions(2), Renamed(), journal, knob_names=names)
    assert counts(result)["gold_in"] == (2, 2, 2)
    assert counts(result)["top_k_doubled"] == (2, 2, 2)


@pytest.mark.parametrize("hidden", ["", False, None])
def test_a_knob_that_the_map_hides_is_not_turned(journal, hidden):
    system = Shelf()
    names = dict.fromkeys(("put_in", "temperature"), hidden)
    result = replayed(questions(2), system, journal, knob_names=names)
    assert len(system.asked) == result.calls == 6
    one = row(result, "gold_in")
    assert (one.asked, one.impossible, one.effective) == (0, 0, None)
    assert one.reason == "the knob map says that the pipeline has no put_in"
    assert (
        row(result, "temperature_0").reason
        == "the knob map says that the pipeline has no temperature"
    )


# What cannot be changed.


def test_what_is_cold_already_cannot_be_cooled(journal):
    cold = question(2, variation=Variation())
    one = row(replayed([question(1), cold], Shelf(), journal), "temperature_0")
    assert (one.asked, one.impossible, one.reason) == (1, 1, None)


def test_nothing_known_is_nothing_changed_and_the_reason_is_told(journal):
    gold = structs.replace(question(1).gold, gold_citations=())
    untold = question(1, gold=gold, variation=Variation(), retrieved_ids=None)
    system = Shelf()
    result = replayed([untold], system, journal)
    assert (system.asked, result.calls, result.chosen, result.of) == ([], 0, 0, 1)
    assert not journal.exists()
    assert [one.impossible for one in result.interventions] == [0, 1, 1, 1, 1]
    assert {one.name: one.reason for one in result.interventions} == {
        "again": "asking again shows nothing by itself, and no question allows another change",
        "gold_in": "no question has gold ids to add",
        "noise_out": "no retrieved passage is known not to be gold",
        "temperature_0": "no question is known to have been run above temperature 0",
        "top_k_doubled": "neither the traces nor the parameters show how many chunks are shown",
    }


def test_a_question_that_nothing_can_be_changed_for_is_passed_over_at_no_cost(journal):
    gold = structs.replace(question(1).gold, gold_citations=())
    untold = question(1, gold=gold, variation=Variation(), retrieved_ids=None)
    system = Shelf()
    result = replayed([untold, question(2), question(3)], system, journal, budget=5)
    assert asked_of(system) == ["What is fact 2?"]
    assert (result.of, result.chosen, result.calls) == (3, 1, 5)
    assert [one.impossible for one in result.interventions] == [0, 1, 1, 1, 1]
    assert {one.reason for one in result.interventions} == {None}


def test_a_question_whose_only_changes_are_hidden_is_not_asked(journal):
    hidden = dict.fromkeys(("put_in", "take_out", "temperature", "top_k"))
    system = Shelf()
    result = replayed(questions(2), system, journal, knob_names=hidden)
    assert (system.asked, result.of, result.chosen) == ([], 2, 0)
    assert [one.impossible for one in result.interventions] == [0] * 5
    assert row(result, "again").reason.startswith("asking again shows nothing by itself")
    assert row(result, "gold_in").reason == "the knob map says that the pipeline has no put_in"


def test_without_gold_ids_no_chunk_of_an_answerable_question_is_noise(journal):
    gold = structs.replace(question(1).gold, gold_citations=())
    assert row(replayed([question(1, gold=gold)], Shelf(), journal), "noise_out").impossible == 1


def test_where_all_that_was_retrieved_is_gold_there_is_nothing_to_take_out(journal):
    result = replayed([question(1, retrieved_ids=("g1",))], Shelf(), journal)
    assert row(result, "noise_out").impossible == 1


def test_ids_are_the_same_however_their_letters_are_composed(journal):
    whole, apart = "musée", unicodedata.normalize("NFD", "musée")
    gold = structs.replace(question(1).gold, gold_citations=(whole,))

    class Apart(Shelf):
        def retrieved(self, ask):
            return [apart]

    result = replayed([question(1, gold=gold, retrieved_ids=(apart, "n1"))], Apart(), journal)
    assert row(result, "gold_in").effective == 1
    assert row(result, "noise_out").effective == 1


# Whether the change took place.


class Deaf(Shelf):
    """A system that ignores knobs, and is right by chance."""

    def retrieved(self, ask):
        return super().retrieved(structs.replace(ask, knobs={}))


def test_a_system_that_ignores_a_knob_tells_nothing_by_being_right(journal):
    result = replayed(questions(5), Deaf(lambda ask, _: True), journal)
    for name, knob in (("gold_in", "put_in"), ("noise_out", "take_out"), (NAMES[-1], "top_k")):
        one = row(result, name)
        assert (one.asked, one.repaired, one.effective, one.samples) == (5, 0, 0, ())
        assert one.reason == (
            f"the system seems to ignore the parameter {knob}: no reply reflects the change"
        )
    assert result.repaired_by == {f"q{n}": ("again", "temperature_0") for n in range(1, 6)}


def test_only_replies_that_show_the_change_count_as_repaired(journal):
    class Moody(Shelf):
        def retrieved(self, ask):
            listens = number_of(ask.q) != 2
            return super().retrieved(ask if listens else structs.replace(ask, knobs={}))

    result = replayed(questions(3), Moody(lambda ask, _: "put_in" in ask.knobs), journal)
    assert counts(result)["gold_in"] == (3, 2, 2)
    assert row(result, "gold_in").reason is None
    assert set(result.repaired_by) == {"q1", "q3"}


def test_all_the_gold_has_to_be_there(journal):
    gold = structs.replace(question(1).gold, gold_citations=("g1", "elsewhere"))

    class Half(Shelf):
        def retrieved(self, ask):
            put_in = [id for id in ask.knobs.get("put_in", []) if id != "elsewhere"]
            return super().retrieved(structs.replace(ask, knobs={"put_in": put_in}))

    one = row(replayed([question(1, gold=gold)], Half(), journal), "gold_in")
    assert (one.asked, one.effective, one.repaired) == (1, 0, 0)


def test_where_replies_do_not_tell_what_was_retrieved_right_answers_count(journal):
    class Silent(Shelf):
        def reply(self, ask):
            return {"answer_json": super().reply(ask)["answer_json"]}

    result = replayed(questions(2), Silent(), journal)
    assert counts(result)["gold_in"] == (2, 2, None)
    assert row(result, "gold_in").reason is None


# Systems that refuse, or fail.


def refusing(*knobs, error=None):
    class Refusing(Shelf):
        def reply(self, ask):
            if unknown := [name for name in knobs if name in ask.knobs]:
                raise error or CallFailed("bad_request", f"no knob '{unknown[0]}'; none at all")
            return super().reply(ask)

    return Refusing()


def test_a_refused_knob_is_given_up_after_a_few_with_the_words_of_the_system(journal):
    system = refusing("put_in")
    result = replayed(questions(20), system, journal)
    one = row(result, "gold_in")
    assert (one.asked, one.failed, one.repaired, one.effective) == (3, 3, 0, None)
    assert one.reason == (
        "the system rejects the parameter put_in: bad_request: no knob 'put_in'; none at all"
    )
    assert sum("put_in" in ask.knobs for ask in system.asked) == 3
    assert counts(result)["top_k_doubled"] == (20, 20, 20)
    assert (result.ended, result.calls) == ("complete", 83)


ERRORS = {
    "a status of HTTP": CallFailed("http_422", "Unprocessable Content: extra fields"),
    "words that name the knob": CallFailed("raised", "TypeError: unexpected argument 'put_in'"),
    "whatever is raised": TypeError("unexpected argument 'put_in'"),
}


@pytest.mark.parametrize("what", ERRORS)
def test_a_refusal_is_known_by_its_kind_or_by_its_words(journal, what):
    one = row(replayed(questions(5), refusing("put_in", error=ERRORS[what]), journal), "gold_in")
    assert one.asked == 3
    assert one.reason.startswith("the system rejects the parameter put_in: ")


@pytest.mark.parametrize("words", ["the base is away", "input_in is odd"])
def test_another_failure_is_no_refusal(journal, words):
    result = replayed(questions(5), refusing("put_in", error=OSError(words)), journal)
    one = row(result, "gold_in")
    assert (one.asked, one.failed) == (5, 5)
    assert one.reason == f"no call returned an answer: raised: OSError: {words}"


def test_a_knob_that_is_refused_for_some_questions_goes_on(journal):
    class Picky(Shelf):
        def reply(self, ask):
            if "put_in" in ask.knobs and number_of(ask.q) < 3:
                raise CallFailed("bad_request", "no such chunk")
            return super().reply(ask)

    one = row(replayed(questions(6), Picky(), journal), "gold_in")
    assert (one.asked, one.failed, one.repaired, one.reason) == (6, 2, 4, None)


def test_a_system_that_refuses_the_question_itself_is_not_said_to_refuse_a_knob(journal):
    class Closed(Shelf):
        def reply(self, ask):
            if not ask.temperature:
                return super().reply(ask)
            raise CallFailed("bad_request", "no temperature but 0")

    result = replayed(questions(5), Closed(), journal)
    words = (
        "the system rejects the question even without a change: bad_request: no temperature but 0"
    )
    assert [row(result, name).reason for name in ("again", "gold_in")] == [words, words]
    assert counts(result)["temperature_0"] == (5, 0, None)


def test_a_temperature_that_is_refused_is_called_so(journal):
    class Hot(Shelf):
        def reply(self, ask):
            if ask.temperature:
                return super().reply(ask)
            raise CallFailed("http_400", "Bad Request: too cold")

    reason = row(replayed(questions(1), Hot(), journal), "temperature_0").reason
    assert reason == "the system rejects temperature 0: http_400: Bad Request: too cold"


def test_a_system_that_answers_nothing_is_given_up(journal):
    class Down(Shelf):
        def reply(self, ask):
            raise CallFailed("unreachable", "no route to it", again=False)

    system = Down()
    result = replayed(questions(40), system, journal)
    assert result.ended == "error_budget"
    assert len(system.asked) == result.calls == 15
    assert (result.of, result.chosen) == (40, 3)
    reasons = {one.reason for one in result.interventions}
    assert reasons == {"no call returned an answer: unreachable: no route to it"}
    assert system.closed


def test_an_empty_answer_is_a_failure_and_not_a_refusal(journal):
    class Empty(Shelf):
        def reply(self, ask):
            return super().reply(ask) if number_of(ask.q) == 2 else {"answer": " "}

    result = replayed([unanswerable(1), question(2)], Empty(), journal)
    assert [one.failed for one in result.interventions] == [1, 0, 1, 1, 1]
    assert set(result.repaired_by) == {"q2"}


def test_a_failing_call_is_tried_again_as_often_as_it_may_be(journal, monkeypatch):
    monkeypatch.setattr("ragauge.pipelines.attempts.BACKOFF_S", 0.001)
    tries = []

    class Busy(Shelf):
        def reply(self, ask):
            tries.append(ask)
            if len(tries) < 3:
                raise CallFailed("http_503", "busy", again=True)
            return super().reply(ask)

    result = replayed([question(1)], Busy(), journal, retries=2, concurrency=1)
    assert (result.calls, len(tries), row(result, "again").failed) == (5, 7, 0)


# How many, and which.


def asked_of(system):
    return sorted({ask.q for ask in system.asked})


@pytest.mark.parametrize(("budget", "chosen"), [(4, 0), (5, 1), (9, 1), (10, 2), (99, 4)])
def test_as_many_questions_are_asked_as_the_budget_holds_whole(journal, budget, chosen):
    system = Shelf()
    result = replayed(questions(4), system, journal, budget=budget)
    assert (result.chosen, result.of, len(system.asked)) == (chosen, 4, 5 * chosen)
    assert all(one.asked == chosen for one in result.interventions)
    assert asked_of(system) == [f"What is fact {n}?" for n in range(1, chosen + 1)]


def test_changes_that_cannot_be_made_cost_nothing(journal):
    cold = [question(n, variation=Variation(seed=n)) for n in range(1, 5)]
    result = replayed(cold, Shelf(), journal, budget=12, knob_names={"top_k": ""})
    assert (result.chosen, result.calls) == (4, 12)


def test_a_budget_that_is_too_small_says_so_and_leaves_no_journal(journal):
    result = replayed(questions(2), Shelf(), journal, budget=3)
    words = "a budget of 3 calls is not enough: the first question needs 5"
    assert {one.reason for one in result.interventions} == {words}
    assert (result.chosen, result.calls, result.ended) == (0, 0, "complete")
    assert not journal.exists()


def test_where_nothing_went_wrong_nothing_is_asked(journal):
    result = replayed([], Shelf(), journal)
    assert {one.reason for one in result.interventions} == {"no question is known to have failed"}
    assert not journal.exists()


def test_questions_that_went_wrong_several_times_take_turns(journal):
    runs = [
        question(n, id=f"q{n}#{seed}", variation=Variation(temperature=0.7, seed=seed))
        for n in (1, 2, 3)
        for seed in (1, 2)
    ]
    system = Shelf()
    result = replayed(runs[::-1], system, journal, budget=20)
    assert {(ask.q[-2], ask.seed) for ask in system.asked if ask.knobs} == {
        ("1", 1),
        ("2", 1),
        ("3", 1),
        ("1", 2),
    }
    assert list(result.repaired_by) == ["q1#1", "q1#2", "q2#1", "q3#1"]


def test_no_more_samples_are_shown_than_a_few_the_first_by_id(journal):
    one = row(replayed(questions(12), Shelf(), journal), "gold_in")
    assert one.repaired == 12
    assert one.samples == ("q1", "q10", "q11", "q12", "q2")


def test_the_same_replies_come_to_the_same_bytes(tmp_path):
    """Whatever the concurrency and the order, and with a knob that is refused."""
    results = set()
    for turn, concurrency in enumerate((1, 2, 7, 64)):
        wrong = questions(25)
        shuffled = wrong[turn * 5 :] + wrong[: turn * 5]
        system = refusing("take_out")
        result = replayed(shuffled, system, tmp_path / str(turn), concurrency=concurrency)
        results.add(encoded(result))
    assert len(results) == 1


IMPOSSIBLE = {
    "an id twice": ({"failing": [question(1), question(1)]}, '"q1" stands 2 times'),
    "a budget below 0": ({"budget": -1}, "budget is -1; it is 0 or more"),
    "no call at a time": ({"concurrency": 0}, "concurrency is 0; it is 1 or more"),
    "no time": ({"timeout_s": 0.0}, "timeout_s is 0; it is more than 0"),
}


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_what_no_replay_can_be_made_with_is_refused(journal, what):
    given, words = IMPOSSIBLE[what]
    wrong = {"failing": questions(1)} | given
    with pytest.raises(UsageError, match=words):
        replayed(wrong.pop("failing"), Shelf(), journal, **wrong)
    assert not journal.exists()


def test_everything_that_is_wrong_is_told_at_once(journal):
    with pytest.raises(UsageError) as refused:
        replayed([question(1)] * 2, Shelf(), journal, budget=-1, concurrency=0, retries=-1)
    assert len(refused.value.problems) == 4


def test_a_gold_question_without_ids_can_be_repaired_by_its_words(journal):
    gold = Gold(qid="q1", question="What is fact 1?", answerable=True, gold_claim="fact 1 is so")
    result = replayed([question(1, gold=gold)], Shelf(lambda ask, _: True), journal)
    assert "again" in result.repaired_by["q1"]
