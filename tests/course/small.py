"""A course of one lesson, one page and one exercise, in place of the real one, for tests of what works on courses."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import build
import check as course

import gpulab.grading.library as library

ROOT = Path(__file__).resolve().parents[2]
LESSON = """# 02 · A lesson

**How many lanes has a wave?**

```{code-cell}
:tags: [parameters]

arch = "gfx942"
```

```{code-cell}
import gpulab

device = gpulab.use(arch)
```

## Neighbours

**Predict** it. An LDS has 64 KiB ([a document](https://example.org)).

<details>
<summary>Answer</summary>

Ask the device.

</details>

![a wave of lanes](wave.svg)

See [above](#Neighbours) and the [glossary](glossary.ipynb).

## What you have learned

- Something.

## Exercises

- [three-point-mean](../exercises/three-point-mean/three-point-mean.ipynb): smooth (20 minutes)

**Further reading:** [a document](https://example.org)
"""


@contextmanager
def small_course(tmp_path, monkeypatch):
    """Its folder; `LESSON` is its lesson, three-point-mean its exercise."""
    folder = tmp_path / "course"
    (folder / "lessons").mkdir(parents=True)
    (folder / "pages").mkdir()
    (folder / "pictures").mkdir()
    (folder / "pictures" / "wave.svg").write_text("<svg/>")
    (folder / "pages" / "glossary.md").write_text("# Glossary\n\nwave\n")
    (folder / "lessons" / "02_simt.md").write_text(LESSON)
    shutil.copytree(ROOT / "course" / "exercises" / "three-point-mean", folder / "exercises" / "three-point-mean")
    shutil.copytree(ROOT / "exercises" / "three-point-mean", tmp_path / "exercises" / "three-point-mean")
    monkeypatch.setattr(build, "COURSE", folder)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "PROCESSES", 1)
    monkeypatch.setenv("GPULAB_COURSE", str(folder))
    monkeypatch.setattr(course, "FEWEST_EXERCISES", 1)
    monkeypatch.setattr(course, "FEWEST_OF_A_LESSON", 1)
    library._read.cache_clear()
    yield folder
    library._read.cache_clear()
