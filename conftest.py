"""pytest's settings for the whole clone: how nbval compares outputs of notebooks/ and solutions/.

Where CI or BUILD_NUMBER is set, pytest reports a failing comparison in full. The difference of two long lists then
takes minutes to hours to work out, and a test that fails looks like one that hangs.
"""

import os
from pathlib import Path


def pytest_configure(config):
    for name in ("CI", "BUILD_NUMBER"):
        os.environ.pop(name, None)
    if getattr(config.option, "nbval", False) and not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(Path(__file__).parent / "tests" / "course" / "nbval_sanitize.cfg")
