"""The pages for those who run a class, a workshop, a hub or an upgrade: their commands and settings exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.services.commands import complaint

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("class", "hub", "upgrade", "workshop")


def text(page: str) -> str:
    return (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def commands(page: str) -> list[str]:
    """The lines of the page's blocks, without those that show folders."""
    blocks = [token.content for token in MarkdownIt().parse(text(page)) if token.type in ("code_block", "fence")]
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith("submitted/")]


@pytest.mark.parametrize("page", PAGES)
def test_commands_name_what_there_is(page: str) -> None:
    found = commands(page)
    assert len(found) >= 5
    assert {line: said for line in found if (said := complaint(line))} == {}


@pytest.mark.parametrize(
    "command",
    [
        "make nothing", "make", "make lab NOTHING=1", "gpulab nothing", "gpulab doctor --nothing",
        "python tools/nothing.py", "python -m nothing", "curl x", "python tools/bootstrap.py --nothing lab",
        "jupyterhub --config /srv/nothing.py",
    ],
)  # fmt: skip
def test_commands_that_name_nothing_are_found(command: str) -> None:
    assert complaint(command)


def test_settings_that_the_page_on_hubs_explains_are_set() -> None:
    config = (ROOT / "deploy" / "hub" / "jupyterhub_config.py").read_text(encoding="utf-8")
    table = text("hub").split("## What is set")[1].split("\n\n**")[0]
    named = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`([\w.]+)`", row)]
    assert len(named) >= 7
    assert [name for name in named if name not in config] == []


def test_files_that_the_pages_name_are_written_by_gpulab() -> None:
    """What `graded/` is said to hold stands in docs/grading.md, too."""
    named = set(re.findall(r"`graded/([\w./]+)`", text("class")))
    assert len(named) >= 5
    assert [name for name in named if f"`{name}`" not in (ROOT / "docs" / "grading.md").read_text()] == []


def test_the_checklist_fits_on_one_page() -> None:
    """Printed, a page has about 60 lines of 120 characters."""
    lines = [line for line in text("workshop").splitlines() if line.strip()]
    assert sum(1 + len(line) // 120 for line in lines) <= 60
    assert text("workshop").count("- [ ]") >= 10


def test_no_command_opens_the_folder_with_the_hubs_secret() -> None:
    """/srv/gpulab/hub is for root alone: `chmod -R` names the folders that learners need."""
    for page in ("hub", "upgrade"):
        opened = [words for line in commands(page) if (words := line.split())[0] == "chmod" and "-R" in words]
        assert opened
        for words in opened:
            assert set(words[3:]) <= {"/srv/gpulab/env", "/srv/gpulab/seed"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("runuser"), reason="for root")
def test_what_is_collected_from_homes_is_the_learners_own() -> None:
    """One hands in a file and a link, one makes a link of a folder to the other's answers, one has nothing."""
    import pwd

    with tempfile.TemporaryDirectory(dir="/tmp") as made:  # the learners can reach no folder of pytest
        top = Path(made)
        top.chmod(0o711)
        users = [pwd.getpwnam(name) for name in ("bin", "daemon", "nobody")]
        ann, bob, cy = (user.pw_name for user in users)
        own = top / "home" / ann / "gpulab" / "exercises" / "saxpy-guard"
        own.mkdir(parents=True)
        (own / "saxpy-guard.ipynb").write_text("ann's")
        (own / "link.ipynb").symlink_to("/etc/shadow")
        (top / "home" / bob / "gpulab").mkdir(parents=True)
        (top / "home" / bob / "gpulab" / "exercises").symlink_to(own.parent)
        (top / "home" / cy).mkdir()
        for user in users:
            home = top / "home" / user.pw_name
            for path in (home, *home.rglob("*")):
                os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
            home.chmod(0o700)
        (block,) = (
            token.content
            for token in MarkdownIt().parse(text("hub"))
            if token.type in ("code_block", "fence") and "submitted" in token.content
        )
        script = block.replace("/home/", f"{top}/home/").replace(
            "$(getent group gpulab | cut -d: -f4 | tr , ' ')", f"{ann} {bob} {cy}"
        )
        assert str(top) in script
        assert ann in script
        for _ in range(2):
            subprocess.run(["sh", "-c", script], cwd=top, capture_output=True, timeout=60, check=False)
        found = {path.relative_to(top / "submitted").as_posix() for path in (top / "submitted").rglob("*")}
        notebook = f"{ann}/saxpy-guard/saxpy-guard.ipynb"
        assert found == {ann, bob, cy, f"{ann}/saxpy-guard", f"{ann}/saxpy-guard/link.ipynb", notebook}
        assert (top / "submitted" / ann / "saxpy-guard" / "link.ipynb").is_symlink()
        assert (top / "submitted" / notebook).read_text() == "ann's"
        assert (top / "submitted" / notebook).owner() == "root"
        assert (top / "submitted").stat().st_mode & 0o077 == 0
