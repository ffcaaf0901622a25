"""pytest's settings for the whole clone: how nbval compares outputs of notebooks/ and solutions/."""

from pathlib import Path


def pytest_configure(config):
    if getattr(config.option, "nbval", False) and not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(Path(__file__).parent / "tests" / "course" / "nbval_sanitize.cfg")
