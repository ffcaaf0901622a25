#!/usr/bin/env python3
"""What the editor knows of HIP and of the course: `make editor` writes words.json of the JupyterLab extension.

The names come from hip_api.txt, their sentences from editor_words.txt and the glossary, lessons with their sections and
exercises from course/. With `--check` the file is compared and not written. docs/editor.md has its form.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WORDS = ROOT / "gpulab" / "editor" / "labextension" / "gpulab-editor" / "modules" / "words.json"
LESSONS = ROOT / "course" / "lessons"
GLOSSARY = ROOT / "course" / "pages" / "glossary.md"
SENTENCES = ROOT / "tools" / "editor_words.txt"
HIP_API = ROOT / "tools" / "hip_api.txt"

QUALIFIERS = [
    "__global__",
    "__device__",
    "__host__",
    "__shared__",
    "__constant__",
    "__managed__",
    "__restrict__",
    "__launch_bounds__",
    "__forceinline__",
    "__noinline__",
]
VARIABLES = ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"] + [
    f"hip{place}_{axis}" for place in ("ThreadIdx", "BlockIdx", "BlockDim", "GridDim") for axis in "xyz"
]
VECTORS = [
    f"{kind}{count}"
    for kind in [
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "float",
        "double",
    ]
    for count in (1, 2, 3, 4)
]
NOT_HIPS = {"new", "delete", "using"}  # C++ has them
TYPES = {"bool", "char", "short", "int", "long", "float", "double", "void"}  # arguments of templates are no functions
_NAME = re.compile(r"[A-Za-z_]\w*\Z")


def sentences() -> dict[str, tuple[str, list[str]]]:
    """The lines of editor_words.txt: a name's sentence, and the numbers of its lessons."""
    lines = [line for line in SENTENCES.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {name: (text, numbers) for name, text, *numbers in (line.split(" | ") for line in lines)}


def functions() -> dict[str, tuple[list[str], str]]:
    """HIP's device functions: signatures, and the title of their group."""
    sys.path.insert(0, str(ROOT))
    from tools import hip_api

    found: dict[str, tuple[list[str], str]] = {}
    for group in hip_api.read(HIP_API.read_text(encoding="utf-8")):
        for entry in group.entries:
            called = re.match(r"[^(]*?([A-Za-z_]\w*)(?:<[^(<>]*>)?\(", entry.name)
            names = [called[1]] if called else [part for part in entry.name.split(", ") if _NAME.match(part)]
            for name in names:
                if name not in NOT_HIPS and name not in TYPES:
                    signatures, _ = found.setdefault(name, ([], group.title))
                    if called:
                        signatures.append(entry.name)
    return found


def lessons() -> list[dict[str, Any]]:
    """The lessons: file without suffix, title, and sections with their text, also in small letters."""
    found = []
    for path in sorted(LESSONS.glob("*.md")):
        title, sections, code = "", [], False
        for line in path.read_text(encoding="utf-8").splitlines():
            code = code != line.startswith("```")
            heading = None if code else re.match(r"#{1,3} (.+)", line)
            if heading:
                words = re.sub(r"[`*]", "", heading[1]).strip()
                title = title or words
                sections.append({"title": words, "text": ""})
            elif sections:
                sections[-1]["text"] += line + "\n"
        for section in sections:
            section["small"] = (section["title"] + "\n" + section["text"]).lower()
        found.append({"file": path.stem, "title": title, "sections": sections})
    return found


def anchor(title: str) -> str:
    """The fragment by which JupyterLab reaches a heading."""
    return title.replace(" ", "-")


def place(known: list[dict[str, Any]], word: str, numbers: list[str]) -> list[str]:
    """Where a word is explained: [lesson, fragment], or [] if no lesson has it.

    The lessons with the `numbers` are looked at, or, if there are none, all.
    """
    pattern = re.compile(rf"(?<!\w)(?<!tl\.){re.escape(word)}(?!\w)", 0 if "_" in word else re.IGNORECASE)
    small = word.lower()
    chosen = [lesson for lesson in known if lesson["file"][:2] in numbers]
    for lesson in chosen or known:
        for section in lesson["sections"]:
            text = section["title"] + "\n" + section["text"]
            if small in section["small"] and pattern.search(text):  # the first is quick, and few sections pass it
                return [lesson["file"], anchor(section["title"])]
    return [chosen[0]["file"], anchor(chosen[0]["sections"][0]["title"])] if chosen else []


def glossary() -> dict[str, tuple[str, str, list[str]]]:
    """Each word of the glossary's first two columns and of AMD's: as written, its sentence, its lessons' numbers."""
    found: dict[str, tuple[str, str, list[str]]] = {}
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        numbers = re.findall(r"\[(\d\d)\]", cells[-1]) if cells else []
        if not numbers:
            continue
        for word in re.split(r"[,;:]", ",".join(cells[:-2])):
            word = re.sub(r"\(.*?\)|[`()]", "", word).strip()
            if re.fullmatch(r"[A-Za-z_][\w -]*", word):
                found.setdefault(word.lower() if "_" not in word else word, (word, cells[-2], numbers))
    return found


def exercises() -> list[dict[str, Any]]:
    """Exercises by lesson and time."""
    from gpulab.grading import library

    return [
        {
            "id": id,
            "title": library.load(id).title,
            "lesson": library.load(id).lesson,
            "minutes": library.load(id).minutes,
        }
        for id in library.exercise_ids()
    ]


def magics() -> list[str]:
    """The cell magics whose cells are C++."""
    from gpulab import languages

    return sorted([language.magic for language in languages.members().values() if language.magic] + ["hipcc"])


def words() -> dict[str, Any]:
    """All that words.json has."""
    said, hip, terms, known = sentences(), functions(), glossary(), lessons()
    names: dict[str, dict[str, Any]] = {}
    kinds = dict.fromkeys(QUALIFIERS, "qualifier")
    kinds |= dict.fromkeys(VARIABLES, "variable")
    kinds |= dict.fromkeys([*VECTORS, "dim3"], "type")
    for name in [*kinds, *(name for name in sorted(hip) if name not in kinds)]:
        signatures, group = hip.get(name, ([], ""))
        _, sentence, numbers = terms.get(name, ("", "", []))
        own, chosen = said.get(name, ("", []))
        text = own or sentence or (f"{group} (HIP)." if group else "")
        if name in VECTORS:
            text = f"A vector of {name[-1]} × {name[:-1]}." if name[-1] != "1" else f"A vector of one {name[:-1]}."
        more = f" (and {len(signatures) - 1} more)" if len(signatures) > 1 else ""
        names[name] = {
            "kind": kinds.get(name, "function"),
            "signature": signatures[0] + more if signatures else "",
            "text": text or "One of HIP's names.",
            "place": place(known, name, chosen or numbers),
        }
    missing = sorted(set(said) - set(names))
    if missing:
        raise SystemExit(f"editor_words.txt explains names that hip_api.txt does not have: {', '.join(missing)}")
    return {
        "magics": magics(),
        "names": names,
        "terms": {
            key: {"word": word, "text": text, "place": place(known, word, numbers)}
            for key, (word, text, numbers) in terms.items()
            if key not in names
        },
        "lessons": [{"file": lesson["file"], "title": lesson["title"]} for lesson in known],
        "exercises": exercises(),
    }


def text() -> str:
    """The file: one name to a line, so that changes can be read."""
    parts = []
    for key, value in words().items():
        if isinstance(value, dict):
            lines = [f"{json.dumps(each)}: {json.dumps(about, ensure_ascii=False)}" for each, about in value.items()]
            parts.append(f"{json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n}")
        else:
            lines = [json.dumps(about, ensure_ascii=False) for about in value]
            parts.append(f"{json.dumps(key)}: [\n" + ",\n".join(lines) + "\n]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> int:
    """Write or compare; 1 if it differs."""
    sys.path.insert(0, str(ROOT))
    if "--check" in sys.argv[1:]:
        if WORDS.read_text(encoding="utf-8") == text():
            return 0
        print(f"{WORDS.relative_to(ROOT)} is not up to date; run `make editor`.")
        return 1
    WORDS.write_text(text(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
