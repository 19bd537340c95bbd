"""A virtual environment for each peer, made once and kept under `.bench/venvs`."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
VENVS = ROOT / ".bench" / "venvs"
REQUIREMENTS = Path(__file__).parent / "requirements"
PEERS = ("deepeval", "ragas")


def python_of(peer: str) -> Path:
    """The interpreter of the peer's environment, which is made first where it is missing or old."""
    venv = VENVS / peer
    stamp = venv / "requirements.sha256"
    if not stamp.exists() or stamp.read_text() != requirements_hash(peer):
        make(peer, venv)
        stamp.write_text(requirements_hash(peer))
    return venv / "bin" / "python"


def requirements_file(peer: str) -> Path:
    return REQUIREMENTS / f"{peer}.txt"


def requirements_hash(peer: str) -> str:
    return hashlib.sha256(requirements_file(peer).read_bytes()).hexdigest()


def make(peer: str, venv: Path) -> None:
    ignore_folder(VENVS.parent)
    subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
    install = [*installer(venv / "bin" / "python"), "-r", requirements_file(peer)]
    subprocess.run(install, check=True, env=os.environ | {"UV_LINK_MODE": "copy"})


def ignore_folder(folder: Path) -> None:
    """Keeps the folder out of version control without touching the repository's own list."""
    folder.mkdir(exist_ok=True)
    (folder / ".gitignore").write_text("*\n")


def installer(python: Path) -> list[str | Path]:
    """The install command of `uv` where it stands beside this interpreter, else of pip."""
    uv = Path(sys.executable).with_name("uv")
    if uv.exists():
        return [uv, "pip", "install", "--quiet", "--python", python]
    return [python, "-m", "pip", "install", "--quiet"]


if __name__ == "__main__":
    for name in PEERS:
        python_of(name)
        print(f"{name}: ready")
