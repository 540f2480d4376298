"""Resolves the lock files again: one for the core and the tests, one for each extra. Run by `make lock`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
EXTRAS = ("llm", "dask", "ray", "s3")
PYTHONS = ("3.12", "3.13")
OPTIONS = ("--generate-hashes", "--no-header", "--no-emit-index-url", "--no-annotate", "--quiet")


def resolve(*arguments: str) -> None:
    command = [sys.executable, "-m", "uv", "pip", "compile", str(HERE.parent / "pyproject.toml"), *OPTIONS, *arguments]
    subprocess.run(command, check=True)


def main() -> None:
    """Versions for every supported Python in one file each; then a proof that the newer Pythons resolve to them."""
    core = str(HERE / "core.txt")
    resolve("--extra", "dev", "--universal", "--python-version", "3.11", "--output-file", core)
    for extra in EXTRAS:
        target = str(HERE / f"{extra}.txt")
        resolve(
            "--extra", extra, "--universal", "--python-version", "3.11", "--constraint", core, "--output-file", target
        )
    for python in PYTHONS:
        resolve("--extra", "dev", "--python-version", python, "--constraint", core, "--output-file", "/dev/null")


if __name__ == "__main__":
    main()
