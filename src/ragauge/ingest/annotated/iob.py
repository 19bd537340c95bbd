"""A token a line with its tag: IOB1, IOB2, BIOES, BILOU, and the columns of CoNLL-2003."""

from __future__ import annotations

import re

from ragauge.contracts.entities import ONE_LAYER
from ragauge.ingest.annotated.entity_reading import Reading
from ragauge.ingest.annotated.tagged_texts import (
    MARKS,
    OUTSIDE,
    Block,
    Layer,
    TaggedToken,
    bad_tag,
    blocks_of,
    documents_of,
    keep_tagged,
    numbered_lines,
    scheme_of,
    tag_of,
)

CONLL2003 = "conll2003"
CONLL2003_COLUMNS = 4
DOCUMENT_START = "-DOCSTART-"
LIKE_TAG = re.compile(r"O|[A-Z]-\S+")
_COMMENT = re.compile(
    r"# *(?:newdoc id|doc_id|document_id) *= *(?P<document>\S.*)"
    r"|# *(?:sent_id|id) *= *(?P<sentence>\S.*)"
    r"|# id +(?P<word>\S+).*"
    r"|# *[\w.:]+ *=.*"
)
"""Comments that say what something is, a document or a sentence at times."""


def read_iob(name: str, content: bytes, reading: Reading, form: str | None = None) -> str:
    """Read the documents of a file of tokens and tags; the form it has comes back."""
    lines = list(numbered_lines(name, content, reading.problems))
    blocks = list(blocks_of(lines, is_note, cells_of))
    rows = [cells for block in blocks for _, cells in block.rows]
    width = len(rows[0]) if rows else 0
    if not lines:
        return form or "iob2"
    asked = reading.options.column
    if not width:
        fact: str | None = "holds no token; write a token and its tag a line"
    elif width == 1:
        fact = "has one column; write the token first and its tag last"
    elif form == CONLL2003 and width != CONLL2003_COLUMNS:
        fact = f"has {width} columns, and CoNLL-2003 has 4: token, part of speech, chunk, tag"
    else:
        fact = no_column(asked, width)
    if fact:
        reading.problems.append(f"{name}: {fact}")
        return form or "iob2"
    column = width - 1 if asked is None else asked - 1
    starts = content.lstrip().startswith(DOCUMENT_START.encode())
    like_conll2003 = width == CONLL2003_COLUMNS and starts
    told: str | None = CONLL2003 if form is None and like_conll2003 else form
    tags = [[row[column] for _, row in one.rows if len(row) == width] for one in blocks]
    layer = Layer(ONE_LAYER, told if told in MARKS else scheme_of(tags))
    named: list[tuple[str | None, str | None, Block]] = []
    begun = 0
    reading.unnamed = True
    for block in blocks:
        document: str | None = None
        sentence: str | None = None
        for note in block.notes:
            comment = _COMMENT.fullmatch(note.rstrip())
            if note.startswith(DOCUMENT_START):
                begun += 1
                document = str(begun)
            elif comment:
                document = comment["document"] or document
                sentence = comment["sentence"] or comment["word"] or sentence
                if any(comment.groups()):
                    reading.unnamed = False
        named.append((document, sentence, block))
    for id, members in documents_of(named):
        tagged = [_tagged(one, width, column, layer.form, reading) for one in members]
        keep_tagged(reading, id, tagged, [layer])
    return told or layer.form


def cells_of(line: str) -> list[str]:
    """The cells of a line: parted by tabs, or by blanks where it has no tab.

    A no-break space is no blank here: it may be part of a token.
    """
    return line.split("\t") if "\t" in line else re.split(" +", line.strip(" "))


def no_column(asked: int | None, width: int) -> str | None:
    """Why no tag can stand in the column asked for; None where one can, or none is asked for.

    >>> no_column(9, 3), no_column(3, 3)
    ('column 9: there are 3, and the first is the token', None)
    """
    if asked is None or 2 <= asked <= width:
        return None
    return f"column {asked}: there are {width}, and the first is the token"


def is_note(line: str) -> bool:
    """Whether a line says something of the tokens below it: a comment, or a document's start."""
    return line.startswith(DOCUMENT_START) or is_comment(line)


def is_comment(line: str) -> bool:
    """Whether a line is a comment, and not a token that begins with #: those have a tag."""
    if not line.startswith("#"):
        return False
    tagged = any(map(LIKE_TAG.fullmatch, cells_of(line)[1:]))
    return not tagged or _COMMENT.fullmatch(line) is not None


def _tagged(
    block: Block, width: int, column: int, form: str, reading: Reading
) -> list[TaggedToken]:
    tagged: list[TaggedToken] = []
    for where, cells in block.rows:
        fact, tag = None, None
        if len(cells) != width:
            fact = f"has {len(cells)} columns, and the first token's line {width}"
        elif not cells[0]:
            fact = "has no token in its first column"
        else:
            tag = tag_of(cells[column], MARKS[form])
            fact = bad_tag(cells[column], form) if tag is None else None
        if fact:
            reading.problems.append(f"{where}: {fact}")
        tagged.append(TaggedToken(cells[0], " ", where, (tag or OUTSIDE,)))
    return tagged
