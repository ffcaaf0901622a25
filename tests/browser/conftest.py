"""`gallery`: one browser for all tests of a worker. Without Chromium the tests are skipped, or, with
GPULAB_BROWSER=required (.ci/run), fail. No test of this folder takes longer than TEST_SECONDS: then its browser is
ended, and the next test gets another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.browser import gallery as galleries
from tests.browser import modules

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEST_SECONDS = 240


@pytest.fixture(scope="session")
def browsers() -> Iterator[ExitStack]:
    """Where the worker's browser is kept until the end."""
    if galleries.chromium() is None:
        if os.environ.get("GPULAB_BROWSER") == "required":
            pytest.fail("no Chromium found, and GPULAB_BROWSER=required")
        pytest.skip("no Chromium found: install your system's package `chromium`")
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="session")
def current() -> list[galleries.Gallery]:
    return []


@pytest.fixture
def browser_gallery(browsers: ExitStack, current: list[galleries.Gallery]) -> galleries.Gallery:
    if current and not current[-1].alive:
        browsers.close()  # a second Playwright starts only when the first has stopped
        current.clear()
    if not current:
        current.append(browsers.enter_context(galleries.Gallery()))
    return current[-1]


@pytest.fixture
def gallery(browser_gallery: galleries.Gallery, request: pytest.FixtureRequest) -> Iterator[galleries.Gallery]:
    """The browser; after the test no page may have reported an error, and all pages are closed."""
    browser_gallery.problems.clear()
    with galleries.limit(TEST_SECONDS, request.node.name):
        yield browser_gallery
        if browser_gallery.alive:
            for context in browser_gallery.browser.contexts:
                context.close()
    assert browser_gallery.problems == []


@pytest.fixture
def page(gallery: galleries.Gallery) -> Page:
    """An empty page beside the instruments' modules; files that ask for another have a `page` of their own."""
    return modules.beside(gallery, modules.STATIC)
