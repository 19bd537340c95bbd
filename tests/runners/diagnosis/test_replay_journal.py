"""The journal of a replay: nothing is asked twice, nothing is lost, no other file is touched."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from ragauge.contracts.diagnosis import Replay
from ragauge.contracts.system import CallFailed
from ragauge.errors import InputRejected, UsageError
from ragauge.metrics.facts import Reading
from tests.runners.diagnosis.replaying import (
    Shelf,
    counts,
    encoded,
    number_of,
    question,
    questions,
    replayed,
)


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "replay.jsonl"


def without_resumed(result):
    return encoded(structs.replace(result, resumed=0))


# Going on.


def test_what_was_answered_is_not_asked_again(journal):
    first = replayed(questions(4), Shelf(), journal)
    kept = journal.read_bytes()
    system = Shelf()
    second = replayed(questions(4), system, journal)
    assert system.asked == []
    assert (second.calls, second.resumed) == (20, 20)
    assert without_resumed(second) == without_resumed(first)
    assert journal.read_bytes() == kept


def test_a_line_is_a_call_under_a_first_line_that_says_which_replay_it_is(journal):
    replayed([question(1)], Shelf(), journal)
    first, *lines = map(json.loads, journal.read_text().splitlines())
    assert first["schema"] == "ragauge.replay-journal/1"
    assert sorted(first["parts"]) == ["knob_names", "knobs", "questions", "system"]
    assert sorted(line["intervention"] for line in lines) == [
        "again",
        "gold_in",
        "noise_out",
        "temperature_0",
        "top_k_doubled",
    ]
    assert {line["id"] for line in lines} == {"q1"}
    temperatures = {line["intervention"]: line["trace"]["run_id"] for line in lines}
    assert temperatures["temperature_0"] == "q1#seed=1;t=0;j=none;p=0"
    assert temperatures["again"] == "q1#seed=2;t=0.7;j=none;p=0"


def test_what_failed_is_asked_again_and_counts_as_it_came_out_last(journal):
    class Flaky(Shelf):
        def reply(self, ask):
            if number_of(ask.q) == 2:
                raise CallFailed("unreachable", "just now")
            return super().reply(ask)

    first = replayed(questions(3), Flaky(), journal)
    assert [one.failed for one in first.interventions] == [1] * 5
    assert counts(first)["gold_in"] == (3, 2, 2)
    system = Shelf()
    second = replayed(questions(3), system, journal)
    assert {number_of(ask.q) for ask in system.asked} == {2}
    assert (len(system.asked), second.resumed) == (5, 10)
    assert [one.failed for one in second.interventions] == [0] * 5
    assert counts(second)["gold_in"] == (3, 3, 3)


def test_a_larger_budget_goes_on_and_a_smaller_one_looks_at_fewer(journal):
    replayed(questions(6), Shelf(), journal, budget=10)
    system = Shelf()
    more = replayed(questions(6), system, journal, budget=20)
    assert (more.chosen, more.calls, more.resumed, len(system.asked)) == (4, 20, 10, 10)
    fewer = replayed(questions(6), Shelf(), journal, budget=5)
    assert (fewer.chosen, fewer.calls, fewer.resumed) == (1, 5, 5)


def test_another_reading_asks_nothing_anew(journal):
    replayed(questions(2), Shelf(), journal)
    system = Shelf()
    again = replayed(questions(2), system, journal, reading=Reading(canon="reference"))
    assert (system.asked, again.resumed) == ([], 10)


def test_another_language_asks_nothing_anew_and_tells_its_own_reasons(journal):
    replayed(questions(2), Shelf(), journal, knob_names={"top_k": None})
    system = Shelf()
    options = {"knob_names": {"top_k": None}, "language": "zh"}
    again = replayed(questions(2), system, journal, **options)
    assert (system.asked, again.resumed) == ([], 8)
    assert again.interventions[-1].reason == "参数对照表注明流水线没有 top_k"


def test_another_order_or_speed_is_no_other_replay(journal):
    replayed(questions(3), Shelf(), journal)
    speed = {"concurrency": 1, "timeout_s": 1.0, "retries": 5}
    assert replayed(questions(3)[::-1], Shelf(), journal, **speed).resumed == 15


def test_a_last_line_that_was_cut_short_is_dropped_and_its_call_made_anew(journal):
    whole = replayed(questions(2), Shelf(), journal)
    journal.write_bytes(journal.read_bytes()[:-10])
    system = Shelf()
    result = replayed(questions(2), system, journal)
    assert (len(system.asked), result.resumed) == (1, 9)
    assert without_resumed(result) == without_resumed(whole)
    assert len(journal.read_text().splitlines()) == 11


def test_a_first_line_cut_short_anywhere_is_written_anew(journal):
    replayed([question(1)], Shelf(), journal)
    first = journal.read_bytes().splitlines()[0]
    for length in (*range(0, len(first), 40), len(first)):
        journal.write_bytes(first[:length])
        system = Shelf()
        assert replayed([question(1)], system, journal).resumed == 0
        assert len(system.asked) == 5
        assert journal.read_bytes().startswith(first + b"\n")


def test_blank_lines_and_a_byte_order_mark_do_not_stop_it(journal):
    replayed(questions(2), Shelf(), journal)
    journal.write_bytes(b"\xef\xbb\xbf" + journal.read_bytes().replace(b"\n", b"\n\n"))
    assert replayed(questions(2), Shelf(), journal).resumed == 10


# Refusing others.


CHANGES = {
    "the questions that went wrong": {"failing": questions(3)},
    "the system": {"system": Shelf(version=2)},
    "the knobs": {"knobs": {"pool": 9}},
    "the names of the knobs": {"knob_names": {"put_in": "extra"}},
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_journal_of_another_replay_is_refused_with_words_and_untouched(journal, what):
    replayed(questions(2), Shelf(), journal)
    journal.write_bytes(journal.read_bytes()[:-1])  # a torn line of another's is not ours to cut
    before = journal.read_bytes()
    given = {"failing": questions(2), "system": Shelf()} | CHANGES[what]
    with pytest.raises(UsageError) as refused:
        replayed(given.pop("failing"), given.pop("system"), journal, **given)
    assert str(refused.value) == (
        f"{journal}: holds replies of another replay: changed since: {what}; "
        "name another journal, or move this one away"
    )
    assert journal.read_bytes() == before


def test_a_question_that_went_wrong_in_another_way_is_another_question(journal):
    replayed([question(1)], Shelf(), journal)
    with pytest.raises(UsageError, match="the questions that went wrong"):
        replayed([question(1, retrieved_ids=("n9",))], Shelf(), journal)


def test_names_of_knobs_that_a_replay_does_not_turn_do_not_matter(journal):
    replayed([question(1)], Shelf(), journal)
    names = {"reranker": "cross_encoder", "put_in": "put_in"}
    assert replayed([question(1)], Shelf(), journal, knob_names=names).resumed == 5


@pytest.mark.parametrize("content", ['{"a": 1}', "{\n}\n", "a note\n", '{"qid": "q1"}\n{"qid"'])
def test_a_file_of_somebody_elses_is_refused_untouched(journal, content):
    journal.write_text(content)
    with pytest.raises(UsageError, match="is no journal of a replay; name another"):
        replayed([question(1)], Shelf(), journal)
    assert journal.read_text() == content


def test_a_journal_of_another_version_is_refused(journal):
    replayed([question(1)], Shelf(), journal)
    journal.write_text(journal.read_text().replace("replay-journal/1", "replay-journal/99"))
    with pytest.raises(UsageError, match=r"is a ragauge\.replay-journal/99, not a "):
        replayed([question(1)], Shelf(), journal)


def test_every_broken_line_is_named_and_nothing_is_lost(journal):
    replayed([question(1)], Shelf(), journal)
    lines = journal.read_text().split("\n")
    lines[2], lines[4] = "{oops", '{"id": "q1", "intervention": 7, "trace": {}}'
    broken = "\n".join(lines)
    journal.write_text(broken)
    system = Shelf()
    with pytest.raises(InputRejected) as refused:
        replayed([question(1)], system, journal)
    assert [problem.split(": ")[0] for problem in refused.value.problems] == [
        f"{journal}:3",
        f"{journal}:5",
    ]
    assert system.asked == []
    assert journal.read_text() == broken


def test_two_replays_cannot_write_to_one_journal(journal):
    from concurrent.futures import ThreadPoolExecutor

    refused = []

    class Second(Shelf):
        def reply(self, ask):
            if not refused:
                with ThreadPoolExecutor(1) as thread:
                    other = thread.submit(replayed, [question(1)], Shelf(), journal)
                    refused.append(other.exception())
            return super().reply(ask)

    replayed([question(1)], Second(), journal)
    assert isinstance(refused[0], UsageError)
    assert len(journal.read_text().splitlines()) == 6


# Interrupts and kills.


def test_progress_never_runs_ahead_of_the_disk(journal):
    told = []

    def watch(progress):
        lines = journal.read_bytes().splitlines()
        told.append((progress.done, progress.of, progress.failed, progress.saved, len(lines) - 1))

    replayed(questions(4), Shelf(), journal, watch=watch)
    assert told[0] == (0, 20, 0, 0, 0)
    assert told[-1] == (20, 20, 0, 0, 20)
    replayed(questions(4), Shelf(), journal, watch=watch)
    assert told[-1] == (20, 20, 0, 0, 20)
    assert all(done + failed <= on_disk for done, _, failed, _, on_disk in told)


def test_progress_tells_what_a_refused_knob_saves(journal):
    class Refusing(Shelf):
        def reply(self, ask):
            if "top_k" in ask.knobs:
                raise CallFailed("bad_request", "no")
            return super().reply(ask)

    told = []
    replayed(questions(9), Refusing(), journal, watch=told.append)
    last = told[-1]
    assert (last.done, last.of, last.failed, last.saved) == (36, 45, 3, 6)


INTERRUPTED = """
import asyncio, sys
from pathlib import Path
from tests.runners.diagnosis.replaying import Shelf, encoded, questions, replayed

class Hanging(Shelf):
    async def ask(self, ask):
        if len(self.asked) < int(sys.argv[2]):
            return await super().ask(ask)
        print("hangs", flush=True)
        await asyncio.Event().wait()

result = replayed(questions(6), Hanging(), Path(sys.argv[1]), concurrency=1)
print(encoded(result).decode())
"""


def interrupted(journal, after, number):
    """The replay of six questions that was told to stop in the call after some."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, journal, str(after)],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "hangs\n"
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, stderr
    return msgspec.json.decode(stdout, type=Replay)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_and_what_is_there_comes_back(journal, number):
    result = interrupted(journal, 10, number)
    assert (result.ended, result.of, result.chosen, result.calls) == ("interrupted", 6, 2, 10)
    assert [one.asked for one in result.interventions] == [2] * 5
    assert result.repaired_by == dict.fromkeys(("q1", "q2"), ("gold_in", "top_k_doubled"))
    finished = replayed(questions(6), Shelf(), journal)
    assert (finished.ended, finished.resumed, finished.calls) == ("complete", 10, 30)


def test_a_change_that_was_not_reached_says_so(journal):
    result = interrupted(journal, 2, signal.SIGINT)
    assert [one.asked for one in result.interventions] == [1, 1, 0, 0, 0]
    assert (result.of, result.chosen) == (6, 1)
    reasons = {one.reason for one in result.interventions[2:]}
    assert reasons == {"the replay stopped before any question was sent with this change"}


def test_an_interrupt_before_the_first_reply_leaves_no_question_asked(journal):
    result = interrupted(journal, 0, signal.SIGINT)
    assert (result.ended, result.of, result.chosen, result.calls) == ("interrupted", 6, 0, 0)


def test_fifty_kills_lose_nothing_and_repeat_nothing(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "tests.runners.diagnosis.killed_replays", tmp_path],
        capture_output=True,
        check=False,
        timeout=120,
        cwd=Path(__file__).parents[3],
    )
    assert ended.returncode == 0, ended.stderr.decode()
    found = json.loads(ended.stdout)
    assert found["called_again"] == []
    assert found["lost"] == []
    assert found["same"]
    assert found["lines"] == found["calls"]
    assert found["parts_that_called"] > 20
    assert 0 < found["done_by_killed_parts"] < found["calls"]
