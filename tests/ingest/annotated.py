"""Annotated texts for the tests of their readers and writers."""

from hypothesis import strategies as st

from ragauge.contracts.entities import AnnotatedText, Entity
from ragauge.ingest.annotated.entity_files import read_entities
from ragauge.ingest.annotated.entity_reading import ReadingOptions
from ragauge.ingest.annotated.entity_writing import written
from ragauge.ingest.annotated.tagged_texts import laid

TYPES = ("PER", "GRP-X", "GRP.HER.MUS")
WORDS = st.text("abé#-\"'|_O🏛漢", min_size=1, max_size=4)


def entities_in(path, problems, input_format=None, **options):
    how = ReadingOptions(**options)
    return read_entities(path, how, problems=problems, input_format=input_format)


def read(path, **options):
    """A file that must be read without a problem."""
    problems = []
    found = entities_in(path, problems, **options)
    assert problems == []
    return found


def problems_of(path, **options):
    problems = []
    entities_in(path, problems, **options)
    return problems


def read_text(folder, content, name="given.txt", **options):
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return read(file, **options)


def spans(document):
    return [(one.start, one.end, one.type) for one in document.entities]


def again(documents, form, folder, notes=None):
    """What is read of documents that were written in a form that can hold them."""
    problems = []
    content = written(documents, form, problems=problems, notes=notes)
    assert problems == []
    if form == "brat":
        for name, file in content.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(file)
        return read(folder)
    (folder / "written").write_bytes(content)
    return read(folder / "written", input_format=form)


@st.composite
def tagged_texts(draw, sentence_ends=True):
    """A document of tokens with entities that do not overlap."""
    words = draw(st.lists(WORDS, min_size=1, max_size=8))
    gaps = [" ", "\n"] if sentence_ends else [" "]
    after = draw(st.lists(st.sampled_from(gaps), min_size=len(words), max_size=len(words)))
    text, tokens = laid(zip(words, after, strict=True))
    edges = draw(st.lists(st.integers(0, len(words)), max_size=6, unique=True).map(sorted))
    runs = list(zip(edges[::2], edges[1::2], strict=False))
    entities = []
    for first, end in runs:
        if any("\n" in gap for gap in after[first : end - 1]):
            continue
        start, stop = tokens[first][0], tokens[end - 1][1]
        entities.append(
            Entity(start=start, end=stop, type=draw(st.sampled_from(TYPES)), text=text[start:stop])
        )
    return AnnotatedText(id="d1", text=text, tokens=tokens, entities=tuple(entities), where="here")


@st.composite
def marked_texts(draw):
    """A document with any entities: nested, overlapping, discontinuous, linked."""
    text = draw(st.text("ab é\n🏛漢\r\t", min_size=1, max_size=20))
    entities = {}
    for number in range(draw(st.integers(0, 4))):
        edges = draw(
            st.lists(st.integers(0, len(text)), min_size=2, max_size=6, unique=True).map(sorted)
        )
        parts = tuple(zip(edges[::2], edges[1::2], strict=False))
        entity = Entity(
            start=parts[0][0],
            end=parts[-1][1],
            type=draw(st.sampled_from(TYPES)),
            text=" ".join(text[start:end] for start, end in parts),
            fragments=parts if len(parts) > 1 else (),
            links=draw(st.sampled_from([None, (), ("Q1",), ("Q2", "viaf:9"), ("NL-AmRM",)])),
            id=f"T{number + 1}",
        )
        entities.setdefault((parts, entity.type), entity)
    return AnnotatedText(id="d1", text=text, entities=tuple(entities.values()), where="here")
