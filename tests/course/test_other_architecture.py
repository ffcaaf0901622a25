"""Every lesson and solution also runs on gfx1100 (wave32), through papermill's parameters cell."""

from pathlib import Path

import build
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("job", [job for job in build.jobs() if not job.is_page], ids=lambda job: job.name)
def test_runs_on_gfx1100(job, quick_kernels):
    import papermill

    notebook = papermill.execute_notebook(
        str(ROOT / job.executed),
        None,
        parameters={"arch": "gfx1100"},
        cwd=str((ROOT / job.executed).parent),
        progress_bar=False,
        kernel_name="python3",
    )
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    injected = [cell for cell in code if "injected-parameters" in cell.metadata.get("tags", ())]
    assert len(injected) == 1
    if job.released is None:
        second = next(cell for cell in code if cell.source.startswith("import gpulab"))
        assert "gfx1100" in second.outputs[0].text
    for cell in code:
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr"


def test_gpulab_run_chooses_the_architecture(tmp_path, monkeypatch, capsys):
    from gpulab import cli

    for name in ("GPULAB_DEVICES", "GPULAB_LIBRARY"):
        monkeypatch.setenv(name, "")  # restored afterwards: the command sets them
    source = ROOT / "notebooks" / "00_welcome.ipynb"
    assert cli.main(["run", str(source), "--arch", "gfx1100", "--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("ok ")
    assert "RX 7900 XTX (virtual) (gfx1100)" in (tmp_path / source.name).read_text()
