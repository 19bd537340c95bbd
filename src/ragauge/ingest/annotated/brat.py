"""BRAT's standoff annotations: a text in a .txt file, and in the .ann beside it what is in it."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ragauge.contracts.entities import AnnotatedText, Entity
from ragauge.ingest.annotated.entity_reading import Given, Reading
from ragauge.ingest.annotated.tagged_texts import numbered_lines
from ragauge.ingest.fields import quoted
from ragauge.ingest.lines import read_as_is, read_whole
from ragauge.text.kb_ids import is_nil

ANN, TXT = ".ann", ".txt"
PACKED = ("", ".gz", ".zst")
BARE_IDS = ("wikidata", "id")
"""Knowledge bases that a link is not prefixed with."""
_ENTITY = re.compile(r"(T\S*)\t(\S+) (\d+ \d+(?:;\d+ \d+)*)\t(.*)")
_LINK = re.compile(r"N\S*\tReference (\S+) ([^:\t]+):([^\t]*)(?:\t.*)?")
_OTHER = tuple("AMRE#*")


class Standoff(Struct):
    """What an .ann file holds: entities by their ids, and the other lines as they are."""

    given: dict[str, Given]
    notes: list[str]


def read_brat(source: Path, reading: Reading) -> None:
    """Read a folder of .ann files with their texts, or a single .ann file."""
    folder = source.is_dir()
    packed_files = (file for packed in PACKED for file in source.rglob(f"*{ANN}{packed}"))
    files = sorted(packed_files) if folder else [source]
    if not files:
        reading.problems.append(f"{source}: holds no {ANN} file; name a folder that does")
    for file in files:
        id = _stem(file.relative_to(source) if folder else Path(file.name))
        named = (Path(_stem(file) + TXT + packed) for packed in PACKED)
        beside = next((text for text in named if text.is_file()), None)
        if beside is None:
            fact = f"has no text beside it; put it in {Path(id).name}{TXT}"
            reading.problems.append(f"{file}: {fact}")
        text = None if beside is None else text_of(beside, reading.problems)
        found = standoff(str(file), read_whole(str(file)), reading.problems)
        if text is not None:
            reading.keep(AnnotatedText(id=id, text=text, where=str(file)), [*found.given.values()])
            reading.notes |= {id: tuple(found.notes)} if found.notes else {}
    annotated = {_stem(file) for file in files}
    for packed in PACKED if folder else ():
        for file in sorted(source.rglob(f"*{TXT}{packed}")):
            if _stem(file) not in annotated:
                fact = f"has no {ANN} beside it; it is not scored"
                reading.find("not_annotated", str(file), fact)


def text_of(file: Path, problems: list[str]) -> str | None:
    """The text of a file, its line ends as they are: offsets count them."""
    try:
        return read_as_is(str(file)).decode()
    except UnicodeDecodeError:
        problems.append(f"{file}: is not UTF-8 text; save it as UTF-8")
        return None


def standoff(name: str, content: bytes, problems: list[str]) -> Standoff:
    """What the lines of an .ann file say; offsets are not checked against any text."""
    found = Standoff({}, [])
    links: list[tuple[str, str]] = []
    for where, line in numbered_lines(name, content, problems):
        if line.startswith("T"):
            _add_entity(where, line, found, problems)
        elif line.startswith("N"):
            links.append((where, line))
        elif line.startswith(_OTHER):
            found.notes.append(line)
        elif line.strip():
            fact = f"{quoted(line)} begins with none of T N {' '.join(_OTHER)}"
            problems.append(f"{where}: {fact}; it is no line of BRAT")
    for where, line in links:
        _add_link(where, line, found, problems)
    return found


def _add_entity(where: str, line: str, found: Standoff, problems: list[str]) -> None:
    """Text-bound annotations: `T1<tab>TYPE 0 4<tab>surface`, or `0 4;9 12` for several parts."""
    matched = _ENTITY.fullmatch(line)
    if not matched:
        problems.append(f"{where}: not like T1<tab>TYPE 0 4<tab>text")
        return
    id, kind, places, surface = matched.groups()
    if id in found.given:
        problems.append(f"{where}: {id} stands at {found.given[id].where} already; number it anew")
        return
    offsets = [int(number) for number in re.findall(r"\d+", places)]
    parts = tuple(zip(offsets[::2], offsets[1::2], strict=True))
    entity = Entity(
        start=parts[0][0],
        end=parts[-1][1],
        type=kind,
        text=surface or None,
        fragments=parts if len(parts) > 1 else (),
        id=id,
    )
    found.given[id] = Given(entity, where)


def _add_link(where: str, line: str, found: Standoff, problems: list[str]) -> None:
    """Normalisations: `N1<tab>Reference T1 Wikidata:Q190804<tab>name`."""
    matched = _LINK.fullmatch(line)
    if not matched:
        problems.append(f"{where}: not like N1<tab>Reference T1 Wikidata:Q1<tab>name")
        return
    target, base, id = matched.groups()
    one = found.given.get(target)
    if one is None:
        problems.append(f"{where}: links {target}, which is no entity of this file")
        return
    named = () if is_nil(id) else (id if base.lower() in BARE_IDS else f"{base}:{id}",)
    linked = replace(one.entity, links=(*(one.entity.links or ()), *named))
    found.given[target] = Given(linked, one.where)


def _stem(file: Path) -> str:
    """A file's name without its endings, with the folders it stands in."""
    return re.sub(r"\.(?:ann|txt)(?:\.gz|\.zst)?$", "", file.as_posix())
