"""Sentences: a table of hard cases in five languages, and laws that hold for any text.

In the table a bar ¦ stands where a sentence ends; it is taken out before the text is split.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.text.sentences import Span, sentences

ABBREVIATED = [
    "Dr. Smith came.¦ He left.",
    "It holds, e.g. The Night Watch, many works.¦ It is big.",
    "The U.S. Congress met.¦ It was in the U.S.¦ The vote was close.",
    "See No. 5 on the list.¦ No.¦ The museum is closed.",
    "He lives in St. Louis.¦ She lives on Main St.¦ They met.",
    "On Jan. 5, 1800 it opened.¦ It closed in Jan.¦ Nobody came.",
    "It weighs approx. 3 kg.¦ It is heavy.",
    "Ajax vs. Feyenoord was played.¦ Ajax won.",
    "Apple Inc. announced it.¦ It bought Beats Inc.¦ The price rose.",
    "J. R. R. Tolkien wrote it.¦ C. S. Lewis read it.",
    "The work of Smith et al. (2010) shows it.¦ Others differ.",
    "At 5 p.m.¦ Visitors leave.",
    "He came at 10 a.m. and left.¦ The length is 12 m.¦ Visitors walk.",
    "He has a Ph.D. in law.¦ She has a Ph.D.¦ The end.",
    "Vitamin C.¦ It helps.",
    "U.S.A.¦ We went.",
    "The shop is in Goleta, CA.¦ As a deli it is known.",
    "Dit is, bijv. De Nachtwacht, een schilderij.¦ Het hangt er.",
    "Hij kwam om ca. 12 uur.¦ Zie blz. 12 en nr. 3.¦ Dhr. Jansen, mevr. De Vries e.a. waren er.",
    "Rembrandt (geb. 1606 te Leiden) was schilder.¦ Hij stierf in 1669.",
    "Er malte z.B. Die Nachtwache.¦ Danach starb er.",
    "Er malte z. B. Die Nachtwache.¦ Danach starb er.",
    "Der Hr. Dr. Müller, d. h. Der Chef, kam.¦ Vgl. Abb. 3 und S. 12.¦ Usw.",
    "Am 12. Mai 1800 kam er.¦ Im 18. Jahrhundert starb er.¦ Der 2. Weltkrieg begann.",
    "Ludwig XIV. war König.¦ Er starb 1715.",
    "M. Dupont est venu.¦ Il est parti.",
    "On voit, p. ex. Le Radeau, des tableaux.¦ Ils sont grands.",
    "Voir art. 5 et n° 3.¦ Mme Curie et MM. Dupont sont là, c.-à-d. ici.¦ Etc.",
]
MARKED = [
    "It is 3.14 wide.¦ Version 1.2.3 is out.",
    "See https://www.example.com/a.b?c=d!e.¦ Mail j.doe@example.co.uk.¦ Then wait.",
    "Well...¦ I think so... but not now… perhaps.¦ Yes.",
    "Well . . . yes.¦ No . . .¦ Then.",
    'He said so."¦ Then he left.',
    '"He said so."¦ Then he left.',
    '"It is so." he said.¦ "Go!" she cried.',
    "“It is old,” he said.¦ (It is not.)¦ «Non.»¦ Il part.",
    "It opened in 1800.[1]¦ Then it grew [2].¦ Then it closed. [3]¦ Now it is open.[4][5]",
    "It opened in 1800.[1, 2]¦ Then it grew.【3】¦ Done.",
    "It opened in 1800.¹²¦ Then it grew.",
    "**Bold start.**¦ Then *more.*¦ End.",
    "He was 12.¦ Then he grew.",
    "It cost $3.5 million.¦ 200 people came.",
    "Is it true?¦ Yes!¦ What?!¦ Yahoo! is a firm.",
    "it was founded in 1800.¦ it is big.¦ see fig. 3 for more.",
    "The end came in 1800.¦It was late.",
    "The iPhone sold.¦ iPhone sales rose.",
    "First point; second (see p. 4).¦ Third.",
    "¿Qué?¦ ¡No!",
    "Fine! 🎉",
    "Canada 's head , when elected .¦ The prime minister left .¦ he came back .",
    'He said , " Go . "¦ Then he went .',
    "she said `` go . ''¦ The end .",
    "The chief ( James Pickens , Jr . ) organizes a dinner .¦ It is good .",
]
CHINESE = [
    "它成立于1800年。¦它在哪里？¦“在阿姆斯特丹！”¦对。",
    "他说：「我来了。」¦然後他走了。",
    '他说"好。"¦然后走了。¦"来吧！"¦他来了。',
    "这是3.14。¦版本1.2.3发布了.¦他来了",
    "《怎么办？》是一本书。¦他读过……然后走了。",
    "他来了吗?¦他没来!¦好的。",
]
LINES = [
    "Steps:\n¦1. Do this\n¦2. Do that.¦ And more\n¦3. Stop",
    "Steps: ¦1. Do this.¦ 2. Do that.",
    "1.Do this\n¦2.Do that",
    "- one\n¦- two goes on\n¦* three\n¦• four\n¦and not a part of it",
    "* One is. (Passage 1)\n¦* Two is. (Passages 1 and 2)¦ Three is.\n¦*four* is",
    "a) first\n¦b) second\n¦(iii) third",
    "1）一\n¦2、二\n¦（三）三",
    "# Heading\n¦Text runs here.",
    "## 1. Heading\n¦1.2. Another\n¦> quoted",
    "Opening hours\n¦The museum opens at nine.",
    "The museum in the city was\nfounded in 1800 and grew.¦ It is big.",
    "The list is long,\nAmsterdam and Rotterdam among them.",
    "He lived in the\nUnited States.",
    "The Rijksmuseum is the national museum of the Netherlands, built at\nAmsterdam.",
    "Er kam im Jahr 1800 am\n12. Mai nach Hause.",
    "Name: Rijksmuseum\n¦City: Amsterdam\n¦founded: 1800",
    "**Name:** Rijksmuseum\n¦**City:** Amsterdam",
    "名称：国立博物馆\n¦城市：阿姆斯特丹",
    "| a | b |\n¦|---|---|\n¦| Dr. X. Yes. | 2 |",
    "First paragraph without stop\n\n¦second one",
    "One.\r\n¦Two.\u2028¦Three.",
    "Text.\n¦---\n¦More text.",
    "Note: this line runs on as a sentence does, because it is long enough to be\nwrapped here.",
]


def test_hard_cases() -> None:
    faults = []
    for marked in (*ABBREVIATED, *MARKED, *CHINESE, *LINES):
        text = marked.replace("¦", "")
        found = [text[start:end] for start, end in sentences(text)]
        if found != [part.strip() for part in marked.split("¦")]:
            faults.append(found)
    assert faults == []


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [". ", "! ", "? ", "\n", "\n\n", "\r\n", "\t", " ", "\u2028", "1. ", "2) "]
        ),
        st.sampled_from(["- ", "* ", "# ", "> ", ": ", "U.S. ", "J. ", "z. B.", "12. Mai", "''"]),
        st.sampled_from([*'…。！"”()|》_;\u2028', "...", "[1]", "【2】", "Dr.", "e.g.", "3.14"]),
        st.sampled_from(["The", "the", "museum", "夜巡", "It", "1800"]),
        st.text(max_size=6),
    ),
    max_size=40,
).map("".join)


@given(PIECES)
def test_every_character_except_spaces_is_in_one_sentence(text: str) -> None:
    at = 0
    for start, end in sentences(text):
        assert not text[at:start].strip() and start < end <= len(text)
        assert text[start:end].strip() == text[start:end]
        at = end
    assert not text[at:].strip()


@given(PIECES, PIECES)
def test_paragraphs_do_not_touch_each_other(one: str, other: str) -> None:
    shift = len(one) + 2
    apart = [*sentences(one), *(Span(a + shift, b + shift) for a, b in sentences(other))]
    assert sentences(f"{one}\n\n{other}") == apart == sentences(f"{one}\n\n{other}")


@pytest.mark.parametrize(
    "piece",
    [".", "(", ". ", "x. ", "a.", ".[", '."', "\n", ": 1. A", "*_", "1.", "> ", "。《", "a? ",
     "a . '' ", "a. [1", "1. a\n", ".)", "- ", "|", "a:\n", " . .", "A.B. "],
)  # fmt: skip
def test_a_hostile_text_is_split(piece: str) -> None:
    """`benchmarks.linearity` holds long ones to their length."""
    text = (piece * 5_000)[:5_000]
    spans = sentences(text)
    assert sum(end - start for start, end in spans) >= len("".join(text.split()))
