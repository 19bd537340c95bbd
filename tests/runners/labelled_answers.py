"""Labelled answers for calibrations: grounded ones say what the context says, others do not."""

from __future__ import annotations

import json

TOWNS = ("Arnhem", "Breda", "Delft", "Ede", "Gouda", "Hoorn", "Leiden", "Meppel", "Sneek", "Zwolle")
TRADES = ("cheese", "lace", "paper", "clocks", "rope", "glass")


def labelled(sources=30, answers=4, **more):
    """Rows of answers to questions about towns; every other one invents a trade and a year.

    In each fifth source people saw it the other way round, so that nothing is told for certain.
    """
    rows = []
    for number in range(sources):
        town, trade = TOWNS[number % 10], TRADES[number % 6]
        year = 1500 + 7 * number
        context = f"The museum of {town} opened in {year}. It shows {trade} from the whole country."
        for place in range(answers):
            grounded = place % 2 == 0
            said = context if grounded else f"The palace of {town} burned in {year + 300}, sadly."
            turned = number % 5 == 0 and place < 2
            rows.append(
                {
                    "id": f"s{number:02}-{place}",
                    "question": f"What is there in {town}?",
                    "answer": said + " It is well worth a visit." * (place // 2),
                    "contexts": [context],
                    "source": f"s{number:02}",
                    "model": f"m{(number + place) % 3}",
                    "label": grounded != turned,
                    **more,
                }
            )
    return rows


def written(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
