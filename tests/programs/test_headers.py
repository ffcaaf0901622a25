"""The host headers against what the virtual library and AMD's own package have: numbers, layouts, parameters."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import pytest

from gpulab import programs
from gpulab.errors import CompileError
from gpulab.providers.hip import library
from gpulab.toolchain import hosted
from gpulab.virtual_gpu import libraries
from gpulab.virtual_gpu.libraries.library import TYPES
from gpulab.virtual_gpu.runtime import codes, graph_structures, structures

HOST = Path(hosted.__file__).parent / "include" / "gpulab" / "host"


DEVICE_BITS = (
    "hasGlobalInt32Atomics", "hasGlobalFloatAtomicExch", "hasSharedInt32Atomics", "hasSharedFloatAtomicExch",
    "hasFloatAtomicAdd", "hasGlobalInt64Atomics", "hasSharedInt64Atomics", "hasDoubles", "hasWarpVote",
    "hasWarpBallot", "hasWarpShuffle", "hasFunnelShift", "hasThreadFenceSystem", "hasSyncThreadsExt",
    "hasSurfaceFuncs", "has3dGrid", "hasDynamicParallelism",
)  # fmt: skip
"""The bits of hipDeviceArch_t from the lowest up (hip_runtime_api.h)."""


def enumerations(header: str = "gpulab/host/constants.h") -> dict[str, dict[str, int]]:
    text = (HOST.parents[1] / header).read_text()
    found = {}
    for name, body in re.findall(r"^enum(?: \[\[nodiscard\]\])? (\w+) \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL):
        pairs = re.findall(r"(\w+)\s*=\s*(-?\d+)", body)
        assert len(pairs) == body.count("=")
        found[name] = {constant: int(value) for constant, value in pairs}
    return found


def test_error_codes() -> None:
    errors = enumerations()["hipError_t"]
    names = {name: number for number, name in codes.NAMES.items()}
    assert {name: errors[name] for name in names if name in errors} == {n: v for n, v in names.items() if n in errors}
    assert len(names.keys() - errors.keys()) <= 3


def all_enumerations() -> dict[str, dict[str, int]]:
    """Those of all headers of the interface but for textures."""
    others = ("gpulab/host/graphs.h", "gpulab/host/memory_api.h", "hip/library_types.h")
    return dict(item for header in ("gpulab/host/constants.h", *others) for item in enumerations(header).items())


@pytest.mark.skipif(not library.has_hip_python(), reason="hip-python is not here")
@pytest.mark.parametrize("name", sorted(all_enumerations()))
def test_numbers_are_those_of_amds_package(name: str) -> None:
    from hip import hip

    theirs = {member: int(value.value) for member, value in getattr(hip, name).__members__.items()}
    assert all_enumerations()[name] == theirs


def texture_enumerations() -> dict[str, dict[str, int]]:
    """Those of textures and surfaces, on one line or on several."""
    text = "".join((HOST.parent / name).read_text() for name in ("texture_types.h", "host/texture_api.h"))
    found = {}
    for name, body in re.findall(r"^(?:typedef )?enum (\w+) \{([^}]*)\}", text, re.MULTILINE):
        found[name] = {one: int(value, 0) for one, value in re.findall(r"(\w+)\s*=\s*(\w+)", body)}
    return found


@pytest.mark.skipif(not library.has_hip_python(), reason="hip-python is not here")
@pytest.mark.parametrize("name", sorted(texture_enumerations()))
def test_numbers_of_textures_are_those_of_amds_package(name: str) -> None:
    from hip import hip

    theirs = {member: int(value.value) for member, value in getattr(hip, name).__members__.items()}
    assert texture_enumerations()[name].items() <= theirs.items()


@pytest.mark.skipif(not library.has_hip_python(), reason="hip-python is not here")
def test_flags_of_textures_are_those_of_amds_package() -> None:
    from hip import hip

    text = "".join((HOST.parent / name).read_text() for name in ("texture_types.h", "host/texture_api.h"))
    found = {name: int(value, 0) for name, value in re.findall(r"^#define (\w+) (0x\w+)$", text, re.MULTILINE)}
    assert len(found) > 12
    assert found == {name: int(getattr(hip, name)) for name in found}


@pytest.mark.skipif(not library.has_hip_python(), reason="hip-python is not here")
@pytest.mark.parametrize("name", sorted(enumerations("hip/hiprtc.h")))
def test_numbers_of_hiprtc_are_those_of_amds_package(name: str) -> None:
    from hip import hiprtc

    def plain(member: str) -> str:
        """The package has the newer names: hipJitInputPtx is HIPRTC_JIT_INPUT_PTX."""
        member = member.replace("hipJitOption", "hipJit").replace("hipJit", "hiprtcJit")
        return member.lower().replace("_", "")

    theirs = {plain(member): int(value.value) for member, value in getattr(hiprtc, name).__members__.items()}
    mine = {plain(member): value for member, value in enumerations("hip/hiprtc.h")[name].items()}
    assert mine == {member: theirs[member] for member in mine}
    if name == "hiprtcResult":
        assert mine == theirs


def test_errors_that_a_kernels_source_names() -> None:
    ((name, errors),) = enumerations("hip/hip_runtime_api.h").items()
    ours = {code: number for number, code in codes.NAMES.items()}
    assert (name, errors) == ("hipError_t", {code: ours[code] for code in errors})


def flags() -> dict[str, int]:
    """The macros of structures.h that are numbers."""
    text = (HOST / "structures.h").read_text()
    found = re.findall(r"^#define (\w+) \(*(?:\((?:int|void\*|hipStream_t)\))?(-?\w+)\)*$", text, re.M)
    return {name: int(value, 0) for name, value in found if not value.startswith("hip")}


NEW_FLAGS = {  # of hip_runtime_api.h, that the package lacks; hipHostAlloc's are hipHostMalloc's
    "hipStreamLegacy": 1, "hipStreamPerThread": 2, "hipEventDisableSystemFence": 1 << 29, "hipHostAllocDefault": 0,
    "hipHostAllocPortable": 1, "hipHostAllocMapped": 2, "hipHostAllocWriteCombined": 4, "hipHostRegisterReadOnly": 8,
    "hipOccupancyDisableCachingOverride": 1, "hipEventRecordDefault": 0, "hipEventRecordExternal": 1,
    "hipEventWaitDefault": 0, "hipEventWaitExternal": 1, "hipDeviceMallocUncached": 3, "hipDeviceMallocContiguous": 4,
}  # fmt: skip


@pytest.mark.skipif(not library.has_hip_python(), reason="hip-python is not here")
@pytest.mark.parametrize("name", sorted(flags()))
def test_flags_are_those_of_amds_package(name: str) -> None:
    from hip import hip

    theirs = NEW_FLAGS[name] if name in NEW_FLAGS else int(getattr(hip, name))
    assert (flags()[name] - theirs) % (1 << 32) == 0  # the package has 0x80000000 as a negative number


def test_every_flag_is_read() -> None:
    text = (HOST / "structures.h").read_text()
    other = 5  # hipDeviceProp_t is a type; names of attributes of streams
    assert len(flags()) == len(re.findall(r"^#define ", text, re.M)) - other
    assert len(flags()) > 40


def declared() -> dict[str, str]:
    """Names and parameters of the C functions that the headers declare."""
    text = (HOST.parents[1] / "hip" / "hiprtc.h").read_text()
    for header in sorted([*HOST.glob("*_api.h"), HOST / "graphs.h", HOST / "launches.h"]):
        text += header.read_text().partition('extern "C" {')[2].partition("\n}\n")[0]
    text += (HOST.parents[1] / "hip" / "hip_ext.h").read_text().partition('extern "C" {')[2].partition("\n}\n")[0]
    text = re.sub(r"//[^\n]*|\n", " ", text)
    return dict(re.findall(r"(?:\w+\*? )\*?((?:__)?hip\w+)\(([^()]*)\);", text))


#: By function, what a call may leave out and what it is then (hip_runtime_api.h), but for a stream alone.
DEFAULTS = {
    "__hipPushCallConfiguration": "shared_bytes=0, stream=nullptr", "hipBindTexture": "bytes=0xffffffff",
    "hipConfigureCall": "shared_bytes=0, stream=nullptr", "hipEventRecordWithFlags": "stream=nullptr, flags=0",
    "hipGraphReleaseUserObject": "count=1", "hipGraphRetainUserObject": "count=1, flags=0",
    "hipHostAlloc": "flags=hipHostAllocDefault", "hipHostMalloc": "flags=hipHostMallocDefault",
    "hipLaunchKernel": "shared_bytes=0, stream=nullptr", "hipMalloc3DArray": "flags=hipArrayDefault",
    "hipMallocArray": "height=0, flags=hipArrayDefault", "hipMallocManaged": "flags=hipMemAttachGlobal",
    "hipMemcpyFromSymbol": "offset=0, kind=hipMemcpyDeviceToHost",
    "hipMemcpyToSymbol": "offset=0, kind=hipMemcpyHostToDevice",
    "hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": "flags=hipOccupancyDefault",
    "hipOccupancyMaxPotentialBlockSize": "dynamic_shared_bytes=0, limit=0",
    "hipOccupancyMaxPotentialBlockSizeVariableSMem": "limit=0",
    "hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags": "limit=0, flags=0",
    "hipOccupancyMaxPotentialBlockSizeWithFlags": "dynamic_shared_bytes=0, limit=0, flags=0",
    "hipStreamAttachMemAsync": "length=0, flags=hipMemAttachSingle",
    "hipStreamGetCaptureInfo_v2": "id=nullptr, graph=nullptr, dependencies=nullptr, count=nullptr",
    "hipStreamUpdateCaptureDependencies": "flags=0", "hipStreamWaitEvent": "flags=0",
    "hipStreamWaitValue32": "mask=0xFFFFFFFF", "hipStreamWaitValue64": "mask=0xFFFFFFFFFFFFFFFF",
    "hipUserObjectRelease": "count=1", "hipUserObjectRetain": "count=1",
}  # fmt: skip


def test_what_a_call_may_leave_out() -> None:
    """In functions and in their templates alike."""
    found: dict[str, set[str]] = {}
    for header in sorted([*HOST.glob("*_api.h"), HOST / "graphs.h", HOST / "launches.h"]):
        text = re.sub(r"//[^\n]*", "", header.read_text())
        for name, parameters in re.findall(r"\b((?:__)?hip\w+)\(([^()]*=[^()]*)\)\s*[;{]", text):
            given = ", ".join(f"{name}={value.strip()}" for name, value in re.findall(r"(\w+) = ([^,]+)", parameters))
            found.setdefault(name, set()).add(given)
    streams = {name for name, given in found.items() if given == {"stream=nullptr"}}
    assert {name: given for name, given in found.items() if name not in streams} == {
        name: {given} for name, given in DEFAULTS.items()
    }
    assert len(streams) == 24
    assert all(name.startswith("hipMem") for name in streams - {"hipEventRecord"})


def pointer_types() -> set[str]:
    """Names that the headers give to pointers: handles, functions."""
    headers = [HOST / "structures.h", HOST.parents[1] / "hip" / "hiprtc.h", HOST / "graphs.h", HOST / "memory_api.h"]
    text = "".join(header.read_text() for header in headers)
    return set(re.findall(r"^typedef [\w ]+\*\s*(\w+);", text, re.MULTILINE)) | set(
        re.findall(r"^typedef [\w ]+\(\*(\w+)\)", text, re.MULTILINE)
    )


def kind(parameter: str) -> str:
    """The code of the table of prototypes for a parameter."""
    text = re.sub(r"\s*=.*", "", parameter).strip().removeprefix("const ")
    if "*" in text or text.split()[0] in pointer_types():
        return "p"
    structures_ = {"dim3": "D", "hipExtent": "X", "hipPitchedPtr": "P", "hipTextureObject_t": "q"}
    structures_ |= {"hipMemLocation": "L", "hipIpcMemHandle_t": "I", "hipIpcEventHandle_t": "I"}
    structures_["hipSurfaceObject_t"] = "q"  # pointers, which the table has as numbers
    types = {**structures_, **{type_: code for code, type_ in TYPES.items() if code != "p"}, "uint32_t": "u"}
    text = text.replace("unsigned long long", "uint64_t")
    for name in sorted(types, key=len, reverse=True):
        if re.match(rf"{name}\b", text):
            return types[name]
    assert re.match(r"unsigned\b|hipDevice_t|(enum )?hip\w+", text), f"what is {text!r}?"
    return "u" if text.startswith("unsigned") else "i"  # an enumeration


@pytest.mark.full
def test_parameters_are_those_of_the_library() -> None:
    found = declared()
    assert len(found) > 300
    table = {one.name: one.arguments for library in libraries.found() for one in library.prototypes()}
    for name, parameters in found.items():
        codes_ = "" if parameters.strip() in ("", "void") else "".join(map(kind, parameters.split(",")))
        assert codes_ == table[name], name


def test_what_is_declared_is_implemented() -> None:
    missing = {
        one.name
        for library in libraries.found()
        for one in library.prototypes()
        if not one.in_c and one.name not in library.implemented()
    }
    refused = {"hipProfilerStart", "hipProfilerStop"}  # HIP's reference has them say that they are not supported
    assert declared().keys() & missing == refused


#: C structure -> its counterpart.
LAYOUTS = {
    "hipDeviceProp_t": structures.DeviceProperties,
    "hipPointerAttribute_t": structures.PointerAttributes,
    "hipFuncAttributes": structures.FunctionAttributes,
    "hipExtent": structures.Extent,
    "hipPos": structures.Position,
    "hipPitchedPtr": structures.PitchedPtr,
    "hipMemcpy3DParms": structures.Memcpy3D,
    "hipMemLocation": structures.MemoryLocation,
    "hipLaunchConfig_t": structures.LaunchConfigurationEx,
    "HIP_LAUNCH_CONFIG": structures.LaunchConfiguration,
    "hipKernelNodeParams": graph_structures.KernelNodeParams,
    "hipMemsetParams": graph_structures.MemsetParams,
    "hipHostNodeParams": graph_structures.HostNodeParams,
    "hipMemPoolProps": graph_structures.PoolProperties,
    "hipMemAllocNodeParams": graph_structures.MemAllocNodeParams,
    "hipMemcpyNodeParams": graph_structures.MemcpyNodeParams,
    "hipGraphInstantiateParams": graph_structures.InstantiateParams,
    "hipBatchMemOpNodeParams": graph_structures.BatchMemOpNodeParams,
    "hipChannelFormatDesc": structures.ChannelFormat,
    "hipTextureDesc": structures.TextureDescription,
    "hipResourceViewDesc": structures.ResourceView,
    "hipResourceDesc": structures.ResourceDescription,
    "textureReference": structures.TextureReference,
    "HIP_ARRAY_DESCRIPTOR": structures.ArrayDescription,
    "HIP_ARRAY3D_DESCRIPTOR": structures.ArrayDescription3D,
    "HIP_RESOURCE_DESC": structures.DriverResource,
    "HIP_TEXTURE_DESC": structures.DriverTexture,
    "hip_Memcpy2D": structures.Memcpy2D,
    "HIP_MEMCPY3D": structures.DriverMemcpy3D,
    "hipMemcpy3DPeerParms": structures.Memcpy3DPeer,
    "hipMemAccessDesc": structures.AccessDescription,
    "hipMemcpyAttributes": structures.CopyAttributes,
    "hipMemcpy3DOperand": structures.CopyOperand,
    "hipMemcpy3DBatchOp": structures.BatchCopy3D,
    "hipMemPoolPtrExportData": structures.IpcHandle,
    "hipIpcMemHandle_t": structures.IpcHandle,
    "hipIpcEventHandle_t": structures.IpcHandle,
}


@pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
def test_layouts() -> None:
    """A program prints sizes and offsets; they are those of the structures that the library writes."""
    lines, expected = [], []
    for name, kind_ in LAYOUTS.items():
        lines.append(f'std::printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(kind_)}")
        for entry in kind_._fields_:
            lines.append(f'std::printf("{name}.{entry[0]} %zu\\n", __builtin_offsetof({name}, {entry[0]}));')
            expected.append(f"{name}.{entry[0]} {getattr(kind_, entry[0]).offset}")
    # hip_runtime_api.h: what fills an attribute's identifier up to 8 bytes, a value of 64, a UUID of 16
    for wanted, expression in (
        (72, "sizeof(hipLaunchAttribute)"),
        (64, "sizeof(hipLaunchAttributeValue)"),
        (8, "__builtin_offsetof(hipLaunchAttribute, val)"),
        (16, "sizeof(hipUUID)"),
        (ctypes.sizeof(graph_structures.GraphNodeParams), "sizeof(hipGraphNodeParams)"),
        (graph_structures.GraphNodeParams.of.offset, "__builtin_offsetof(hipGraphNodeParams, kernel)"),
        (ctypes.sizeof(graph_structures.StreamMemoryOperation), "sizeof(hipStreamBatchMemOpParams)"),
        (8, "__builtin_offsetof(hipStreamBatchMemOpParams, waitValue.address)"),
        (16, "__builtin_offsetof(hipStreamBatchMemOpParams, writeValue.value64)"),
        (24, "__builtin_offsetof(hipStreamBatchMemOpParams, waitValue.flags)"),
        (ctypes.sizeof(structures.AllocationProperties), "sizeof(hipMemAllocationProp)"),
        (
            structures.AllocationProperties.win32HandleMetaData.offset,
            "offsetof(hipMemAllocationProp, win32HandleMetaData)",
        ),
        (structures.AllocationProperties.compressionType.offset, "offsetof(hipMemAllocationProp, allocFlags)"),
    ):
        lines.append(f'std::printf("%zu\\n", {expression});')
        expected.append(f"{wanted}")
    for place, name in enumerate(DEVICE_BITS):
        lines.append(
            f"{{ hipDeviceArch_t a; unsigned bits = 0; std::memset(&a, 0, sizeof a); a.{name} = ~0u; "
            f'std::memcpy(&bits, &a, sizeof bits); std::printf("{name} %u\\n", bits); }}'
        )
        expected.append(f"{name} {1 << place}")
    head = "#include <hip/hip_runtime.h>\n#include <cstddef>\n#include <cstring>\n"
    source = head + "int main() {\n" + "\n".join(lines) + "\n}\n"
    run = programs.build(source, name="layouts", archs=("gfx942",)).run(arch="gfx942")
    assert run.stdout.splitlines() == expected


@pytest.mark.full
@pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")
def test_conditional_nodes_are_refused_by_name() -> None:
    source = """#include <hip/hip_runtime.h>
    int main() { return hipGraphConditionalHandleCreate(nullptr, nullptr, 0, 0); }
    """
    with pytest.raises(CompileError, match="HIP has no conditional nodes: decide on the host"):
        programs.build(source, name="conditional", archs=("gfx942",))


def test_calls_on_the_threads_own_stream() -> None:
    """per_thread.h gives a call's name to its variant, for each variant that is implemented."""
    text = (HOST / "per_thread.h").read_text()
    renamed = dict(re.findall(r"^#define (\w+) (\w+)$", text, re.M))
    assert len(renamed) > 30
    assert all(to == f"{of}_spt" for of, to in renamed.items())
    hip = libraries.find("hip")
    variants = {name for name in hip.implemented() if name.endswith("_spt")}
    assert variants - set(renamed.values()) == {"hipGetProcAddress_spt", "hipGetDriverEntryPoint_spt"}
    assert set(renamed.values()) <= variants


def numbers_of(header: str) -> dict[str, str]:
    """What a header's #define and enumerators say, as text; enumerators without a number are left out."""
    text = re.sub(r"//[^\n]*", "", (HOST / "library" / header).read_text())
    found = dict(re.findall(r"^#define (\w+) (\S.*)$", text, re.M))
    for body in re.findall(r"enum(?: \w+)? \{([^}]*)\}", text):
        found |= dict(re.findall(r"(\w+) = ([^,\n]+?)\s*(?:,|$)", body))
    return found


def test_numbers_of_openmp() -> None:
    """OpenMP specification 5.2, omp.h; of allocators LLVM's."""
    expected = {f"omp_sched_{name}": n + 1 for n, name in enumerate(("static", "dynamic", "guided", "auto"))}
    expected |= {f"omp_proc_bind_{name}": n for n, name in enumerate(("false", "true", "primary", "close", "spread"))}
    expected |= {f"omp_sync_hint_{name}": n for name, n in (
        ("none", 0), ("uncontended", 1), ("contended", 2), ("nonspeculative", 4), ("speculative", 8))}  # fmt: skip
    memory = ("default", "large_cap", "const", "high_bw", "low_lat", "cgroup", "pteam", "thread")
    expected |= {f"omp_{name}_mem_alloc": n + 1 for n, name in enumerate(memory)}
    expected |= {"omp_proc_bind_master": 2, "omp_pause_soft": 1, "omp_pause_hard": 2, "omp_null_allocator": 0}
    found = {name: value for name, value in numbers_of("omp.h").items() if name.startswith("omp_")}
    assert found.pop("omp_sched_monotonic") == "(int)0x80000000"
    assert {name: int(value) for name, value in found.items()} == expected


def test_numbers_of_mpi() -> None:
    """The standard leaves most of them to those who write the header: here classes of errors have Open MPI's."""
    errors = {"BUFFER": 1, "COUNT": 2, "TYPE": 3, "TAG": 4, "COMM": 5, "RANK": 6, "REQUEST": 7, "ROOT": 8, "OP": 10,
              "ARG": 13, "TRUNCATE": 15, "OTHER": 16, "IN_STATUS": 18, "LASTCODE": 64}  # fmt: skip
    expected = {f"ERR_{name}": f"{number}" for name, number in errors.items()} | {
        "VERSION": "4", "SUBVERSION": "1", "SUCCESS": "0", "MAX_PROCESSOR_NAME": "256", "MAX_ERROR_STRING": "256",
        "MAX_LIBRARY_VERSION_STRING": "256", "MAX_OBJECT_NAME": "64", "UNDEFINED": "(-32766)", "ANY_SOURCE": "(-1)",
        "PROC_NULL": "(-2)", "ROOT": "(-3)", "ANY_TAG": "(-1)", "BOTTOM": "((void*)0)", "IN_PLACE": "((void*)1)",
        "COMM_TYPE_SHARED": "1", "COMM_TYPE_HW_UNGUIDED": "2", "COMM_TYPE_HW_GUIDED": "3", "TAG_UB": "1",
        "COMM_NULL": "0", "COMM_WORLD": "1", "COMM_SELF": "2", "GROUP_NULL": "0", "GROUP_EMPTY": "1", "INFO_NULL": "0",
        "INFO_ENV": "1", "REQUEST_NULL": "((MPI_Request)0)", "OP_NULL": "0", "ERRORS_ARE_FATAL": "1",
        "ERRORS_RETURN": "2", "ERRHANDLER_NULL": "0", "STATUS_IGNORE": "((MPI_Status*)0)",
        "STATUSES_IGNORE": "((MPI_Status*)0)", "MAX": "1",
    }  # fmt: skip
    found = {name.removeprefix("MPI_"): value for name, value in numbers_of("mpi.h").items() if re.search(r"\d", value)}
    assert found == expected
