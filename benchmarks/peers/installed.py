"""Prints the bytes of a package and of all it needs, as this interpreter has them installed."""

import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement


def main() -> None:
    print(sum(size(one) for one in needed(sys.argv[1]).values()))


def needed(name: str) -> dict[str, Distribution]:
    """The package and what it requires here, in turn; what is optional and not chosen is not."""
    found: dict[str, Distribution] = {}
    waiting = [(name, frozenset[str]())]
    seen = set(waiting)
    while waiting:
        one, extras = waiting.pop()
        try:
            package = distribution(one)
        except PackageNotFoundError:
            continue  # for another system or version
        found[plain(one)] = package
        for text in package.requires or ():
            wanted = Requirement(text)
            chosen = [{"extra": extra} for extra in extras or ("",)]
            if wanted.marker is None or any(map(wanted.marker.evaluate, chosen)):
                asked = plain(wanted.name), frozenset(wanted.extras)
                waiting += [asked] if asked not in seen else []
                seen.add(asked)
    return found


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def size(package: Distribution) -> int:
    """The bytes of its files, without what Python compiled from them."""
    files = (file for file in package.files or () if file.suffix != ".pyc")
    places = (Path(str(file.locate())) for file in files)
    return sum(place.stat().st_size for place in places if place.is_file())


if __name__ == "__main__":
    main()
