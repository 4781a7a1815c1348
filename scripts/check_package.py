"""Check what a wheel and a source distribution hold: all that the documentation names.

    python scripts/check_package.py FOLDER

FOLDER is where ``python -m build`` wrote both. Exits with 1 and names what is missing.
"""

import sys
import tarfile
import zipfile
from pathlib import Path

IN_BOTH = ("py.typed", "checkpoints/cvrp/manifest.json", "samples/stops.csv")
IN_THE_SOURCE = (
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
    "constraints.txt", "mkdocs.yml", "dvc.yaml", "params.yaml", "benchmarks/demo.py",
    "cassettes/cvrp-insertion-smoke-seed0.jsonl", "conf/train.yaml", "docs/index.md",
    "scripts/install.sh", "tests/conftest.py",
)  # fmt: skip
"""What ``make demo``, ``make test`` and the tutorials need of a clone."""


def missing(folder: Path) -> list[str]:
    """Return what the files of a folder lack."""
    [wheel] = folder.glob("*.whl")
    [source] = folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        installed = set(archive.namelist())
    with tarfile.open(source) as archive:
        unpacked = {name.partition("/")[2] for name in archive.getnames()}
    expected = {f"specahd/{name}" for name in (*IN_BOTH, "conf/train.yaml", "conf/llm/local.yaml")}
    lacking = [f"{wheel.name}: {name}" for name in sorted(expected - installed)]
    expected = {*IN_THE_SOURCE, *(f"src/specahd/{name}" for name in IN_BOTH)}
    lacking += [f"{source.name}: {name}" for name in sorted(expected - unpacked)]
    stray = [name for name in installed if name.startswith(("tests/", "docs/"))]
    return [*lacking, *(f"{wheel.name}: {name} does not belong there" for name in stray)]


def main(folder: str) -> None:
    if lacking := missing(Path(folder)):
        sys.exit("\n".join(["Not as it should be:", *lacking]))
    print("wheel and source distribution hold what the documentation names")


if __name__ == "__main__":
    main(*sys.argv[1:])
