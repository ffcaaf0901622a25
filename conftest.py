"""pytest's settings for the whole clone: how nbval compares outputs of notebooks/ and solutions/.

Where CI or BUILD_NUMBER is set, pytest reports a failing comparison in full. The difference of two long lists then
takes minutes to hours to work out, and a test that fails looks like one that hangs.

The first program that a machine ever builds says that the C++ library is built before it. JupyterLab and papermill
take that line away when it is done; nbval would compare it. So the library is there before the first notebook runs.
"""

import os
from pathlib import Path


def pytest_configure(config):
    for name in ("CI", "BUILD_NUMBER"):
        os.environ.pop(name, None)
    if getattr(config.option, "nbval", False) and not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(Path(__file__).parent / "tests" / "course" / "nbval_sanitize.cfg")


def pytest_sessionstart(session):
    notebooks = getattr(session.config.option, "nbval", False) or getattr(session.config.option, "nbval_lax", False)
    if notebooks and not hasattr(session.config, "workerinput"):  # once, whatever the number of processes
        from gpulab.toolchain import hosted

        if not hosted.unavailable():
            hosted.setting()
