"""Every combination of what a learner and a release can do to a notebook, cell by cell.

A notebook is written as a text here, a word for each cell (`TEXTS`). Expected notebooks are written by hand.
"""

from __future__ import annotations

import hashlib
import itertools
import random

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from gpulab.delivery.copy import read, written
from gpulab.delivery.merge import NOTE, content, merged, pairs

TEXTS = {
    "a": "# Waves\n\nA wave has lanes that go together.",
    "b": "import gpulab\ndevice = gpulab.use(arch)",
    "c": "%%hip\n__global__ void fill(float* out)\n{\n    // YOUR CODE HERE\n}",
    "d": "x = gpulab.zeros(64)\nfill[1, 64](x)\nprint(x.to_host())",
    "e": "# What you have learned\n\n- Something.",
}
"""Cells of the releases; "b2" is a new version of "b", "bm" what a learner made of it."""


def cell(name: str, id: str | None = None):
    text = TEXTS.get(name[0], f"own_{name} = {sum(map(ord, name)) ** 3}") + {
        "2": "\nprint('new version')", "3": "\nprint('third version')", "m": "\nprint('mine')",
    }.get(name[1:], "")  # fmt: skip
    made = new_markdown_cell(text) if text.startswith("# ") else new_code_cell(text)
    made.id = id or f"own-{name}"
    return made


def release(names: str):
    """Cells with ids that are numbers of places, as course/build.py makes them."""
    return new_notebook(cells=[cell(name, f"fill-{place:02d}") for place, name in enumerate(names.split())])


def learner(base, names: str):
    """The base after the learner's work: "bm" is its cell "b" with another text, "x" a cell of the learner's own."""
    ids = {each.source: each.id for each in base.cells}
    return new_notebook(cells=[cell(name, ids.get(cell(name[0]).source)) for name in names.split()])


def names(notebook) -> str:
    known = {cell(name + mark).source: name + mark for name in "abcdexyz" for mark in ("", "2", "3", "m")}
    return " ".join("NOTE" if NOTE in each.metadata.get("tags", ()) else known[each.source] for each in notebook.cells)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected", "counts"),
    [
        ("a b c d", "a b c d", "a b c d", "a b c d", (0, 0, 0, 0)),  # nothing happened
        ("a b c d", "a bm c d", "a b c d", "a bm c d", (0, 0, 0, 0)),  # the learner edited
        ("a b c d", "a b c d", "a b2 c d", "a b2 c d", (1, 0, 0, 0)),  # the release edited
        ("a b c d", "a bm c d", "a b c2 d", "a bm c2 d", (1, 0, 0, 0)),  # both, other cells
        ("a b c d", "a bm c d", "a b2 c d", "a bm NOTE c d", (0, 0, 0, 1)),  # both, the same cell
        ("a b c d", "a b2 c d", "a b2 c d", "a b2 c d", (0, 0, 0, 0)),  # both, alike
        ("a b c", "a x b c", "a b c", "a x b c", (0, 0, 0, 0)),  # the learner added
        ("a b c", "a b c", "a d b c", "a d b c", (0, 1, 0, 0)),  # the release added, which moves all ids
        ("a b c", "a bm c", "a d b c", "a d bm c", (0, 1, 0, 0)),  # ... and the learner edited what comes after
        ("a b c", "a x b c", "a d b c", "a x d b c", (0, 1, 0, 0)),  # both added at the same place
        ("b c", "x b c", "a b c", "x a b c", (0, 1, 0, 0)),  # both added at the start
        ("a b c", "a b c x", "a b c d", "a b c x d", (0, 1, 0, 0)),  # both added at the end
        ("a b c", "a c", "a b c", "a c", (0, 0, 0, 0)),  # the learner removed
        ("a b c", "a c", "a b2 c", "a c", (0, 0, 0, 0)),  # ... what the release edited
        ("a b c", "a b c", "a c", "a c", (0, 0, 1, 0)),  # the release removed
        ("a b c", "a bm c", "a c", "a bm c", (0, 0, 0, 0)),  # ... what the learner edited
        ("a b c", "a bm x c", "a c", "a bm x c", (0, 0, 0, 0)),  # ... and added a cell below
        ("a b c", "a c", "a c", "a c", (0, 0, 0, 0)),  # both removed
        ("a b c", "x", "a b2 c d", "x d", (0, 1, 0, 0)),  # the learner removed all and wrote another
        ("a b c d", "a c b d", "a b c d", "a c b d", (0, 0, 0, 0)),  # the learner moved a cell
        ("a b c d", "a c b d", "a b c d e", "a c b d e", (0, 1, 0, 0)),  # ... and the release added
        ("a b c d", "a b c d", "a c b d", "a c b d", (0, 0, 0, 0)),  # the release moved a cell
        ("a b c d", "a bm c d", "a c d b", "a c d bm", (0, 0, 0, 0)),  # ... that the learner edited
        ("a c", "a c", "a d", "a d", (0, 1, 1, 0)),  # another cell with the number of one that went
        ("a c", "a cm", "a d", "a cm d", (0, 1, 0, 0)),  # ... and that the learner edited
        ("", "x y", "a b", "x y a b", (0, 2, 0, 0)),  # there was nothing
        ("a b", "", "a b c", "c", (0, 1, 0, 0)),  # the learner removed everything
        ("a b c d e", "a bm x c e y", "a b c2 d e2", "a bm x c2 e2 y", (2, 0, 0, 0)),  # a bit of everything
    ],
)
def test_combination(base: str, ours: str, theirs: str, expected: str, counts: tuple[int, int, int, int]) -> None:
    """`counts`: cells that are renewed, added, removed, and new versions below a learner's."""
    first, new = release(base), release(theirs)
    mine = learner(first, ours)
    before = written(mine)
    done = merged(first, mine, new, "gpulab 2")
    assert names(done.notebook) == expected
    assert (done.renewed, done.added, done.removed, done.below) == counts
    assert written(mine) == before, "what was given is not changed"
    written(done.notebook)
    ids = [each.id for each in done.notebook.cells]
    assert len(set(ids)) == len(ids)
    assert names(merged(new, done.notebook, new, "gpulab 2").notebook) == expected, "nothing new: nothing happens"


def test_the_new_version_of_an_edited_cell_stands_below_it_once() -> None:
    first, second, third = release("a c d"), release("a c2 d"), release("a c3 d")
    mine = learner(first, "a cm d")
    one = merged(first, mine, second, "gpulab 2")
    assert one.below == 1
    note = one.notebook.cells[2]
    assert "gpulab 2 has another version" in note.source
    assert f"```\n{cell('c2').source}\n```" in note.source
    two = merged(second, one.notebook, third, "gpulab 3").notebook
    assert names(two) == "a cm NOTE d"
    assert cell("c3").source in two.cells[2].source
    assert "gpulab 2" not in two.cells[2].source
    one.notebook.cells[2].source += "\nI will look at it tomorrow."
    kept = merged(second, one.notebook, third, "gpulab 3").notebook.cells
    assert [each.source for each in kept[1:4]] == [cell("cm").source, two.cells[2].source, one.notebook.cells[2].source]


def test_a_new_version_whose_cell_the_learner_removed_stays_where_it_is() -> None:
    """At the very beginning, too."""
    first, second = release("c d"), release("c2 d")
    one = merged(first, learner(first, "cm d"), second, "gpulab 2").notebook
    assert names(one) == "cm NOTE d"
    del one.cells[0]
    two = merged(second, one, release("c2 d e"), "gpulab 3").notebook
    assert names(two) == "NOTE d e"


def test_of_cells_that_the_learner_has_already_the_first_is_the_releases() -> None:
    """The learner has a new cell twice, and a copy of it is not added a third time."""
    first, new = release("a b"), release("a c b c")
    mine = learner(first, "a b")
    mine.cells += [cell("c", "one"), cell("x"), cell("c", "two"), cell("c", "three")]
    done = merged(first, mine, new, "gpulab 2")
    assert (done.added, done.renewed, done.removed, done.below) == (0, 0, 0, 0)
    assert names(done.notebook) == "a c x b c c"
    released = {each.id for each in new.cells}
    assert released <= {each.id for each in done.notebook.cells}
    assert "three" in {each.id for each in done.notebook.cells}
    assert not {"one", "two"} & {each.id for each in done.notebook.cells}


def test_cells_that_the_learner_copied_have_ids_of_their_own() -> None:
    first, new = release("a b"), release("a b c")
    mine = learner(first, "a b")
    mine.cells += [cell("x", "same"), cell("y", "same"), cell("z", "same")]
    made = merged(first, mine, new, "gpulab 2").notebook
    ids = [each.id for each in made.cells]
    assert ids.count("same") == 1
    assert len(set(ids)) == len(ids) == 6
    assert [len(each) for each in ids[3:5]] == [8, 8]


@pytest.mark.parametrize(("name", "fence"), [("a", False), ("c", True)])
def test_a_new_version_as_it_is_shown(name: str, fence: bool) -> None:
    """Code in a fence; text as it is. Its digest says later whether the learner wrote in it."""
    first, new = release(f"b {name}"), release(f"b {name}2")
    note = merged(first, learner(first, f"b {name}m"), new, "gpulab 2").notebook.cells[2]
    text = cell(f"{name}2").source
    assert note.cell_type == "markdown"
    assert note.source == (
        "**The cell above is yours. gpulab 2 has another version of it:** (delete this cell when done)\n\n"
        + (f"```\n{text}\n```" if fence else text)
    )
    digest = hashlib.sha256(note.source.encode()).hexdigest()[:16]
    assert note.metadata == {"tags": ["gpulab-new-version"], "gpulab": {"text": digest}}


@pytest.mark.parametrize("change", ["text", "tag", "mark", "digest"])
def test_a_new_version_that_the_learner_changed_is_the_learners(change: str) -> None:
    first, second = release("a c d"), release("a c2 d")
    one = merged(first, learner(first, "a cm d"), second, "gpulab 2").notebook
    note = one.cells[2]
    match change:
        case "text":
            note.source += " mine"
        case "tag":
            note.metadata["tags"] = []
        case "mark":
            note.metadata["gpulab"] = "text"
        case "digest":
            del note.metadata["gpulab"]["text"]
    two = merged(second, one, release("a c3 d"), "gpulab 3").notebook
    assert [each.source for each in two.cells if each.cell_type == "markdown"][2:] == [note.source]
    assert len(two.cells) == 5


def test_a_new_version_with_fences_stays_one_block() -> None:
    first, second = release("a b"), release("a b")
    first.cells[1].source, second.cells[1].source = "one = '''\n```\n'''", "two = '''\n````\n'''  # one = '''\n```\n'''"
    mine = nbformat.from_dict(first)
    mine.cells[1].source = "mine = 1"
    note = merged(first, mine, second, "gpulab 2").notebook.cells[2]
    assert note.source.count("`````\n") == 1
    assert note.source.endswith("\n`````")


def test_outputs_stay_with_code_that_stays_and_go_with_code_that_changes() -> None:
    first = release("a b d")
    mine = learner(first, "a b d")
    for place in (1, 2):
        mine.cells[place].outputs = [new_output("stream", text=f"seen {place}\n")]
        mine.cells[place].execution_count = place
    new = release("a b d2")
    new.cells[1].metadata = {"tags": ["parameters"]}
    mine.cells[1].metadata = {"collapsed": True}
    _, kept, changed = merged(first, mine, new, "gpulab 2").notebook.cells
    assert kept.outputs[0].text == "seen 1\n"
    assert kept.execution_count == 1
    assert kept.metadata == {"tags": ["parameters"], "collapsed": True}
    assert changed.outputs == []
    assert changed.execution_count is None


def test_an_answer_cell_is_known_by_its_mark() -> None:
    """nbgrader's mark finds it where neither place nor text does."""
    first, new = release("a c"), release("c2 a")
    for each in (first.cells[1], new.cells[0]):
        each.metadata["nbgrader"] = {"grade_id": "fill-answer-1", "solution": True}
    new.cells[0].source = "%%hip\n// another task altogether"
    mine = nbformat.from_dict(first)
    mine.cells[1].source, mine.cells[1].id = "%%hip\nint wholly_my_own;", "pasted"
    done = merged(first, mine, new, "gpulab 2").notebook
    assert done.cells[0].source.split("\n")[-1] == "int wholly_my_own;"
    assert "another task altogether" in done.cells[1].source
    assert names(new_notebook(cells=done.cells[1:])) == "NOTE a"


def test_a_pasted_picture_is_an_edit() -> None:
    first = release("a b")
    mine = nbformat.from_dict(first)
    mine.cells[0].attachments = {"sketch.png": {"image/png": "AAAA"}}
    done = merged(first, mine, release("a2 b"), "gpulab 2").notebook
    assert "sketch.png" in done.cells[0].attachments
    assert names(new_notebook(cells=done.cells[1:])) == "NOTE b"


def test_a_notebook_saved_without_ids() -> None:
    """As formats before 4.5 are: then texts decide."""
    first = release("a b c d")
    mine = learner(first, "a b cm x d")
    old = nbformat.from_dict(mine)
    old.nbformat_minor = 4
    for each in old.cells:
        del each["id"]
    opened = read(nbformat.writes(old).encode())
    assert names(merged(first, opened, release("a e b2 c d"), "gpulab 2").notebook) == "a e b2 cm x d"


def test_random_histories_lose_nothing() -> None:
    """A learner and the course go through ten releases; each cell that the learner wrote is there in the end, once."""
    for seed in range(10):
        dice = random.Random(seed)
        fresh = (f"value_{seed}_{number} = {dice.random()}" for number in itertools.count())
        base = new_notebook(cells=[new_code_cell(next(fresh), id=f"n-{n:02d}") for n in range(6)])
        mine = nbformat.from_dict(base)
        wrote: set[str] = set()
        for number in range(10):
            theirs = nbformat.from_dict(base)
            for cells, learners in ((mine.cells, True), (theirs.cells, False)):
                place = dice.randrange(len(cells) + 1)
                match dice.choice(["edit", "add", "remove", "move", "nothing"]):
                    case "edit" if place < len(cells):
                        old, cells[place].source = cells[place].source, next(fresh)
                        if learners:
                            wrote.discard(old)
                            wrote.add(cells[place].source)
                    case "add":
                        cells.insert(place, new_code_cell(next(fresh)))
                        if learners:
                            wrote.add(cells[place].source)
                    case "remove" if place < len(cells):
                        gone = cells.pop(place).source
                        if learners:
                            wrote.discard(gone)
                    case "move" if place < len(cells):
                        cells.append(cells.pop(place))
            for place, each in enumerate(theirs.cells):
                each.id = f"n-{place:02d}"
            mine = merged(base, mine, theirs, f"gpulab {number}").notebook
            base = theirs
            there = [each.source for each in mine.cells]
            assert [there.count(text) for text in sorted(wrote)] == [1] * len(wrote), (seed, number)
            read(written(mine))


def test_cells_are_paired_once() -> None:
    old, new = release("a b c d e"), release("e d c b a")
    found = pairs(old.cells, new.cells, ids=False)
    assert found == {0: 4, 1: 3, 2: 2, 3: 1, 4: 0}
    assert pairs(old.cells, new.cells, ids=True) == found, "the same text says more than the same id"


def test_of_cells_that_are_alike_the_nearest_are_paired() -> None:
    old = new_notebook(cells=[new_code_cell(text) for text in ("import gpulab", "value = 1", "value = 1")])
    new = new_notebook(cells=[new_code_cell(text) for text in ("import gpulab", "%%hip\n// another", "value = 2")])
    assert pairs(old.cells, new.cells, ids=False) == {0: 0, 2: 2}


@pytest.mark.parametrize(
    ("old", "new", "paired"),
    [
        ("aaa", "aaabbbb", True),  # 2 * 3 of 10 characters are the same: 0.6
        ("aaa", "aaabbbbb", False),  # of 11
        ("aaabb", "aaacc", True),
        ("aabbb", "aaccc", False),
        ("abcde", "edcba", False),  # the same characters, in another order
        ("".join(f"v{n} = {n * n}; " for n in range(60)), "".join(f"w{n} = {n * n}; " for n in range(60)), True),
    ],
)
def test_texts_of_which_six_tenths_are_the_same_are_versions_of_one_cell(old: str, new: str, paired: bool) -> None:
    """Also long ones, in which each character is frequent."""
    one, two = new_code_cell(old), new_code_cell(new)
    assert pairs([one], [two], ids=False) == ({0: 0} if paired else {})
    assert pairs([one], [new_markdown_cell(new)], ids=False) == {}


def test_of_a_text_that_stands_twice_the_nearest_is_paired() -> None:
    old, new = release("e e a b"), release("a b e")
    for place, each in enumerate(old.cells):
        each.id = f"old-{place}"
    assert pairs(old.cells, new.cells, ids=False) == {1: 2, 2: 0, 3: 1}


def test_cells_that_are_all_alike_are_paired_in_their_order() -> None:
    """Of a long notebook, too."""
    old = [{"cell_type": "code", "source": "x += 1"}] * 200
    new = [{"cell_type": "markdown", "source": "# Two hundred steps"}, *old]
    assert pairs(old, new, ids=False) == {place: place + 1 for place in range(200)}


def test_of_cells_with_the_same_text_ids_say_which_was_moved() -> None:
    old = [{"cell_type": "code", "source": "x += 1", "id": id} for id in "ab"]
    assert pairs(old, old[::-1], ids=False) == {0: 1, 1: 0}


def test_what_a_person_writes_into_a_cell() -> None:
    made = {"cell_type": "markdown", "source": " a\r\nb \n\n", "attachments": {"b": {"x": 1}, "a": {}}}
    assert content(made) == ("markdown", " a\nb", '{"a": {}, "b": {"x": 1}}')
    assert content({}) == ("None", "", "{}")
