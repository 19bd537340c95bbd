"""What judges are asked, and in how many calls."""

from __future__ import annotations

from ragauge.models.judging.asking import judge_answer, likened, planned_calls
from ragauge.models.judging.lexical import lexical_claims
from ragauge.models.judging.rubric import compare_answers, judge_rubric

__all__ = [
    "compare_answers",
    "judge_answer",
    "judge_rubric",
    "lexical_claims",
    "likened",
    "planned_calls",
]
