"""Advice for the usual mistakes of people new to GPUs, chosen by the compiler's message and the source line.

`find(message, line, source, flag)` returns short sentences (what, why, what to try), or "" where the message
speaks for itself. `RULES` is the whole knowledge, in order of precedence: the first rule whose patterns all match
gives its text.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """Patterns for the message, the source line and the warning's flag, and the advice. `{0}`, `{1}`... in the text
    are the groups of the message's match. NAME in the patterns of the line
    and of the source is the message's first group."""

    name: str
    message: str
    text: str
    line: str = ""
    source: str = ""
    flag: str = ""
    unless: Callable[[re.Match[str]], bool] | None = None


_UNDECLARED = r"use of undeclared identifier '?({names})'?"
_HOST_STD = (
    r"vector|string|cout|cerr|endl|map|set|unordered_map|list|deque|ostream|thread|mutex|function|sort|unique_ptr|"
    r"shared_ptr"
)
_LAUNCH = (
    "A cell holds device code only; the launch is written in Python.\n"
    "Remove the <<<...>>> line, and in the next cell write: kernel[grid, block](arguments)"
)
_WORDS = (
    "new|delete|class|struct|union|enum|this|default|case|switch|register|template|typename|operator|private|public|"
    "protected|friend|explicit|export|import|using|namespace|virtual|inline|static|const|volatile|signed|unsigned|"
    "short|long|try|catch|throw|goto|asm|and|or|not|xor"
)
_MARKS = ("global", "device", "shared", "constant", "host")
_PYTHON = "The text of a %%hip cell is C++, not Python. "

_PRIMITIVES = Rule(
    "primitives' header",
    r"'((?:hipcub|rocprim)/[\w./]*)' file not found",
    "gpulab's own hipCUB and rocPRIM have no <{0}>: docs/primitives.md lists what they have, and what not.\n"
    "<hipcub/hipcub.hpp> and <rocprim/rocprim.hpp> bring all of it.",
)
_CACHE_HINTS = Rule(
    "hints for caches",
    r"(?:use of undeclared identifier|no matching function for call to) "
    r"'(__(?:ld(?:cs|cg|ca|lu|cv)|st(?:cs|cg|wb|wt)))'",
    "{0} is a hint for NVIDIA's caches, which HIP has for half and bfloat16 at most. Read and write plainly: x = *p "
    "and *p = x. For data that is used once: __builtin_nontemporal_load(p), __builtin_nontemporal_store(number, p).",
)
_OWN_ATOMIC = Rule(
    "own atomic",
    r"redefinition of '(atomic(?:Add|Min|Max))'",
    "HIP has {0} for this type itself: remove the program's own, or put #ifndef __HIP_PLATFORM_AMD__ before it. "
    "A condition on __CUDA_ARCH__ does not hide it, for HIP's compiler never defines that.",
)
_COMMAS = Rule(
    "commas in for",
    r"in 'for' statement specifier|redefinition of|expected expression|expected '\)'",
    "The three parts of a for are separated by semicolons: for (int i = 0; i < n; i++)",
    line=r"\bfor\s*\(([^;()]|\([^()]*\))*(;([^;()]|\([^()]*\))*)?\)",
)
# The variable of a for, used where its loop has ended. The text between the parentheses may have parentheses itself.
_PART = r"(?:[^;(){}]|\([^;(){}]*\))*"
_OF_LOOPS = (
    Rule(
        "variable of a loop that a semicolon ends",
        r"use of undeclared identifier '(\w+)'(?![^\n])",
        "{0} is known in its own loop only, and the semicolon behind for (...) ends that loop. Remove the semicolon.",
        source=rf"\bfor\s*\(\s*[\w ]+\bNAME\s*=[^;]*;{_PART};{_PART}\)\s*;",
    ),
    Rule(
        "variable of a loop",
        r"use of undeclared identifier '(\w+)'(?![^\n])",
        "{0} is declared in the head of a for, and is known in that loop only: without braces that is one statement. "
        "Put braces around what belongs to the loop, or declare {0} before it.",
        source=r"\bfor\s*\(\s*[\w ]+\bNAME\s*=",
    ),
)

RULES: tuple[Rule, ...] = (
    _COMMAS,
    Rule(
        "reference parameter",
        r"^the kernel .* takes .* by reference \(",
        "A kernel's arguments are copied to the device, so a reference would lead back to the host's memory.\n"
        "Take a pointer to device memory if the kernel changes it, or a plain value if it only reads it.",
    ),
    # -- Python in a C++ cell
    Rule(
        "python magic",
        r"expected unqualified-id",
        _PYTHON + "%%hip must be the very first line of its cell.",
        line=r"^\s*%",
    ),
    Rule(
        "python comment",
        r"invalid preprocessing directive",
        "In C++ a line that begins with # is for the preprocessor (#include, #define). Comments begin with //.",
        line=r"^\s*#\s*(?!(include|define|undef|if|ifdef|ifndef|else|elif|endif|pragma|line|error|warning)\b)",
    ),
    Rule(
        "python def",
        r"unknown type name '(def|class|lambda)'",
        _PYTHON + "A kernel is declared like this: __global__ void name(float* x, int n) {{ ... }}",
    ),
    Rule(
        "python import",
        r"unknown type name '(import|from)'",
        _PYTHON + "Put Python lines into a cell of their own, without %%hip. C++ has #include instead of import.",
    ),
    Rule(
        "python for",
        r"expected '\(' after 'for'",
        "C++ writes: for (int i = 0; i < n; i++) {{ ... }}",
        line=r"\bfor\s+\w+\s+in\b",
    ),
    Rule(
        "python if",
        r"expected '\(' after '(if|while)'",
        "C++ puts the condition in parentheses and the body in braces: {0} (i < n) {{ ... }}",
    ),
    Rule(
        "python elif",
        _UNDECLARED.format(names="elif"),
        "C++ writes: else if (...) {{ ... }}",
    ),
    Rule(
        "then",
        r"unknown type name 'then'",
        "C++ has no `then`: if (i < n) {{ ... }}",
    ),
    Rule(
        "python words",
        _UNDECLARED.format(names="True|False|None|and|or|not|pass|self|len|range|print|abs_|np|numpy"),
        _PYTHON + "C++ writes true, false and nullptr; &&, || and !; and knows neither len, range, print nor numpy.",
    ),
    Rule(
        "python power",
        r"indirection requires pointer operand",
        "C++ has no power operator: write x * x, or powf(x, 2.0f).",
        line=r"\*\*",
    ),
    # -- launches and host code in a cell
    Rule("launch in main", r"__hipPushCallConfiguration|cudaConfigureCall", _LAUNCH),
    Rule(
        "launch in a kernel",
        r"device-side kernel call/launch",
        "HIP has no dynamic parallelism: a kernel cannot start another one.\n"
        "Launch the second kernel from the host, over a list that the first one writes; or make it a __device__ "
        "function that the block calls.",
    ),
    Rule("launch at top", r".", _LAUNCH, line=r"<<<"),
    Rule("launch macro", _UNDECLARED.format(names="hipLaunchKernelGGL|hipLaunchKernel"), _LAUNCH),
    Rule(
        "kernel from kernel",
        r"call to global function '(.*)' not configured",
        "A kernel (__global__) cannot be called like a function from device code: it is started from the host.\n"
        "If both kernels need this code, move it into a __device__ function and call that.",
    ),
    Rule(
        "cuda header of a type",
        r"'(?:[\w./]*/)?cuda_(fp16|bf16|fp8)\.h(?:pp)?' file not found",
        "That is a header of CUDA. HIP's has another name: #include <hip/hip_{0}.h>",
    ),
    Rule(
        "cuda header of groups",
        r"'cooperative_groups[\w./]*' file not found",
        "That is a header of CUDA. HIP's has another name: #include <hip/hip_cooperative_groups.h>",
    ),
    Rule(
        "cuda header",
        r"'(?:[\w./]*cuda[\w./]*|device_launch_parameters\.h|curand.*|helper_\w+\.h)' "
        r"file not found",
        "That is a header of CUDA. HIP's is <hip/hip_runtime.h>, and it is included already: remove the line.",
    ),
    Rule(
        "wavefront size",
        _UNDECLARED.format(names=r"__AMDGCN_WAVEFRONT_SIZE(?:__)?"),
        "ROCm 7 and Clang 22 no longer define it. In a kernel use warpSize. Where a constant is needed (sizes of "
        "arrays, #if, template arguments), take the largest wave, 64, or a template parameter that the host chooses.",
    ),
    Rule(
        "cuda call",
        _UNDECLARED.format(names=r"cuda\w+|cu[A-Z]\w+|CUDA\w*"),
        "That is CUDA's name; HIP's functions begin with hip instead of cuda, with the same meaning.\n"
        "A cell holds device code only, so allocate and copy in Python: gpulab.to_device(array), x.to_host().",
    ),
    Rule(
        "hip host call",
        _UNDECLARED.format(names=r"hip[A-Z]\w+"),
        "That function runs on the host. A cell holds device code only.\n"
        "Allocate, copy and launch in Python: gpulab.to_device(array), kernel[grid, block](...), x.to_host().",
    ),
    _PRIMITIVES,
    _CACHE_HINTS,
    _OWN_ATOMIC,
    Rule(
        "primitives of the whole device",
        r"algorithms of the whole device are called by the host|"
        r"no member named '(?:Device\w+|(?:inclusive|exclusive)_scan|reduce|radix_sort_\w+|merge_sort|select|partition|"
        r"transform)' in namespace '(?:hipcub|rocprim)'",
        "Algorithms of the whole device are called by the host, and a cell holds device code only.\n"
        "%%hipcc builds whole programs, which have them; a cell has the parts for blocks, warps and threads "
        "(hipcub::BlockScan, rocprim::block_reduce ...).",
    ),
    Rule(
        "BLAS",
        r"BLAS is called by the host",
        "hipBLAS and rocBLAS are called by the host, and a cell holds device code only.\n"
        "%%hipcc builds whole programs, which have them.",
    ),
    Rule(
        "host header",
        r"'((?:iostream|vector|string|map|thread|fstream|sstream|chrono|random|memory|unistd\.h|thrust/.*|"
        r"cub/.*|rocblas.*|hipblas.*|iomanip|numeric|functional|stdexcept|set|list|omp\.h))' file not found",
        "<{0}> is for code on the host. A cell holds device code only, and has no such header.\n"
        "For output use printf; for arrays use pointers that Python passes to the kernel. "
        "Remove the #include and what needs it.",
    ),
    Rule(
        "absolute include",
        r"'(.*)' file not found",
        "Kernels are compiled without access to the files of this machine.\n"
        "Give a header's text to gpulab.compile(source, headers={{'{0}': text}}), or paste it into the cell.",
    ),
    # -- headers on demand
    Rule(
        "letters beyond ASCII",
        r"has letters that the assembler does not take",
        "Write the kernel's name with the letters a to z, A to Z, digits and _ alone. Comments may have any letters.",
    ),
    Rule(
        "half",
        r"unknown type name '(?:__half2?|half2?)'|"
        + _UNDECLARED.format(names=r"__half2?|half2?|__\w*2half\w*|__half\w*2\w+"),
        "Half-precision numbers have a header of their own: #include <hip/hip_fp16.h>",
    ),
    Rule(
        "bfloat16",
        r"unknown type name '(?:__hip_bfloat162?)'|"
        + _UNDECLARED.format(names=r"__hip_bfloat162?|__\w*2bfloat16\w*|__bfloat16\w*2\w+"),
        "bfloat16 numbers have a header of their own: #include <hip/hip_bf16.h>",
    ),
    Rule(
        "8-bit floats",
        r"unknown type name '(?:__hip_fp8\w*)'|" + _UNDECLARED.format(names=r"__hip_fp8\w*|__hip_cvt_\w*fp8\w*"),
        "8-bit floating-point numbers have a header of their own: #include <hip/hip_fp8.h>",
    ),
    Rule(
        "cooperative groups",
        _UNDECLARED.format(names=r"cooperative_groups|cg") + r"|expected namespace name",
        "Cooperative groups have a header of their own: #include <hip/hip_cooperative_groups.h>, "
        "and below it: namespace cg = cooperative_groups;",
        line=r"cooperative_groups|\bcg\b",
    ),
    Rule(
        "mixed half",
        r"use of overloaded operator '.{1,2}' is ambiguous \(with operand types .*(?:half|bfloat16)",
        "A half or bfloat16 and another type do not mix: C++ cannot choose the type to compute in.\n"
        "Convert one of them: x * __half(2), or float(x) * 2.0f to compute in float.",
    ),
    Rule(
        "host library",
        _UNDECLARED.format(names="std"),
        "The C++ standard library's containers and streams belong to the host; device code has none of them.\n"
        "Use plain arrays and pointers, printf for output, and functions such as fmaxf, sqrtf, min and max.",
    ),
    Rule(
        "host library member",
        rf"no (?:member|template|type) named '({_HOST_STD})' in namespace 'std'",
        "std::{0} belongs to the host; device code has no such thing.\n"
        "Use plain arrays and pointers, and printf for output.",
    ),
    Rule(
        "heap",
        _UNDECLARED.format(names="calloc|realloc|alloca|aligned_alloc|posix_memalign"),
        "Kernels have malloc and free, new and delete, and no other functions of the heap. Mostly it is better to\n"
        "allocate in Python (gpulab.empty) and pass the pointer, to use a small fixed array (float t[8];) for values\n"
        "of one thread, or __shared__ memory for values of a block.",
    ),
    Rule(
        "sleep",
        _UNDECLARED.format(names="sleep|usleep|time|rand|srand|exit|getchar|scanf|fprintf|sprintf|puts|fopen|memcpy_s"),
        "That function of the C library does not exist on a GPU.\n"
        "For output use printf; pass random numbers and times from Python.",
    ),
    # -- which functions run where
    Rule(
        "other 8-bit format",
        r"reference to __host__ function 'other_8_bit_format'",
        "The GPU compiled for has the other 8-bit format: gfx942 the types with _fnuz in their names "
        "(__hip_fp8_e4m3_fnuz), gfx950 and gfx12 those without (__hip_fp8_e4m3).",
    ),
    Rule(
        "host function",
        r"(?:reference to __host__ function '(\w+)'|no matching function for call to '(\w+)'[\s\S]*call to __host__)",
        "A function without a mark runs on the host only. Mark it: __device__ (called from kernels), "
        "or __host__ __device__ (both).",
    ),
    Rule(
        "host variable",
        r"reference to __host__ variable '(\w+)'",
        "A global variable without a mark lives on the host, where a kernel cannot read it.\n"
        "Write __device__ (or __constant__ for read-only tables) before it, or pass it as a kernel argument.",
    ),
    Rule(
        "extern shared",
        r"__shared__ variable '(\w+)' cannot be 'extern'",
        "Dynamic shared memory is declared as an array without a size: extern __shared__ float {0}[];\n"
        "Its size in bytes is given at the launch: kernel[grid, block, bytes](...).",
    ),
    Rule(
        "shared without size",
        r"definition of variable with array type needs an explicit size",
        "Give the size, __shared__ float t[256];, or make it dynamic: extern __shared__ float t[]; "
        "with kernel[grid, block, bytes](...).",
        line=r"__shared__",
    ),
    Rule(
        "shared initialised",
        r"initialization is not supported for __shared__",
        "Shared memory belongs to all threads of a block, so no one thread's initial value would be right.\n"
        "Declare it without a value; let threads write it (if (threadIdx.x == 0) t = 0;), then __syncthreads();",
    ),
    Rule(
        "extern shared twice",
        r"redeclaration of '(\w+)' with a different type",
        "All dynamic shared arrays of a source are one piece of memory, so one name has one type.\n"
        "Use another name in each kernel, or one extern __shared__ char {0}[]; and cast it.",
        line=r"__shared__",
    ),
    Rule(
        "min of warp size",
        r"(?:no matching function for call to|call to) '(min|max)'",
        "{0} takes two numbers of one type, and warpSize is an object that becomes a number where one is needed.\n"
        "Say which: {0}(n, (int)warpSize), and (int)blockDim.x, as blockDim and threadIdx are unsigned.",
        line=r"\bwarpSize\b",
    ),
    Rule(
        "warp size in array",
        r".",
        "warpSize is not a compile-time constant (since ROCm 7): it is 64 on CDNA and 32 on RDNA GPUs.\n"
        "Write the size that is needed at most, t[64] for a place per lane, t[block / 32] for a place per wave; or use "
        "a template parameter or extern __shared__ memory.",
        line=r"\bwarpSize\b",
        source="",
        flag="",
        unless=lambda m: (
            not re.search(
                r"constant expression|constexpr|storage duration|explicitly-specified|non-type template|"
                r"no matching function|not a constant|variable length",
                m.string,
            )
        ),
    ),
    Rule(
        "shared variable length",
        r"variable length array declaration cannot have 'static' storage duration",
        "The size of a shared array is fixed when the kernel is compiled, and this one is known at the launch only.\n"
        "Use a constant (constexpr int N = 256;), or extern __shared__ float t[]; "
        "with kernel[grid, block, bytes](...).",
    ),
    Rule(
        "array size",
        r"(array size is not a constant expression|must be initialized by a constant expression)",
        "This value is not known when the kernel is compiled. Use a number, a constexpr variable, a template argument, "
        "or -D.",
    ),
    Rule(
        "variable length",
        r"variable length arrays? ",
        flag="vla",
        text="The size is known only when the kernel runs, so the array goes to slow scratch memory.\n"
        "Use a constant size, or memory that is passed to the kernel.",
    ),
    # -- the language of kernels
    Rule(
        "void returns",
        r"void function '\w+' should not return a value",
        "A kernel is void and stores results through a pointer argument. A __device__ function has its result's type "
        "in place of void.",
    ),
    Rule(
        "comment behind a statement",
        r"expected (?:expression|unqualified-id|statement)",
        "Comments begin with // in C++, not with #.",
        line=r"(?:^|[;{}]|\s)#(?!\s*(?:include|define|undef|if|ifdef|ifndef|elif|else|endif|pragma|error|line)\b)",
    ),
    Rule(
        "kernel returns",
        r"must have void return type",
        "A kernel returns nothing: declare it __global__ void, and store results through a pointer argument.",
    ),
    Rule(
        "misspelt keyword",
        r"unknown type name '_{0,2}(global|device|shared|constant|host|GLOBAL|DEVICE|SHARED)_{0,2}'",
        "The keyword has two underscores before and behind: __{0}__",
    ),
    Rule(
        "misspelt mark",
        r"unknown type name '(\w+)'",
        "C++ has no such word. Is it a misspelt mark of HIP? They are __global__ (a kernel), __device__, __host__, "
        "__shared__ and __constant__.",
        unless=lambda m: not difflib.get_close_matches(m[1].strip("_").lower(), _MARKS, 1, 0.75),
    ),
    Rule(
        "parameter without a type",
        r"unknown type name '([a-z]\w*)'(?!;)",
        "Each parameter has a type of its own, also where the one before has the same: (int n, int {0}).",
        line=r"\(.*,\s*NAME\s*[,)]|\(\s*NAME\s*[,)].*\{",
    ),
    Rule(
        "half",
        r"unknown type name '(__half2?|half2?|hip_bfloat16|__hip_bfloat16|__nv_bfloat16)'",
        "That type needs its own header. Clang's own 16-bit float is always there: _Float16.",
    ),
    Rule(
        "launch name spelling",
        _UNDECLARED.format(names=r"(?i:_?_?(?:threadid\w?x?|blockid\w?x?|blockdim\w*|griddim\w*|warpsize))"),
        "The built-in variables are spelt threadIdx, blockIdx, blockDim, gridDim and warpSize (capitals count);\n"
        "their parts are .x, .y and .z.",
    ),
    Rule(
        "launch member",
        r"no member named '(\w+)' in '(?:const )?__hip_builtin_\w+'",
        "threadIdx, blockIdx, blockDim and gridDim have the parts .x, .y and .z only.",
    ),
    Rule(
        "launch whole as index",
        r"no viable overloaded operator\[\] for type",
        "This variable has three parts; take one of them, for example threadIdx.x.",
        line=r"\[\s*(?:threadIdx|blockIdx|blockDim|gridDim)\s*\]",
    ),
    Rule(
        "launch whole",
        r"(?:no viable conversion from|invalid operands to binary expression|no viable).*__hip_builtin_\w+",
        "This variable has three parts; take one of them, for example threadIdx.x.",
    ),
    Rule(
        "launch assigned",
        r"no setter defined for property|cannot assign to .*__hip_builtin",
        "threadIdx, blockIdx, blockDim and gridDim say where a thread stands; the launch sets them, "
        "and a kernel cannot write them.",
    ),
    Rule(
        "barrier spelling",
        _UNDECLARED.format(names=r"_*(?i:sync_?_?threads?)"),
        "The barrier of a block is __syncthreads(); with two underscores, all lower case.",
    ),
    Rule(
        "barrier uncalled",
        r"expression result unused",
        "A function is called only with parentheses: __syncthreads();",
        line=r"__sync\w+\s*;",
    ),
    Rule(
        "comma dim3",
        r"left operand of comma operator has no effect",
        flag="unused-value",
        line=r"dim3[^;]*=\s*\(",
        text="dim3 g = (1, 2, 3) takes the last number alone. Write dim3 g(1, 2, 3);",
    ),
    Rule(
        "comma index",
        r"left operand of comma operator has no effect",
        "a[i, j] is a[j] in C++. For a two-dimensional array kept in rows write a[i * width + j].",
        line=r"\[[^\]]*,",
    ),
    Rule(
        "two indices",
        r"subscripted value is not an array, pointer, or vector",
        "This value has no elements. A pointer has one index; for a two-dimensional array kept in rows write "
        "a[row * width + column].",
    ),
    Rule(
        "lane mask",
        r"lane mask|sizeof\((?:unsigned )?int\) == 8|mask.*64",
        "HIP's masks have 64 bits, because a wavefront may have 64 lanes; 0xffffffff comes from code for 32 lanes.\n"
        "Write 0xffffffffffffffffULL for all lanes, or __activemask().",
        source=r"_sync|__ballot|__any|__all",
    ),
    Rule(
        "ptx",
        r"(invalid instruction|not a valid operand|unknown token|unexpected token|instruction not supported)",
        "That is PTX, the assembly of NVIDIA's GPUs. AMD's GPUs have another one; use HIP's functions instead "
        "(__lane_id(), __shfl...), or AMDGPU instructions.",
        line=r"asm.*(\b(mov|add|mul|ld|st|cvt|setp|bar|shfl|prmt|lop3|mad|fma)\.|%%?(laneid|tid|ctaid|smid))",
    ),
    Rule(
        "assembly",
        r"(invalid instruction|not a valid operand|invalid operand for|instruction not supported|operands are not)",
        "This architecture has no such instruction, or not in this form. Names differ between families: "
        "global_load_dword (gfx9) is global_load_b32 on gfx11.",
    ),
    Rule(
        "local memory",
        r"local memory \((\d+)\) exceeds limit \((\d+)\)",
        "The __shared__ arrays of this kernel take {0} bytes, and a block may have {1}.\n"
        "Make the tile smaller, use a smaller type, or process the data in several steps.",
    ),
    Rule(
        "registers",
        r"(?:ran out of registers|registers? .*exceeds limit|scalar registers .* exceeds|stack frame size .*exceeds)",
        "One thread needs more registers or stack than there are. Use smaller arrays per thread, less unrolling, "
        "or split the kernel.",
    ),
    # -- types
    Rule(
        "const write",
        r"(read-only variable is not assignable|cannot assign to variable .* with const-qualified type)",
        "A const pointer is for reading only. If the kernel is to write through it, remove const from the parameter.",
    ),
    Rule(
        "const lost",
        r"(would lose const qualifier|(?:initialize|assigning to).*'(?!const)[\w ]+ ?\*' .*'const [\w ]+ ?\*')",
        "The data is const here and the other side would write to it. Add const there, or remove it here.",
    ),
    Rule(
        "atomic by value",
        r"no matching function for call to '(atomic(?!AddNoRet)\w+)'",
        "An atomic function takes the address of what it changes, and a value of the same type: {0}(&x[i], value).\n"
        "It exists for int, unsigned, unsigned long long, float and double.",
    ),
    Rule(
        "pointer of malloc",
        r"(?:initialize a variable of type|assigning to) '([\w ]+\*)' .*'void \*'",
        "C++ does not convert a void* by itself, as C does. Write the type before the call: ({0})malloc(bytes).",
        line=r"\b(?:malloc|calloc|realloc|aligned_alloc)\s*\(",
    ),
    Rule(
        "pointer to void",
        r"(?:initialize a variable of type|assigning to) '([\w ]+\*)' .*'void \*'",
        "C++ does not convert a void* by itself, as C does. Write the type before it: ({0})p.",
    ),
    Rule(
        "pointer types",
        r"(?:no known conversion from|initialize a variable of type|assigning to) '([\w ]+\*)'.*?'([\w ]+\*)'",
        "The two pointers are to different types, and reading one as the other would misread its bytes.\n"
        "Give both the same type, or copy the values into an array of the right type.",
    ),
    Rule(
        "pointer and value",
        r"(?:assigning to|initialize a variable of type) '[\w ]+\*'.*'(?:float|int|double|unsigned int)'|"
        r"(?:assigning to|initialize a variable of type) '(?:float|int|double|unsigned int)'.*'[\w ]+\*'",
        "One side is a pointer and the other a number. An element is x[i] or *x.",
    ),
    Rule(
        "arguments",
        r"requires (\d+) arguments?, but (\d+)",
        "The function takes {0} arguments and gets {1} here.",
    ),
    Rule(
        "float index",
        r"array subscript is not an integer",
        "An index is a whole number: declare it int.",
    ),
    Rule(
        "float remainder",
        r"invalid operands to binary expression \('(?:float|double)' and",
        "% is for whole numbers; for floats use fmodf(a, b).",
        line=r"%",
    ),
    Rule(
        "xor power",
        r"invalid operands to binary expression \('(?:float|double)' and",
        "^ is exclusive-or of bits. For powers write x * x, or powf(x, 2.0f).",
        line=r"\^",
    ),
    Rule(
        "pointers added",
        r"invalid operands to binary expression \('[\w ]+\*' and '[\w ]+\*'\)",
        "Pointers cannot be added. Each thread works on elements: z[i] = x[i] + y[i].",
    ),
    Rule(
        "exceptions",
        r"cannot use '(try|throw)'",
        "GPUs have no exceptions. Report problems through an output array, or stop with assert(condition).",
    ),
    # -- punctuation
    Rule(
        "no return type",
        r"a type specifier is required",
        "The type is missing: a kernel begins with __global__ void.",
        line=r"__global__",
    ),
    Rule(
        "word of C++ as a name",
        r"expected unqualified-id|expected member name|expected a type|declaration of anonymous|"
        r"cannot combine with previous|parameter name omitted|expected identifier",
        "A word of C++ itself (new, delete, class, this, default, register, template ...) cannot be the name of a "
        "variable. Choose another name.",
        line=rf"[\w>*&]\s+[*&]?\s*(?:{_WORDS})\s*[=;,)\[]|[=(,]\s*(?:{_WORDS})\s*[;,)]",
    ),
    Rule(
        "semicolon",
        r"expected ';'",
        "Statements end with a semicolon. The caret stands behind the one that has none.",
        unless=lambda m: "top level" in m.string,
    ),
    Rule("brace", r"expected '\}'", "A {{ has no }}. Count the braces from the line that the note names."),
    Rule(
        "extra brace",
        r"extraneous closing brace",
        "There is one }} more than {{ above. Often an earlier block was closed too soon.",
    ),
    Rule("parenthesis", r"expected '[)\]]'", "An opening parenthesis or bracket is not closed; the note shows which."),
    Rule(
        "redefinition",
        r"redefinition of '(\w+)'",
        "This name is defined twice. Each cell is a source of its own, so rename or remove one of the two.",
    ),
    Rule(
        "undefined function",
        r"undefined (?:\w+ )?symbol: (.*)",
        "{0} is declared but nothing defines it: all device code must be in the same cell. Add the function's body.",
    ),
    Rule(
        "array called",
        r"called object type '[\w ]+ ?\*' is not a function",
        "Elements of an array are written with brackets: x[i]. Parentheses call a function.",
    ),
    Rule(
        "host code in a cell",
        r"no matching function for call to '\w+'[\s\S]*call to __device__ function from __host__ function|"
        r"reference to __device__ function '.*' in __host__ function",
        "A cell holds device code only, and a function without a mark is for the host. Mark it: __global__ (a kernel) "
        "or __device__. A whole program with main() goes into a %%hipcc cell.",
    ),
    Rule(
        "printf format",
        r"no matching function for call to 'printf'",
        'The first argument of printf is a text in double quotation marks, the values follow: printf("i = %d\\n", i);',
    ),
    Rule(
        "typographic quotes",
        r"unexpected character <U\+20(?:1[89A-F])>",
        "This is a quotation mark of a word processor. C++ knows \" and ' alone: type it again.",
    ),
    Rule(
        "static assertion",
        r"static assertion failed",
        "",
    ),
    Rule(
        "undeclared variable",
        r"use of undeclared identifier '(\w+)'(?![^\n])",
        "A variable needs a type where it first appears: int {0} = ...;",
        line=r"^\s*NAME\s*=(?!=)",
    ),
    *_OF_LOOPS,
    Rule(
        "undeclared function",
        r"use of undeclared identifier '(\w+)'(?![^\n])",
        "Nothing of this name is known here. Check the spelling; functions and variables of other cells and of Python "
        "are not visible:\ndefine it above as a __device__ function, or pass the value as an argument.",
    ),
    Rule(
        "recursion",
        r"recursive template instantiation exceeded",
        "The template instantiates itself without an end. Add a specialisation that stops it.",
    ),
    # -- warnings
    Rule(
        "double",
        r"implicit conversion increases floating-point precision: .* to .*double",
        flag="double-promotion",
        text="A number such as 2.0 is a double, so this is computed in double, which is slow on most GPUs. Write 2.0f.",
        line=r"\d\.\d*(?![\d]*f)",
    ),
    Rule(
        "double value",
        r"implicit conversion increases floating-point precision: .* to .*double",
        flag="double-promotion",
        text="This is computed in double, which is slow on most GPUs. If float is enough, keep all parts float.",
    ),
    Rule(
        "no return",
        r"non-void function does not return a value",
        "Add a return statement: the result is otherwise undefined.",
    ),
    Rule(
        "uninitialised",
        r"is uninitialized when used",
        "Give it a first value, for example float sum = 0.0f;",
    ),
    Rule(
        "empty body",
        r"(if statement|for loop|while loop) has empty body",
        "The semicolon ends the {0} here: what follows is done in any case. Remove the semicolon.",
    ),
    Rule(
        "few printf arguments",
        r"more '%' conversions than data arguments",
        "Each % in the text stands for one value after it, and there are too few.",
    ),
    Rule(
        "many printf arguments",
        r"data argument not used by format string",
        "Each value needs a % in the text, for example %d for an int.",
    ),
    Rule(
        "assignment",
        r"using the result of an assignment as a condition",
        "== compares, = assigns.",
    ),
    Rule(
        "comparison unused",
        r"(equality comparison result unused)",
        "= assigns, == compares.",
    ),
    Rule(
        "format",
        r"format specifies type '(.*)' but the argument has type '(.*)'",
        "Use %f or %g for float and double, %d for int, %u for unsigned, %ld for long, %p for pointers.",
    ),
    Rule("out of bounds", r"array index \d+ is past the end", "Indices of t[n] run from 0 to n - 1."),
)


#: Functions of C by their headers.
_HEADERS = (
    (
        "cstdio",
        r"f?printf|s?n?printf|puts|putchar|f?scanf|sscanf|f?getc|getchar|fopen|fclose|fgets|stdout|stderr|stdin",
    ),
    ("cstdlib", r"malloc|calloc|realloc|free|exit|atoi|atof|strtol|strtof|rand|srand|abs|qsort|EXIT_\w+|RAND_MAX"),
    ("cstring", r"mem(?:cpy|set|cmp|move)|str(?:len|n?cmp|n?cpy|cat|chr|str|tok)"),
    ("cmath", r"sqrtf?|powf?|f?abs|fabsf?|sinf?|cosf?|expf?|logf?|floorf?|ceilf?|M_PI"),
    ("cassert", r"assert"),
    ("cfloat", r"(?:FLT|DBL)_\w+"),
    ("climits", r"U?(?:INT|LONG|CHAR)_(?:MAX|MIN)"),
    ("ctime", r"clock|CLOCKS_PER_SEC"),
)

#: Advice for whole programs (%%hipcc), before the rules above.
PROGRAM_RULES: tuple[Rule, ...] = (
    _COMMAS,
    Rule(
        "no hip header",
        r"(?:unknown type name|use of undeclared identifier) '?(?:__\w+__|hip\w+|dim3|threadIdx|blockIdx|blockDim)'?",
        "The source does not include HIP's header. Write as its first line: #include <hip/hip_runtime.h>",
        source=r"\A(?![\s\S]*#\s*include\s*[<\"]\S*hip[/_])",
    ),
    Rule(
        "header without its folder",
        r"'((?:hip_runtime(?:_api)?|hip_fp16|hip_bf16|hip_complex|hip_cooperative_groups|hip_vector_types|hip_ext|hiprtc)"
        r"\.h)' file not found",
        "HIP's headers are in the folder hip: #include <hip/{0}>",
    ),
    Rule(
        "launch of HIP's first years",
        r"unknown type name '(hipLaunchParm)'",
        "{0} is of HIP's first years: a kernel has no such parameter any more. Remove it, and launch with "
        "kernel<<<blocks, threads, bytes, stream>>>(...) or hipLaunchKernelGGL(kernel, blocks, threads, bytes, stream, "
        "...), which that time's hipLaunchKernel became.",
    ),
    Rule(
        "launch of HIP's first years",
        r"no matching function for call to 'hipLaunchKernel'",
        "hipLaunchKernel(address, blocks, threads, pointers to arguments, bytes, stream) takes an array of pointers. "
        "With the arguments themselves: hipLaunchKernelGGL(kernel, blocks, threads, bytes, stream, arguments ...).",
    ),
    Rule(
        "graphics",
        r"'((?:hip/hip_gl_interop|(?:GL|GLFW|EGL|vulkan|SDL2?)/\w+|\w*glut|opencv2?/[\w./]+)\.h(?:pp)?)' "
        r"file not found",
        "gpulab has no <{0}>: programs here draw no windows, and share no memory with other graphics interfaces. "
        "Let the program compute its picture, and write it to a file (a PPM file needs no library).",
    ),
    Rule(
        "tensor cores",
        r"'mma\.h' file not found",
        "That header is for NVIDIA's tensor cores. AMD's matrix cores have functions of the compiler: "
        "__builtin_amdgcn_mfma_f32_16x16x16f16 and relatives on gfx942, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32 and "
        "relatives on gfx1100 (lesson 15).",
    ),
    Rule(
        "samples' header",
        r"'((?:[\w./]*/)?(?:helper_\w+|exception|book|cpu_bitmap|cpu_anim|gpu_anim)\.h(?:pp)?)' file not found",
        "<{0}> belongs to samples or to a book, not to CUDA or HIP. Put it beside the program, or write what you use "
        "of it yourself: checkCudaErrors(call), for one, ends the program if the call does not return hipSuccess.",
    ),
    Rule(
        "cuda header of groups",
        r"'cooperative_groups/(reduce|scan)\.h' file not found",
        "That is a header of CUDA. HIP's has another name: #include <hip/cooperative_groups/hip_{0}.h>",
    ),
    Rule(
        "cuda header of groups",
        r"'cooperative_groups\.h' file not found",
        "That is a header of CUDA. HIP's has another name: #include <hip/hip_cooperative_groups.h>",
    ),
    Rule(
        "cuda header",
        r"'(?:[\w./]*cuda[\w./]*|device_launch_parameters\.h|curand.*)' file not found",
        "That is a header of CUDA. HIP's is <hip/hip_runtime.h>; `gpulab hipify` translates a CUDA program.",
    ),
    Rule(
        "cuda call",
        _UNDECLARED.format(names=r"cuda\w+|cu[A-Z]\w+|CUDA\w*"),
        "That is CUDA's name; HIP's functions begin with hip instead of cuda, with the same meaning.\n"
        "`gpulab hipify` translates a CUDA program.",
    ),
    _PRIMITIVES,
    _CACHE_HINTS,
    _OWN_ATOMIC,
    Rule(
        "thrust name",
        r"no (?:member|template) named '(?!cuda')(\w+)' in namespace 'thrust'",
        "Each part of Thrust has its header, most often of its name: #include <thrust/{0}.h>. docs/primitives.md lists "
        "what Thrust has here.",
    ),
    Rule(
        "thrust header",
        r"'(thrust/[\w./]*)' file not found",
        "gpulab's Thrust has no <{0}>. docs/primitives.md lists the headers that it has.",
    ),
    Rule(
        "thrust cuda",
        r"no member named 'cuda' in namespace 'thrust'",
        "thrust::cuda is the CUDA system. In HIP it is thrust::hip: thrust::hip::par.on(stream). `gpulab hipify` "
        "translates a CUDA program.",
    ),
    Rule(
        "thrust in a kernel",
        r"reference to __host__ function '(?:host_settings|launched_from_the_host_only)\b",
        "Inside a kernel, an algorithm of Thrust runs in the thread that calls it: give it the policy thrust::seq.\n"
        "With thrust::device it would launch kernels, which only the host can do.",
        source=r"#\s*include\s*<thrust/",
    ),
    Rule(
        "library header",
        r"'((?:hipblaslt|rocfft|hipfft|rocsparse|hipsparse|rocsolver|hipsolver|"
        r"rccl|miopen|rocwmma|rocm_smi|amd_smi|roctracer/(?!roctx)|rocprofiler)[-\w./]*)' file not found",
        "<{0}> belongs to one of ROCm's libraries, which gpulab does not have: write the kernel yourself, or build the "
        "program with ROCm on a machine with an AMD GPU.",
    ),
    Rule(
        "BLAS's header",
        r"'((?:rocblas|hipblas)[-\w./]*)' file not found",
        "gpulab has no <{0}> here. For C++ sources it has <hipblas/hipblas.h> and <rocblas/rocblas.h> "
        "(docs/primitives.md).",
    ),
    Rule(
        "BLAS",
        r"(?:unknown type name|use of undeclared identifier) '((?:hipblas(?!Lt)|rocblas_|HIPBLAS_(?!LT))\w*)'",
        "{0}: of hipBLAS and rocBLAS (<hipblas/hipblas.h>, <rocblas/rocblas.h>) gpulab has vectors, full and "
        "triangular matrices and their products, not banded or packed matrices, factorisations, nor the calls with "
        "64-bit sizes; docs/primitives.md lists them.",
    ),
    Rule(
        "random numbers' header",
        r"'((?:rocrand|hiprand)[\w./]*)' file not found",
        "gpulab has no <{0}> here. For C++ sources it has <hiprand/hiprand.h> and <rocrand/rocrand.h> for the host, "
        "<hiprand/hiprand_kernel.h> and <rocrand/rocrand_kernel.h> for kernels (docs/primitives.md).",
    ),
    Rule(
        "random numbers",
        r"(?:unknown type name|use of undeclared identifier) '((?:hiprand|rocrand|HIPRAND_|ROCRAND_)\w*)'",
        "{0}: of rocRAND's generators gpulab has XORWOW, Philox4_32_10 and MRG32k3a, and of its distributions uniform, "
        "normal, log-normal and Poisson, for kernels (<hiprand/hiprand_kernel.h>) and by calls of the host "
        "(<hiprand/hiprand.h>); docs/primitives.md lists them.",
    ),
    Rule(
        "execution policy",
        r"no member named '(seq|par|par_unseq|unseq)' in namespace 'std::execution'|no member named 'execution' in",
        "Parallel algorithms of C++ are here where the source file itself has #include <execution>.",
    ),
    Rule(
        "openmp",
        r"unexpected '#pragma omp",
        "Without -fopenmp this line does nothing: the loop runs on one thread of the host. Add -fopenmp for several "
        "threads, or write a kernel.",
    ),
    Rule(
        "header not found",
        r"'(.*)' file not found",
        'Programs find the C and C++ headers, HIP\'s, and with #include "..." those beside their own source file.\n'
        "Name other folders with -I: gpulab hipcc program.hip -I folder",
    ),
    Rule(
        "mipmap",
        r"(?:unknown type name|use of undeclared identifier) '(hip\w*Mipmap\w*)'",
        "{0}: gpulab has no mipmapped arrays. Make an array and a texture object for each level, and choose in the "
        "kernel (hipMallocArray, hipCreateTextureObject); docs/programs.md lists what textures have.",
    ),
    Rule(
        "texture reference of the driver",
        r"use of undeclared identifier '(hipTexRef\w*|hipModuleGetTexRef)'",
        "{0}: gpulab has no texture references of the driver's calls. hipCreateTextureObject makes a texture object of "
        "the same array, which is an argument of the kernel; hipBindTextureToArray binds a texture<...> of the source.",
    ),
    Rule(
        "texture",
        r"(?:unknown type name|use of undeclared identifier) "
        r"'((?:hip\w*(?:Texture|Array|ChannelFormat|ChannelDesc|Resource|AddressMode|FilterMode|ReadMode)|tex\dD)\w*)'",
        "{0} is a part of HIP's textures that gpulab does not have; docs/programs.md lists what is left out.\n"
        "AMD's Instinct GPUs from MI200 on have no textures: keep the values in global memory, and write in plain code "
        "what the texture did with its coordinates (lesson 13).",
    ),
    Rule(
        "hip type",
        r"unknown type name '((?:hip|hiprtc)[A-Z]\w+)'",
        "gpulab's headers have no type {0}: check the spelling; docs/programs.md lists what they leave out.",
    ),
    Rule(
        "redefinition",
        r"redefinition of '(\w+)'",
        "This name is defined twice: rename or remove one of the two.",
    ),
    Rule(
        "hip host call",
        _UNDECLARED.format(names=r"(?:hip|hiprtc)[A-Z]\w+"),
        "HIP has no function of this name, or it is one of those that gpulab's headers leave out (graphs, textures, "
        "arrays): docs/programs.md lists them.",
    ),
    Rule(
        "wave's size on the host",
        r"reference to __device__ function 'operator int' in __host__ function",
        "warpSize is known in kernels only (since ROCm 7). On the host ask the device: hipDeviceProp_t p; "
        "hipGetDeviceProperties(&p, 0); p.warpSize, which is 64 on CDNA and 32 on RDNA GPUs.",
        line=r"\bwarpSize\b",
    ),
    Rule(
        "variable length",
        r"variable length arrays? ",
        flag="vla",
        text="The size is known only when the program runs. On the host std::vector is standard C++ for that; in a "
        "kernel such an array goes to slow scratch memory, so use a constant there.",
    ),
    Rule(
        "device function on the host",
        r"no matching function for call to '(\w+)'[\s\S]*call to __device__ function from __host__ function|"
        r"reference to __device__ function '(.*)' in __host__ function",
        "{0}{1} is a function for kernels. If it is your own, mark it __host__ __device__, for both.",
    ),
    Rule(
        "vectors of the host's processor",
        r"always_inline function '(\w+)' requires target feature '([\w.-]+)'",
        "{0} is an instruction that not every processor has. Say that this one has it: -m{1}, or -march=native for all "
        "that it has.",
    ),
    Rule(
        "host function in a kernel",
        r"reference to __host__ function '(?!other_8_bit_format)(.*)' in "
        r"(?:__global__|__device__|__host__ __device__) function",
        "{0} is a function of the host; a kernel can call __device__ functions only. If it is your own, mark it "
        "__device__ (or __host__ __device__, for both); if it is the C++ library's, write it without.",
    ),
    Rule(
        "kernel called",
        r"call to global function '?(.*?)'? not configured",
        "A kernel is launched with a grid and a block: {0}<<<blocks, threads>>>(arguments);",
    ),
    Rule(
        "launch in Python's form",
        r"subscript of pointer to function type",
        "kernel[grid, block](arguments) is how Python launches a kernel. In C++: "
        "kernel<<<blocks, threads>>>(arguments);",
    ),
    Rule(
        "ignored error",
        r"ignoring return value of type 'hipError_t'",
        "This call tells by its result whether it failed. Check it: if (call != hipSuccess) ..., or a macro that does.",
    ),
    Rule(
        "undefined function",
        r"undefined (?:protected |hidden )?symbol: (.*)",
        "{0} is declared, or called, and nothing in the source defines it. Device functions and variables "
        "of another file need gpulab hipcc -fgpu-rdc, in the commands for all files and in the one that links.",
    ),
    *(
        Rule(
            "header of a function of C",
            rf"use of undeclared identifier '({names})'(?![^\n])",
            f"{{0}} needs its header: #include <{header}>",
        )
        for header, names in _HEADERS
    ),
    *_OF_LOOPS,
    Rule(
        "undeclared function",
        r"use of undeclared identifier '(\w+)'(?![^\n])",
        "Nothing of this name is known here. Check the spelling, what stands above, and the #include lines.",
    ),
)
# Rules for the cells of kernels, which say what a program may do after all.
_OF_KERNELS = frozenset(
    {
        "launch in main", "launch at top", "launch macro", "absolute include", "host header",
        "primitives of the whole device", "python magic",
        "python def", "python import", "python words", "sleep", "heap",
    }
)  # fmt: skip


@functools.cache
def _compiled(program: bool) -> tuple[tuple[Rule, re.Pattern[str], re.Pattern[str], re.Pattern[str], str], ...]:
    rules = [*PROGRAM_RULES, *(rule for rule in RULES if rule.name not in _OF_KERNELS)] if program else RULES
    return tuple(
        (rule, re.compile(rule.message), re.compile(rule.line), re.compile(rule.source), rule.flag) for rule in rules
    )


def find(message: str, line: str, source: str, flag: str = "", program: bool = False) -> str:
    """Advice for one message.

    Args:
        message: the compiler's message, notes appended.
        line: the source line that it is about, "" if unknown.
        source: the whole source.
        flag: the warning's option, e.g. "-Wvla-cxx-extension", or "".
        program: the source is a whole program.
    """
    line = _with_macros(line, source)
    for rule, in_message, in_line, in_source, wanted in _compiled(program):
        match = in_message.search(message)
        if match is not None and "NAME" in rule.line:
            in_line = re.compile(rule.line.replace("NAME", re.escape(match[1])))
        if match is not None and "NAME" in rule.source:
            in_source = re.compile(rule.source.replace("NAME", re.escape(match[1])))
        if match is None or not in_line.search(line) or not in_source.search(source) or wanted not in flag:
            continue
        if rule.unless is not None and rule.unless(match):
            continue
        return rule.text.format(*(group or "" for group in match.groups()))
    return ""


def _with_macros(line: str, source: str) -> str:
    """The line, followed by what its macros without parameters stand for."""
    used = set(re.findall(r"\w+", line))
    return " ".join([line, *(body for name, body in _macros(source) if name in used)])


@functools.lru_cache(maxsize=1)  # a source can have thousands of messages
def _macros(source: str) -> list[tuple[str, str]]:
    return re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S.*)", source, re.MULTILINE)


def for_source(source: str) -> str:
    """Advice for a source that compiled but holds no kernel."""
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    if not bare.strip():
        return "The cell is empty but for comments."
    if re.search(r"template\s*<[^;{]*>\s*(?:\w+\s+)*__global__", bare):
        return (
            "A __global__ template gives a kernel only when it is instantiated. "
            "Add a line such as: template __global__ void name<float>(float*, int); in a cell, %%hip --instantiate "
            '"name<float>" does the same.'
        )
    if re.search(r"\b(static|namespace\s*\{)[^;{]*__global__|namespace\s*\{", bare) and "__global__" in bare:
        return "A kernel that is static or in an unnamed namespace is not visible from outside: remove that."
    if "__global__" not in bare and re.search(r"\bvoid\s+\w+\s*\(", bare):
        return "A kernel is marked __global__: __global__ void name(...). Without a mark, a function is for the host."
    return ""
