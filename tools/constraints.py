#!/usr/bin/env python3
"""`make constraints`: writes constraints.txt from what is installed here, keeping packages that other Pythons need.

Run it in a fresh environment after a change of the pins in pyproject.toml, and then the tests on every Python.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "constraints.txt"
LEFT_OUT = {"pip", "gpulab"}


def main() -> int:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    head = [line for line in lines if line.startswith("#")]
    known = dict(line.split("==") for line in lines if "==" in line)
    for package in importlib.metadata.distributions():
        name = re.sub(r"[-_.]+", "-", package.metadata["Name"])
        if name.lower() in LEFT_OUT:
            continue
        same = next((old for old in known if re.sub(r"[-_.]+", "-", old).lower() == name.lower()), None)
        known[same or package.metadata["Name"]] = package.version
    FILE.write_text(
        "\n".join([*head, *(f"{k}=={known[k]}" for k in sorted(known, key=str.lower))]) + "\n", encoding="utf-8"
    )
    print(f"{FILE.name}: {len(known)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
