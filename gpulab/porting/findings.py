"""What a translator of names cannot port: `find` looks for it and says where it is and what to do.

Each finder reads tokens, not types, so a finding is a place to look at, not a proof. The kinds are those of `KINDS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpulab.porting.names import Name
from gpulab.porting.structure import NONE, CppSource
from gpulab.porting.tokens import HEADER, NAME, NUMBER, SIGN, STRING, words

KINDS = {
    "unsupported": "a CUDA name that HIP has no counterpart for",
    "unknown": "a name that looks like CUDA's and is not in the table",
    "header": "a header without a counterpart",
    "warp-size": "arithmetic that takes a warp to have 32 lanes",
    "lane-mask": "a mask of lanes in 32 bits",
    "warp-synchronous": "lanes that exchange data without a barrier",
    "inline-ptx": "assembly for NVIDIA's virtual machine",
    "texture": "a texture or surface",
    "dynamic-parallelism": "a launch or a call of the runtime from device code",
    "launch-bounds": "__launch_bounds__ with a second argument",
    "architecture": "a test for a CUDA architecture or version",
    "device-property": "a property that means something else, or that HIP does not have",
    "cooperative-groups": "a tile size or a group to look at",
    "tensor-core": "nvcuda::wmma",
    "libcu++": "the namespace cuda::",
    "library": "a library's call that takes other arguments",
    "launch": "a launch that could not be read",
}
"""The kinds of notes, and what each is about."""


@dataclass(frozen=True, slots=True)
class Note:
    """One finding: where (line and column counted from 1), of which kind, what it is, and what to do."""

    line: int
    column: int
    kind: str
    what: str
    advice: str
    code: str = ""
    """The line, as it is in the program."""

    def text(self, name: str, advice: str | None = None) -> str:
        """The note as it is shown: "file:line:column: kind: what", the line, and the advice or another text for it."""
        lines = [f"{name}:{self.line}:{self.column}: {self.kind}: {self.what}"]
        if self.code:
            lines.append(f"    {self.code}")
        return "\n".join([*lines, f"    → {self.advice if advice is None else advice}"])


Finding = tuple[int, str, str, str]  # position, kind, what, advice


def find(program: CppSource, unknown: Sequence[tuple[int, Name | None]]) -> tuple[Note, ...]:
    """All notes of a program, in order of place.

    Args:
        program: the CUDA program.
        unknown: positions of names that could not be replaced, with their row if the table has one.
    """
    from gpulab.porting import translate

    found: dict[tuple[int, str], Finding] = {}
    finders = (
        _unsupported(program, unknown), _numbers(program), _masks(program), _names(program), _headers(program),
        _launches(program, translate.launch_at), _unsynchronised(program), _properties(program),
    )  # fmt: skip
    for finder in finders:
        for finding in finder:
            found.setdefault((finding[0], finding[1]), finding)
    return tuple(_note(program, *found[key]) for key in sorted(found))


def _note(program: CppSource, position: int, kind: str, what: str, advice: str) -> Note:
    start = program.starts[position]
    line, column = program.place(start)
    code = program.tokens.line(line - program.first_line + 1, 400).strip()
    return Note(line, column, kind, what, advice, code if len(code) <= 160 else code[:157] + "...")


# ----------------------------------------------------------------------------------- names without HIP


def _unsupported(program: CppSource, unknown: Sequence[tuple[int, Name | None]]) -> Iterator[Finding]:
    for position, row in unknown:
        text = program.texts[position]
        if program.kinds[position] == HEADER:
            advice = row.note if row and row.note else _header_advice(text[1:-1].strip())
            yield position, "header", f"HIP itself has no header {text}.", _sentence(advice)
        elif row is not None:
            advice = row.note or "look for another way in HIP's documentation, or leave it out"
            yield position, "unsupported", f"{text} has no counterpart in HIP.", _sentence(advice)
        elif program.text(position + 1) == "(" or text.startswith(("CU", "cuda")):
            yield (
                position,
                "unknown",
                f"{text} is not in the table of CUDA names.",
                "If it is your own, nothing is to do. Otherwise look it up in HIP's documentation.",
            )


def _sentence(text: str) -> str:
    """A note of the table as a sentence; names keep their first letter."""
    first = text.split(" ", 1)[0].rstrip(",:;")
    plain = first.isalpha() and first.islower() and not first.startswith(("hip", "roc"))
    return (text[:1].upper() + text[1:] if plain else text) + ("" if text.endswith(".") else ".")


def _header_advice(path: str) -> str:
    if path.startswith(("cuda/", "nv/")):
        return "ROCm's libhipcxx has a header of this name; a kernel in a cell of gpulab cannot use it"
    return "leave it out, or port what it declares"


_SAMPLES = words("helper_cuda.h helper_functions.h helper_timer.h helper_math.h helper_string.h helper_image.h")


def _headers(program: CppSource) -> Iterator[Finding]:
    for position, kind in enumerate(program.kinds):
        if kind == HEADER and program.texts[position][1:-1].strip().split("/")[-1] in _SAMPLES:
            yield (
                position,
                "header",
                f"{program.texts[position]} belongs to NVIDIA's samples, not to CUDA.",
                "Port the functions that you use of it, for example checkCudaErrors, into a file of your own.",
            )


# ------------------------------------------------------------------------------------------- warp size

_LANES = re.compile(r"lane|warp|wid$|^wid", re.IGNORECASE)
_THREAD = re.compile(r"lane|warp|thread|tid|^wid|wid$|^t$|idx", re.IGNORECASE)
_SHUFFLE = re.compile(r"__(shfl|ballot|any|all|match_any|match_all|reduce_\w+)(_\w+)?")
_COMPARISONS = words("< <= > >= == !=")
_WARP = {32: "a warp's 32 lanes", 31: "the last of 32 lanes, or their mask", 5: "the 5 bits that number 32 lanes"}


def _value(text: str) -> int | None:
    """An integer literal's value."""
    plain = text.replace("'", "").rstrip("uUlL")
    try:
        if plain[:2] in ("0x", "0X"):
            return int(plain, 16)
        if plain[:2] in ("0b", "0B"):
            return int(plain, 2)
        if plain.isdigit():
            return int(plain, 8) if plain.startswith("0") else int(plain)
    except ValueError:
        pass
    return None


def _numbers(program: CppSource) -> Iterator[Finding]:
    """32, 31 and 5 where they count lanes."""
    for position, kind in enumerate(program.kinds):
        if kind != NUMBER:
            continue
        value = _value(program.texts[position])
        if value in _WARP and _counts_lanes(program, position, value):
            yield position, "warp-size", f"{program.texts[position]} stands for {_WARP[value]}.", _warp_advice(value)
        elif value == 16 and _starts_a_reduction(program, position):
            yield (
                position,
                "warp-size",
                "the steps 16, 8, 4, 2, 1 join 32 lanes.",
                "Start at warpSize / 2: on a wavefront of 64 lanes the step of 32 is missing, and half of the sum.",
            )


def _warp_advice(value: int) -> str:
    if value == 31:
        return "Write warpSize - 1: a wavefront has 64 lanes on CDNA and 32 on RDNA."
    if value == 5:
        return "Divide by warpSize instead: a wavefront has 64 lanes on CDNA and 32 on RDNA."
    return (
        "Write warpSize in kernels, and ask hipDeviceProp_t::warpSize on the host: a wavefront has 64 lanes on CDNA "
        "and 32 on RDNA. warpSize is no constant expression, so size arrays for the smallest."
    )


def _counts_lanes(program: CppSource, position: int, value: int) -> bool:
    before, after = program.text(position - 1), program.text(position + 1)
    if _defines_a_warp(program, position):
        return True
    if before == "(" and after in ("-", ")") and value == 32:  # (32 - 1), (32)
        before = program.text(position - 2)
    if value == 5:
        return before == ">>" and _speaks_of(program, position, _THREAD)
    if value == 31:
        if before == "&" or after == "&":
            return _speaks_of(program, position, _THREAD)
        return (before in _COMPARISONS or after in _COMPARISONS or before == "-") and _speaks_of(
            program, position, _LANES
        )
    if before in ("%", "/", "&", ">>"):
        return _speaks_of(program, position, _THREAD)
    if before in ("*", "<<") or after == "*":
        return _speaks_of(program, position, _LANES)
    if before in ("+=", "-="):
        return _strides_over_lanes(program, position)
    if before in _COMPARISONS or after in _COMPARISONS:
        neighbour = _operand_before(program, position - 1) if before in _COMPARISONS else ""
        following = program.text(position + 2) if after in _COMPARISONS else ""
        names = f"{neighbour} {following}"
        return bool(
            re.search(r"lane|warp|\btid\b|threadIdx", names, re.IGNORECASE)
            and (program.device[position] or program.directive[position] != NONE or _LANES.search(names))
        )
    return False


def _strides_over_lanes(program: CppSource, position: int) -> bool:
    """for (int k = first + lane; k < last; k += 32)"""
    for at in range(position - 1, max(position - 40, NONE), -1):
        if program.texts[at] == "(" and program.partner[at] > position:
            names = (program.texts[i] for i in range(at + 1, position) if program.kinds[i] == NAME)
            return program.text(at - 1) == "for" and any(_LANES.search(name) for name in names)
    return False


def _operand_before(program: CppSource, operator: int) -> str:
    """The name, or names joined by dots, in front of an operator."""
    names = []
    at = operator - 1
    while at >= 0 and (program.kinds[at] == NAME or program.texts[at] in (".", "->", "::")):
        names.append(program.texts[at])
        at -= 1
    return " ".join(reversed(names))


def _defines_a_warp(program: CppSource, position: int) -> bool:
    """#define WARP_SIZE 32; const int warp_size = 32; enum { kWarp = 32 }; and template <int WARP = 32>."""
    directive = program.directive[position]
    if directive != NONE:
        name = program.text(directive + 2)
        near = position - directive <= 5
        return program.text(directive + 1) == "define" and near and bool(_LANES.search(name))
    if program.text(position - 1) in ("=", "{", "("):
        name = program.text(position - 2)
        return program.kind(position - 2) == NAME and bool(_LANES.search(name)) and "per" not in name.lower()
    return False


def _speaks_of(program: CppSource, position: int, pattern: re.Pattern[str]) -> bool:
    """Whether a name of this kind stands in the same statement, near the number."""
    first = max(program.statement[position], position - 24)
    last = position + 1
    while last < min(len(program), position + 12) and program.texts[last] not in (";", "{", "}"):
        last += 1
    return any(program.kinds[at] == NAME and pattern.search(program.texts[at]) for at in range(first, last))


def _starts_a_reduction(program: CppSource, position: int) -> bool:
    """for (int offset = 16; ...) ... __shfl..., and an unrolled __shfl_down(x, 16)."""
    if not program.device[position] and program.directive[position] == NONE:
        return False
    before = program.text(position - 1)
    if before == "=" and program.text(position + 1) == ";":
        return any(_SHUFFLE.fullmatch(program.texts[at]) for at in range(position, min(position + 80, len(program))))
    if before != "," or program.text(position + 1) not in (")", ","):
        return False
    for at in range(position - 1, max(position - 40, NONE), -1):
        if program.texts[at] == "(" and program.partner[at] > position:
            name = program.text(at - 1)
            arguments = program.arguments(at)
            index = next((i for i, (first, last) in enumerate(arguments) if first <= position <= last), NONE)
            wanted = 2 if name.endswith("_sync") else 1
            return bool(re.fullmatch(r"__shfl_(down|up|xor)(_sync)?", name)) and index == wanted
    return False


# ----------------------------------------------------------------------------------------------- masks

_SYNC = re.compile(r"__(shfl(_up|_down|_xor)?|ballot|any|all|match_any|match_all|reduce_(add|min|max|and|or|xor))_sync")
_MASKS = re.compile(r"__(ballot|ballot_sync|activemask|match_any|match_all|match_any_sync|match_all_sync)")
_NARROW = words("unsigned int uint32_t int int32_t uint u32")
_COUNTERS = {"__popc": "__popcll", "__ffs": "__ffsll", "__clz": "__clzll", "__brev": "__brevll"}
_ALL_LANES = "Write 0xffffffffffffffffull for all lanes of a wavefront of either size; 32 bits do not compile in HIP."
_WIDE = "Make it unsigned long long: HIP's masks have 64 bits, one for each lane of a wavefront."


def _masks(program: CppSource) -> Iterator[Finding]:
    """32-bit masks: as arguments of _sync functions, as variables, counted with 32-bit functions, shifted 32-bit."""
    as_masks = _mask_arguments(program)
    holders: set[str] = set()  # variables that a ballot was put into
    for position, text in enumerate(program.texts):
        kind = program.kinds[position]
        if kind == NAME and (_SYNC.fullmatch(text) or text == "__syncwarp") and program.text(position + 1) == "(":
            yield from _mask_literal(program, position)
        if kind == NAME and _MASKS.fullmatch(text):
            holder = _assigned(program, position)
            if holder is not None:
                holders.add(program.texts[holder])
                if _declared_narrow(program, holder):
                    yield holder, "lane-mask", f"{program.texts[holder]} keeps {text}'s mask in 32 bits.", _WIDE
        if kind == NAME and text in as_masks:
            if program.text(position - 1) == "define" and program.kind(position + 1) == NUMBER:
                if _is_full_mask(program, position + 1, position + 1):
                    yield position + 1, "lane-mask", f"{text} is a mask of 32 lanes.", _ALL_LANES
            elif program.text(position + 1) in ("=", "{", "(", ";", ",", ")") and _declared_narrow(program, position):
                yield position, "lane-mask", f"{text} is a mask of lanes in 32 bits.", _WIDE
        if kind == NAME and text in _COUNTERS and program.text(position + 1) == "(":
            inside = range(position + 2, max(program.partner[position + 1], 0))
            if any(_MASKS.fullmatch(program.texts[at]) or program.texts[at] in holders for at in inside):
                yield (
                    position,
                    "lane-mask",
                    f"{text} reads 32 bits of a mask of lanes.",
                    f"Use {_COUNTERS[text]}, which reads 64.",
                )
        if kind == NUMBER and program.text(position + 1) == "<<" and _value(text) == 1:
            yield from _shifted_one(program, position)


def _mask_arguments(program: CppSource) -> set[str]:
    """Names that are given to _sync functions as the mask."""
    found = set()
    for position, text in enumerate(program.texts):
        called = program.kinds[position] == NAME and (_SYNC.fullmatch(text) or text == "__syncwarp")
        if called and program.text(position + 1) == "(":
            arguments = program.arguments(position + 1)
            first, last = next(iter(arguments), (NONE, NONE))
            if first == last != NONE and program.kinds[first] == NAME:
                found.add(program.texts[first])
    return found


def _mask_literal(program: CppSource, position: int) -> Iterator[Finding]:
    arguments = program.arguments(position + 1)
    if not arguments or arguments[0][1] < arguments[0][0]:
        return
    first, last = arguments[0]
    if _is_full_mask(program, first, last):
        mask = program.between(first, last)
        yield first, "lane-mask", f"{mask} is a mask of 32 lanes.", _ALL_LANES
    elif first == last and program.kinds[first] == NUMBER and not re.search(r"ll$", program.texts[first], re.I):
        yield (
            first,
            "lane-mask",
            f"{program.texts[first]} is a mask in 32 bits.",
            "Give it 64 bits (suffix ull), and think about the lanes from 32 on, which CDNA's wavefronts have.",
        )


def _is_full_mask(program: CppSource, first: int, last: int) -> bool:
    """0xffffffff, 0xFFFFFFFFu, ~0, ~0u, -1, (unsigned)-1, UINT_MAX"""
    texts = [text for text in program.texts[first : last + 1] if text not in ("(", ")")]
    texts = [text for text in texts if text not in _NARROW]
    joined = "".join(texts).lower()
    return bool(re.fullmatch(r"0xf{8}(u|l|ul)?|4294967295u?|~0u?|-1|uint_max", joined))


def _assigned(program: CppSource, position: int) -> int | None:
    """Where the variable stands that a call's result is put into: name = ... call, in the same statement.

    A result that is compared, or decides between others, is put nowhere.
    """
    end = program.partner[position + 1] if program.text(position + 1) == "(" else NONE
    if end != NONE and program.text(end + 1) in ("==", "!=", "<", ">", "<=", ">=", "&&", "||", "?"):
        return None
    start = program.statement[position]
    for at in range(position - 1, max(start, position - 16) - 1, -1):
        text = program.texts[at]
        if text in ("=", "|=", "&=") and program.kinds[at - 1] == NAME:
            inside = any(program.texts[i] in _COUNTERS for i in range(at, position))
            return None if inside else at - 1
        if text in ("==", "!=", "?", "return"):
            return None
    return None


def _declared_narrow(program: CppSource, position: int) -> bool:
    """Whether the variable at this position is declared here as an integer of 32 bits."""
    before = program.text(position - 1)
    if before not in _NARROW:
        return False
    return program.text(position - 2) != "long"


def _shifted_one(program: CppSource, position: int) -> Iterator[Finding]:
    text = program.texts[position]
    if re.search(r"ll$", text, re.IGNORECASE):
        return
    following = [program.text(position + step) for step in range(2, 6)]
    if any(re.search(r"lane", name, re.IGNORECASE) for name in following):
        yield (
            position,
            "lane-mask",
            f"{text} << lane has 32 bits: lanes 32 to 63 are lost.",
            "Write 1ull << lane.",
        )


# --------------------------------------------------------------------------------- names that say it all

_TEXTURE = re.compile(
    r"(tex(1D|2D|3D|Cubemap)(Layered)?(fetch|Lod|Grad|gather)*|surf(1D|2D|3D|Cubemap)(Layered)?(read|write))"
)
_TEXTURE_ADVICE = (
    "HIP has textures on Radeon GPUs (gfx1100); Instinct devices from MI200 on have no image instructions "
    "(hipDeviceAttributeImageSupport is 0): there read from global memory (with __ldg), and interpolate and clamp in "
    "the kernel."
)
_PTX = (
    (r"%laneid", "__lane_id()"),
    (r"%lanemask_(\w\w)", "__lanemask_{0}()"),
    (r"%warpid|%nwarpid", "threadIdx / warpSize, computed"),
    (r"%smid", "__smid()"),
    (r"%clock64|%clock", "clock64()"),
    (r"%globaltimer", "wall_clock64()"),
    (r"%activemask|activemask", "__activemask()"),
    (r"ld\.global\S*\.nc|ldg", "__ldg(pointer)"),
    (r"ld\.\w+|st\.\w+", "an ordinary access, or __builtin_nontemporal_load and ..._store"),
    (r"cp\.async", "ordinary loads to registers and stores to LDS, or cooperative_groups::memcpy_async"),
    (r"mma\.|wmma\.|ldmatrix", "rocWMMA, or __builtin_amdgcn_mfma_... and __builtin_amdgcn_wmma_..."),
    (r"membar|fence", "__threadfence(), __threadfence_block() or __threadfence_system()"),
    (r"bar\.sync|barrier", "__syncthreads()"),
    (r"shfl", "__shfl and its relatives"),
    (r"vote|ballot", "__ballot, __any, __all"),
    (r"red\.|atom\.", "atomicAdd and its relatives, or __hip_atomic_fetch_add with a scope"),
    (r"prmt", "__byte_perm"),
    (r"bfe", "__bitextract_u32"),
    (r"bfind", "31 - __clz(x)"),
    (r"bfi", "__bitinsert_u32"),
    (r"shf\.", "__funnelshift_l or __funnelshift_r"),
    (r"lop3", "the logical expression; the compiler makes one instruction of it where there is one"),
    (r"fma\.|mad\.", "fmaf, fma or the expression a * b + c"),
    (r"mul\.hi", "__umulhi or __mulhi"),
    (r"popc", "__popc or __popcll"),
    (r"clz", "__clz or __clzll"),
    (r"brev", "__brev or __brevll"),
    (r"nanosleep", "__builtin_amdgcn_s_sleep"),
    (r"trap", "__trap()"),
    (r"ex2\.|lg2\.|sin\.|cos\.|rcp\.|rsqrt\.|sqrt\.", "exp2f, log2f, __sinf, __cosf, __frcp_rn, rsqrtf or sqrtf"),
)  # fmt: skip


def _names(program: CppSource) -> Iterator[Finding]:
    """Inline PTX, textures, launch bounds, architecture macros, cooperative groups, wmma and cuda::."""
    for position, kind in enumerate(program.kinds):
        if kind != NAME:
            continue
        text = program.texts[position]
        after = program.text(position + 1)
        if text in ("asm", "__asm__", "__asm"):
            yield from _assembly(program, position)
        elif text == "texture" and after == "<":
            what = "texture references are gone from CUDA 12 and deprecated in HIP."
            yield position, "texture", what, "Make texture objects of them first. " + _TEXTURE_ADVICE
        elif _TEXTURE.fullmatch(text) and after in ("(", "<"):
            yield position, "texture", f"{text} reads or writes by way of the texture units.", _TEXTURE_ADVICE
        elif text == "__launch_bounds__" and after == "(":
            yield from _bounds(program, position)
        elif text in (
            "__CUDA_ARCH__",
            "__CUDACC_VER_MAJOR__",
            "__CUDACC_VER_MINOR__",
            "CUDA_VERSION",
            "CUDART_VERSION",
        ):
            yield from _architecture(program, position)
        elif text in ("atomicAdd", "atomicMin", "atomicMax") and after == "(":
            yield from _own_atomic(program, position)
        elif text in ("__CUDA_ARCH_LIST__", "__NVCC__", "__CUDACC_RTC__", "__CUDA_ARCH_FEAT_SM90_ALL"):
            advice = "HIP's compiler defines __HIPCC__ and, for the device, __HIP_DEVICE_COMPILE__."
            yield position, "architecture", f"{text} is not defined by HIP's compiler.", advice
        elif text in ("tiled_partition", "thread_block_tile") and after == "<":
            yield from _tile(program, position)
        elif text in ("labeled_partition", "this_cluster", "cluster_group", "invoke_one", "invoke_one_broadcast"):
            advice = "HIP's cooperative groups are blocks, grids, tiles and coalesced groups."
            yield position, "cooperative-groups", f"HIP has no {text}.", advice
        elif text == "nvcuda" and (after == "::" or program.text(position - 1) == "namespace"):
            yield (
                position,
                "tensor-core",
                "nvcuda::wmma is for NVIDIA's tensor cores.",
                "rocWMMA has such fragments and calls: <rocwmma/rocwmma.hpp>, namespace rocwmma. Its tile sizes depend "
                "on the device, and a fragment is spread over 64 lanes on CDNA.",
            )
        elif text == "cuda" and after == "::" and program.text(position - 1) not in ("::", ".", "->"):
            yield from _libcu(program, position)
        elif text.startswith("cudnn") and after == "(":
            yield from _dnn(program, position)


def _assembly(program: CppSource, position: int) -> Iterator[Finding]:
    at = position + 1
    while program.text(at) in ("volatile", "__volatile__", "goto"):
        at += 1
    if program.text(at) != "(":
        return
    end = program.partner[at] if program.partner[at] != NONE else min(at + 40, len(program) - 1)
    code = []
    for inside in range(at + 1, end):
        if program.kinds[inside] == STRING:
            code.append(program.texts[inside])
        elif program.texts[inside] == ":":
            break
    joined = " ".join(code)
    advice = "Write it in C++ or with a function of HIP."
    for pattern, instead in _PTX:
        match = re.search(pattern, joined)
        if match:
            advice = f"Write {instead.format(*match.groups())} instead."
            break
    if not joined.strip('" '):
        advice = "An empty assembly statement orders memory for the compiler only; Clang accepts it for AMD as well."
    yield position, "inline-ptx", "PTX assembly does not exist on AMD GPUs.", advice


def _bounds(program: CppSource, position: int) -> Iterator[Finding]:
    arguments = program.arguments(position + 1)
    if len(arguments) < 2:
        return
    first = program.between(*arguments[0])
    second = program.between(*arguments[1])
    yield (
        arguments[1][0],
        "launch-bounds",
        f"{second} counts blocks of a multiprocessor in CUDA; HIP's second argument counts wavefronts of a SIMD.",
        f"For the same occupancy: ({second}) * ({first}) / (warpSize * SIMDs of a compute unit), with 4 SIMDs on CDNA. "
        "Leave it out unless registers are what limits the kernel."
        + (" A third argument, for clusters, does not exist in HIP." if len(arguments) > 2 else ""),
    )


def _architecture(program: CppSource, position: int) -> Iterator[Finding]:
    text = program.texts[position]
    if text == "__CUDA_ARCH__":
        asks = program.text(position - 1) in ("ifdef", "ifndef", "elifdef", "elifndef", "defined")
        if asks or (program.text(position - 1) == "(" and program.text(position - 2) == "defined"):
            return
        what = "__CUDA_ARCH__ is never defined by HIP's compiler, so that this counts as 0."
        advice = (
            "Ask for the device with #if defined(__gfx942__) and the like, for device code with __HIP_DEVICE_COMPILE__."
        )
    elif text in ("CUDA_VERSION", "CUDART_VERSION"):
        if program.directive[position] == NONE:
            return
        what = f"{text} became HIP_VERSION, whose numbers are others."
        advice = "Decide what HIP needs here: HIP_VERSION is 10000000 * major + 100000 * minor + patch."
    else:
        what = f"{text} is not defined by HIP's compiler."
        advice = "HIP_VERSION_MAJOR, or __clang_major__ for the compiler's own version."
    yield position, "architecture", what, advice


def _own_atomic(program: CppSource, position: int) -> Iterator[Finding]:
    """A definition of what older GPUs of NVIDIA lacked, for which HIP has a function of the same name and type."""
    result, end = program.text(position - 1), program.partner[position + 1]
    if result in ("double", "float") and end != NONE and program.text(end + 1) == "{":
        yield (
            position,
            "architecture",
            f"HIP has {program.texts[position]} for {result} itself, so that this is a second definition.",
            "Leave it to CUDA: #ifndef __HIP_PLATFORM_AMD__ before it, #endif behind it. A condition on __CUDA_ARCH__ "
            "does not hide it, for HIP's compiler never defines that.",
        )


def _tile(program: CppSource, position: int) -> Iterator[Finding]:
    size = _value(program.text(position + 2)) if program.kind(position + 2) == NUMBER else None
    if size == 32:
        yield (
            position,
            "cooperative-groups",
            "a tile of 32 is a whole warp in CUDA, and half a wavefront on CDNA.",
            "It works on both. For a whole wavefront take tiles of 64 there: two of 32 share one program counter.",
        )
    elif size is not None and size > 64:
        yield (
            position,
            "cooperative-groups",
            f"a tile of {size} is larger than a wavefront.",
            "HIP's tiles have at most 64 threads on CDNA, 32 on RDNA: use the block and __syncthreads().",
        )


def _libcu(program: CppSource, position: int) -> Iterator[Finding]:
    inner = program.text(position + 2)
    if inner == "par" or inner == "par_nosync":
        return
    instead = {
        "atomic": "Or use atomicAdd and its relatives, or __hip_atomic_fetch_add with a scope.",
        "atomic_ref": "Or use atomicAdd and its relatives, or __hip_atomic_fetch_add with a scope.",
        "barrier": "Or use __syncthreads(), or barrier_arrive and barrier_wait of cooperative groups.",
        "pipeline": "Or use two buffers in LDS and __syncthreads().",
        "memcpy_async": "Or use cooperative_groups::memcpy_async.",
    }.get(inner, "")
    what = f"cuda::{inner} is from libcu++."
    advice = f"ROCm's libhipcxx has that library's part with the same names (not in gpulab's cells). {instead}"
    yield position, "libcu++", what, advice.strip()


def _dnn(program: CppSource, position: int) -> Iterator[Finding]:
    from gpulab.porting import names

    row = names.lookup(program.texts[position])
    if row is not None and row.hip and row.note:
        what = f"{row.cuda} became {row.hip}, whose arguments are others."
        yield position, "library", what, "Compare them in MIOpen's documentation."


# -------------------------------------------------------------------------------------------- launches


_RUNTIME = re.compile(
    r"cuda(DeviceSynchronize|Malloc\w*|Free\w*|Memcpy\w*|Memset\w*|Stream\w+|Event\w+|GetLastError|LaunchDevice)"
)


def _launches(program: CppSource, launch_at: object) -> Iterator[Finding]:
    assert callable(launch_at)
    for position, text in enumerate(program.texts):
        if text == "<<<" and program.kinds[position] == SIGN and program.text(position - 1) != "operator":
            if program.device[position]:
                yield (
                    position,
                    "dynamic-parallelism",
                    "a kernel launches a kernel.",
                    "HIP has no dynamic parallelism: launch from the host, or keep a queue of work in global memory.",
                )
            elif launch_at(program, position) is None:
                what = "this launch could not be read."
                yield (
                    position,
                    "launch",
                    what,
                    "Look at its brackets: kernel<<<grid, block, shared, stream>>>(arguments).",
                )
        elif (
            text.startswith("cuda")
            and program.device[position]
            and program.text(position + 1) == "("
            and program.text(position - 1) not in (".", "->")
            and _RUNTIME.fullmatch(text)
            and not _for_host(program, position)
        ):
            yield (
                position,
                "dynamic-parallelism",
                f"{text} is called in device code.",
                "HIP's runtime is the host's. Kernels have malloc, free and memcpy, and wait for no other kernel.",
            )


def _for_host(program: CppSource, position: int) -> bool:
    """Whether the nearest #if before this says that it is for the host: #ifndef __CUDA_ARCH__."""
    for at in range(position, max(position - 400, NONE), -1):
        if program.directive[at] == at:
            word = program.text(at + 1)
            if word in ("ifndef", "if"):
                line = [program.text(i) for i in range(at, min(at + 8, len(program))) if program.directive[i] == at]
                return "__CUDA_ARCH__" in line and (word == "ifndef" or "!" in line)
            if word == "endif":
                return False
    return False


# ------------------------------------------------------------------------------------ warp-synchronous


def _unsynchronised(program: CppSource) -> Iterator[Finding]:
    """s[t] += s[t + 16]; s[t] += s[t + 8]; without a barrier between: right only if 32 lanes run in step."""
    done = -1
    for position, text in enumerate(program.texts):
        if position <= done or text != "[" or not program.device[position] or program.kind(position - 1) != NAME:
            continue
        first = _folds(program, position - 1)
        if first is None:
            continue
        following = _next_statement(program, first)
        second = _folds(program, following) if following is not None else None
        if second is None:
            continue
        while second is not None:  # one finding for the whole run of steps
            done = second
            following = _next_statement(program, second)
            second = _folds(program, following) if following is not None else None
        yield (
            position - 1,
            "warp-synchronous",
            f"the steps on {program.texts[position - 1]} have no barrier between them.",
            "Nothing orders one lane's store before another's load: put __syncthreads() between, or use __shfl_down.",
        )


def _folds(program: CppSource, position: int) -> int | None:
    """Of ``a[i] op= ... a[...] ...;`` at this position: where its ";" stands."""
    if program.kind(position) != NAME or program.text(position + 1) != "[":
        return None
    closing = program.partner[position + 1]
    if closing == NONE or program.text(closing + 1) not in ("+=", "-=", "*=", "=", "|=", "&=", "^="):
        return None
    array = program.texts[position]
    index = program.texts[position + 2 : closing]
    at = closing + 2
    other = False
    while at < len(program) and program.texts[at] not in (";", "{", "}"):
        if program.texts[at] == array and program.text(at + 1) == "[" and program.partner[at + 1] != NONE:
            inside = program.texts[at + 2 : program.partner[at + 1]]
            other = other or (inside != index and "+" in inside)
        at += 1
    return at if other and program.text(at) == ";" else None


def _next_statement(program: CppSource, semicolon: int) -> int | None:
    """The next statement, behind closing braces and conditions such as ``if (n >= 32)``."""
    at = semicolon + 1
    while at < len(program):
        text = program.texts[at]
        if text in ("{", "}"):
            at += 1
        elif text == "if" and program.text(at + 1) == "(" and program.partner[at + 1] != NONE:
            at = program.partner[at + 1] + 1
        else:
            return at
    return None


# ------------------------------------------------------------------------------------------ properties

# The fields of hipDeviceProp_t (HIP 7.15, hip_runtime_api.h) and of hipPointerAttribute_t.
_FIELDS = {
    "cudaDeviceProp": words(
        "name uuid luid luidDeviceNodeMask totalGlobalMem sharedMemPerBlock regsPerBlock warpSize memPitch "
        "maxThreadsPerBlock maxThreadsDim maxGridSize clockRate totalConstMem major minor textureAlignment "
        "texturePitchAlignment deviceOverlap multiProcessorCount kernelExecTimeoutEnabled integrated canMapHostMemory "
        "computeMode maxTexture1D maxTexture1DMipmap maxTexture1DLinear maxTexture2D maxTexture2DMipmap "
        "maxTexture2DLinear maxTexture2DGather maxTexture3D maxTexture3DAlt maxTextureCubemap maxTexture1DLayered "
        "maxTexture2DLayered maxTextureCubemapLayered maxSurface1D maxSurface2D maxSurface3D maxSurface1DLayered "
        "maxSurface2DLayered maxSurfaceCubemap maxSurfaceCubemapLayered surfaceAlignment concurrentKernels ECCEnabled "
        "pciBusID pciDeviceID pciDomainID tccDriver asyncEngineCount unifiedAddressing memoryClockRate memoryBusWidth "
        "l2CacheSize persistingL2CacheMaxSize maxThreadsPerMultiProcessor streamPrioritiesSupported "
        "globalL1CacheSupported localL1CacheSupported sharedMemPerMultiprocessor regsPerMultiprocessor managedMemory "
        "isMultiGpuBoard multiGpuBoardGroupID hostNativeAtomicSupported singleToDoublePrecisionPerfRatio "
        "pageableMemoryAccess concurrentManagedAccess computePreemptionSupported canUseHostPointerForRegisteredMem "
        "cooperativeLaunch cooperativeMultiDeviceLaunch sharedMemPerBlockOptin pageableMemoryAccessUsesHostPageTables "
        "directManagedMemAccessFromHost maxBlocksPerMultiProcessor accessPolicyMaxWindowSize "
        "reservedSharedMemPerBlock hostRegisterSupported sparseHipArraySupported hostRegisterReadOnlySupported "
        "timelineSemaphoreInteropSupported memoryPoolsSupported gpuDirectRDMASupported "
        "gpuDirectRDMAFlushWritesOptions gpuDirectRDMAWritesOrdering memoryPoolSupportedHandleTypes "
        "deferredMappingHipArraySupported ipcEventSupported clusterLaunch unifiedFunctionPointers gcnArchName "
        "maxSharedMemoryPerMultiProcessor clockInstructionRate arch isLargeBar asicRevision"
    ),
    "cudaPointerAttributes": words("type device devicePointer hostPointer isManaged allocationFlags"),
}
_RENAMED = {
    "sparseCudaArraySupported": "sparseHipArraySupported",
    "deferredMappingCudaArraySupported": "deferredMappingHipArraySupported",
    "memoryType": "type",
}
_ARCHITECTURE = "Ask for what you need: another property, or gcnArchName, for example gfx942:sramecc+:xnack-."


def _properties(program: CppSource) -> Iterator[Finding]:
    """Members of variables that are declared as cudaDeviceProp or cudaPointerAttributes."""
    variables: dict[str, str] = {}
    for position, text in enumerate(program.texts):
        if text in _FIELDS and program.kinds[position] == NAME:
            at = position + 1
            while program.text(at) in ("*", "&", "const"):
                at += 1
            if program.kind(at) == NAME:
                variables[program.texts[at]] = text
    if not variables:
        return
    for position, text in enumerate(program.texts):
        if text not in variables or program.kinds[position] != NAME:
            continue
        at = position + 1
        if program.text(at) == "[" and program.partner[at] != NONE:
            at = program.partner[at] + 1
        if program.text(at) not in (".", "->") or program.kind(at + 1) != NAME:
            continue
        member, owner = program.texts[at + 1], variables[text]
        if owner == "cudaDeviceProp" and member in ("major", "minor"):
            what = f"{member} numbers AMD's architectures, not CUDA's compute capabilities."
            yield at + 1, "device-property", what, _ARCHITECTURE
        elif member not in _FIELDS[owner]:
            hip = "hipDeviceProp_t" if owner == "cudaDeviceProp" else "hipPointerAttribute_t"
            advice = f"Write {_RENAMED[member]}." if member in _RENAMED else "hipDeviceGetAttribute may tell it."
            yield at + 1, "device-property", f"{hip} has no {member}.", advice
