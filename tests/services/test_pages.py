"""The pages for those who run a class, a workshop, a hub or an upgrade: their commands and settings exist."""

from __future__ import annotations

import re
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
