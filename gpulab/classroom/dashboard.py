"""A notebook that shows a class: `write(folder)` puts it beside the report, unless one is there already."""

from __future__ import annotations

import json
from pathlib import Path

from gpulab.classroom.store import replace_file

NAME = "dashboard.ipynb"

CELLS = (
    ("markdown", "# The class\n\nRun all cells after each `gpulab grade`. `hide_names = True` shows it to others."),
    ("code", "hide_names = False"),
    (
        "code",
        "from pathlib import Path\n\n"
        "import matplotlib.pyplot as plt\n\n"
        "from gpulab.classroom.overview import overview\n\n"
        'found = overview(Path("."), hide_names)\n'
        "print(found.exercises.text)",
    ),
    ("markdown", "## Which exercise"),
    (
        "code",
        'names, passed = found.exercises.column("exercise"), found.exercises.column("passed")\n'
        'handed, students = found.exercises.column("handed in"), found.exercises.column("students")\n'
        "figure, axes = plt.subplots(figsize=(8, 1 + 0.35 * len(names)))\n"
        'axes.barh(names, students, color="#d9d9d9", label="not handed in")\n'
        'axes.barh(names, handed, color="#e69f00", label="handed in, not passed")\n'
        'axes.barh(names, passed, color="#0072b2", label="passed")\n'
        "axes.invert_yaxis()\n"
        'axes.set_xlabel("students")\n'
        'axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, frameon=False)\n'
        "plt.show()",
    ),
    ("markdown", "## Which mistakes, how often"),
    ("code", "print(found.causes.text)"),
    ("markdown", "## Attempts, hints, and the causes of all attempts"),
    ("code", "print(found.attempts.text)\nprint(found.found.text)"),
    ("markdown", "## Points"),
    (
        "code",
        'points = found.students.column("points")\n'
        "figure, axes = plt.subplots(figsize=(8, 3))\n"
        'axes.hist(points, bins=20, color="#0072b2")\n'
        'axes.set_xlabel("points")\n'
        'axes.set_ylabel("students")\n'
        "plt.show()\n"
        "print(found.students.text)",
    ),
    ("markdown", "## Who is stuck\n\nTwo different answers or more to an exercise, and none of them right."),
    ("code", "print(found.stuck.text)"),
)


def notebook() -> str:
    """The notebook as JSON, without outputs."""
    cells = []
    for number, (kind, source) in enumerate(CELLS):
        lines = source.splitlines(keepends=True)
        cell: dict[str, object] = {"cell_type": kind, "id": f"class-{number:02}", "metadata": {}, "source": lines}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        if source.startswith("hide_names"):
            cell["metadata"] = {"tags": ["parameters"]}
        cells.append(cell)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1) + "\n"


def write(folder: Path) -> None:
    """Put the notebook there; one that is there may have been changed, and stays. Raises OSError."""
    if not (folder / NAME).exists():
        replace_file(folder / NAME, notebook().encode("utf-8"))
