"""The table of names: its form, and that every HIP name is one of HIP's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import gpulab
from gpulab import porting
from gpulab.porting import names, translate
from gpulab.toolchain.build import INCLUDE
from gpulab.virtual_gpu import libraries

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"header", "call", "device function", "type", "enum", "macro", "namespace"}


def test_form() -> None:
    rows = list(names.names().values())
    lines = [line for line in names.FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert len(rows) == len(lines) - 1 >= 6000  # no name twice
    for row in rows:
        assert row.kind in KINDS, row
        assert re.fullmatch(r"[A-Za-z_][\w./]*", row.cuda), row
        assert not row.hip or re.fullmatch(r"[A-Za-z_][\w./]*", row.hip), row
        assert not re.match(r"(hip|HIP)", row.cuda), row
    assert "ROCm 10.0" in porting.sources()
    assert "HIPIFY" in porting.sources()


def test_no_hip_name_is_a_cuda_name() -> None:
    """So that a second translation finds nothing."""
    table = names.names()
    for row in table.values():
        if row.hip and row.hip != row.cuda and row.kind != "header":
            assert table.get(row.hip) is None or table[row.hip].hip == row.hip, row


def test_calls_of_runtime_and_driver_exist_in_hip() -> None:
    """Against hip-python's prototypes of libamdhip64 and libhiprtc; templates of HIP's headers are no symbols."""
    known = {name for library in ("hip", "hiprtc") for name in libraries.find(library).functions()}
    known |= {name.removesuffix("R0600") for name in known}
    templates = {
        "hipCreateChannelDesc", "hipOccupancyMaxPotentialBlockSizeVariableSMem", "hipLibraryGetManaged",
        "hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags", "hipOccupancyMaxPotentialBlockSizeWithFlags",
        "make_hipExtent", "make_hipPitchedPtr", "make_hipPos", "hipHostAlloc", "hipLaunchKernelEx",
    }  # fmt: skip
    apis = ("runtime", "driver", "NVRTC")
    calls = {row.hip for row in names.names().values() if row.kind == "call" and row.api in apis}
    left = {name for name in calls if name and name not in known | templates}
    assert len(calls) > 400
    assert left <= {"hipGLGetDevices", "hipGraphicsGLRegisterBuffer", "hipGraphicsGLRegisterImage"}, sorted(left)


def test_device_functions_are_in_hips_documentation_or_headers() -> None:
    """Against tools/hip_api.txt (HIP's documentation) and the headers of gpulab, whose names are HIP's."""
    text = (ROOT / "tools" / "hip_api.txt").read_text(encoding="utf-8")
    text += "".join(path.read_text(encoding="utf-8") for path in INCLUDE.rglob("*") if path.is_file())
    known = set(re.findall(r"\w+", text))
    rows = [row for row in names.names().values() if row.api == "device" and row.kind == "device function" and row.hip]
    missing = sorted(row.hip for row in rows if row.hip not in known and not _made_by_macro(row.hip, text))
    assert len(rows) > 400
    assert not missing


def _made_by_macro(name: str, text: str) -> bool:
    """Names that hip_api.txt writes with choices: __{U}2half_rn [U=int|short|...]."""
    parts = re.findall(r"[\w{}]*\{\w+\}[\w{}]*", text)
    return any(re.fullmatch(re.sub(r"\{\w+\}", r"\\w+", part), name) for part in set(parts) if part.strip("{}"))


def test_lookup() -> None:
    row = porting.lookup("cudaMalloc")
    assert row == porting.Name("cudaMalloc", "hipMalloc", "call", "runtime", "")
    assert porting.lookup("hipMalloc") is None
    unsupported = porting.lookup("cudaCtxResetPersistingL2Cache")
    assert unsupported is not None
    assert unsupported.hip == ""
    assert unsupported.note


def test_table() -> None:
    two = porting.table("cudaMemcpy", "cudaMalloc")
    assert [row[:2] for row in two.rows] == [("cudaMemcpy", "hipMemcpy"), ("cudaMalloc", "hipMalloc")]
    assert str(two).splitlines()[0].split() == ["CUDA", "HIP", "kind", "API", "note"]
    runtime = porting.table(api="runtime", kind="call")
    assert len(runtime.rows) > 250
    assert {row[3] for row in runtime.rows} == {"runtime"}
    libraries = {"cuBLAS", "cuFFT", "cuRAND", "cuSPARSE", "cuSOLVER", "cuDNN", "NCCL", "CUB"}
    assert {"runtime", "driver", "NVRTC", "device", *libraries} <= set(porting.apis())


def test_mistakes_are_explained() -> None:
    with pytest.raises(gpulab.GpulabError, match="cudaMalloc"):
        porting.table("cudaMallok")
    with pytest.raises(gpulab.GpulabError, match="runtime"):
        porting.table(api="runtimes")


def test_the_table_is_read_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "FILE", tmp_path / "names.tsv")
    head = "#  From one\n# and two.\n"
    names.FILE.write_text(head + "cuda\thip\tkind\tapi\tnote\n\na\tb\tcall\truntime\tn\nc\t\tmacro\tdevice\t\n")
    assert names.sources() == "From one\nand two."
    assert dict(names.names.__wrapped__()) == {
        "a": porting.Name("a", "b", "call", "runtime", "n"), "c": porting.Name("c", "", "macro", "device"),
    }  # fmt: skip
    names.FILE.write_text(head + "hip\tcuda\tkind\tapi\tnote\n")
    with pytest.raises(ValueError, match=r"names\.tsv: the columns are 'hip\\tcuda\\tkind\\tapi\\tnote', not"):
        names.names.__wrapped__()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"cuda": "cudaMallok"}, "cudaMallok is not in the table of CUDA names."),
        ({"cuda": "qqqqqqqq"}, "gpulab.porting.lookup(name) gives None for it."),
        ({"api": "runtimes"}, 'there is no API "runtimes" in the table of CUDA names.'),
        ({"kind": "calls"}, "one of: call, device function, enum, header, macro, namespace, type"),
    ],
)
def test_what_is_said_of_names_that_are_not_there(asked: dict[str, str], said: str) -> None:
    with pytest.raises(gpulab.GpulabError) as caught:
        porting.table(*([asked["cuda"]] if "cuda" in asked else []), api=asked.get("api"), kind=asked.get("kind"))
    assert said in str(caught.value)
    near = re.search(r"did you mean (.*)\?", str(caught.value))
    assert (near is not None and len(near[1].split(", ")) == 3) == (asked.get("cuda") == "cudaMallok")


def test_rows_of_the_table_shown() -> None:
    shown = porting.table("cudaFree", "cudaArrayGetPlane")
    assert shown.columns == ("CUDA", "HIP", "kind", "API", "note")
    assert shown.rows == (
        ("cudaFree", "hipFree", "call", "runtime", ""),
        ("cudaArrayGetPlane", "–", "call", "runtime", ""),
    )
    assert [row[0] for row in porting.table("cudaFree", "cublasCreate", api="runtime").rows] == ["cudaFree"]
    assert [row[0] for row in porting.table("cudaFree", "cudaSuccess", kind="enum").rows] == ["cudaSuccess"]
    assert len(porting.table().rows) == len(names.names())


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("cudaMalloc", True), ("cudamalloc", False), ("cuda_mine", False), ("cuda", False), ("cublasCreate", True),
        ("cublas_mine", True), ("cublasx", False), ("nvrtcVersion", True), ("CU_LAUNCH", True), ("CUDA_ERROR_X", True),
        ("CUDA_MINE", False), ("cuMemAlloc", True), ("cuMem", True), ("cuMe", False), ("cuMEM_x", False),
        ("custom", False), ("myCudaMalloc", False), ("nvmlInit", True), ("nvidia", False),
    ],
)  # fmt: skip
def test_the_form_of_cudas_names(name: str, found: bool) -> None:
    assert translate.looks_like_cuda(name) is found
