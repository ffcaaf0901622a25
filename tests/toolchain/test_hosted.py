"""The C++ library for whole programs: both calls of the host compiler make the same one."""

from pathlib import Path

import pytest

from gpulab import cores
from gpulab.toolchain import cache, compiler, hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "runs")


def test_the_library_that_is_built_on_all_cores_is_the_one_that_programs_get(monkeypatch, tmp_path):
    """Else the first program ever would wait for two."""
    here = hosted.setting()
    calls = []

    def run(arguments, **more):
        calls.append(list(arguments))
        outcome = real(arguments, **more)
        assert outcome.code == 0, outcome.log
        return outcome

    real = compiler.run
    monkeypatch.setattr(compiler, "run", run)
    store = Path(cache.tool_folder(str(tmp_path)))

    def libraries():
        return sorted(store.glob("o/*/libc++*.a"))

    before = libraries()
    target = here.triple.split("-")[0]
    found = hosted._discover(f"{target}-linux-gnu.{hosted.GLIBC}")
    assert [call[0] for call in calls] == ["build-lib", "c++"]
    assert f"-j{cores.usable() + 3}" in calls[0]
    assert libraries() == before
    assert found == here
