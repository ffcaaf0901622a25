"""Lessons at sizes that a learner tries, by the parameters cell: they run, and what was right stays right."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SIZES = [
    ("01_first_kernel", {"n": 1}),
    ("02_simt", {"n": 5}),
    ("05_global_memory", {"n": 1024}),
    ("06_lds", {"side": 32}),
    ("10_atomics", {"n": 1000}),
    ("11_synchronisation", {"n": 1}),
    ("20_debugging", {"n": 10}),
    ("21_waits", {"blocks": 100}),
    ("22_reduce_and_scan", {"n": 4096}),
    ("25_irregular", {"rows": 256}),
]


def printed(cells):
    return "".join(
        "".join(output["text"])
        for cell in cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream"
    )


@pytest.mark.full
@pytest.mark.parametrize(("name", "sizes"), SIZES, ids=[name for name, _ in SIZES])
def test_a_lesson_at_another_size(name, sizes):
    import papermill

    path = ROOT / "notebooks" / f"{name}.ipynb"
    given = printed(json.loads(path.read_text(encoding="utf-8"))["cells"])
    notebook = papermill.execute_notebook(
        str(path), None, parameters=sizes, cwd=str(path.parent), progress_bar=False, kernel_name="python3"
    )
    assert not [
        output for cell in notebook.cells for output in cell.get("outputs", ()) if output.output_type == "error"
    ]
    assert printed(notebook.cells).count("right: False") <= given.count("right: False")
