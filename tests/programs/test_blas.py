"""hipBLAS and rocBLAS: one program makes the calls that a file lists, on an image of memory; numpy says what comes out.

All that a call must not read is NaN (what is behind the rows of a matrix, the other triangle, C with beta 0), and what
it must not write has to stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpulab import programs
from gpulab.programs import arguments
from gpulab.toolchain import hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

N, T, C, UPPER, LOWER, LEFT, RIGHT, PLAIN, UNIT = 111, 112, 113, 121, 122, 141, 142, 131, 132
TYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}
SIZES = (1, 2, 17, 64, 65, 130)
#: Names of calls, with the number of arguments behind the handle: those of real and of complex numbers, and of both.
BOTH = {
    "axpy": 6, "copy": 5, "swap": 5, "scal": 4, "gemv": 11, "gemv_strided_batched": 15, "gemv_batched": 12, "gemm": 13,
    "gemm_batched": 14, "gemm_strided_batched": 17, "trsm": 11, "trsm_batched": 12, "trsm_strided_batched": 14,
    "trmm": 13, "trsv": 8, "trmv": 8, "geam": 12, "dgmm": 9, "syrk": 10, "syrkx": 12, "syr2k": 12, "symm": 12,
    "symv": 10, "syr": 7, "rotg": 4, "rot": 7,
}  # fmt: skip
REAL = {"dot": 6, "ger": 9, "nrm2": 4, "asum": 4}
COMPLEX = {"dotu": 6, "dotc": 6, "geru": 9, "gerc": 9, "herk": 10, "herkx": 12, "hemm": 12, "hemv": 10, "her": 7}
#: hipBLAS has the calls of S and Z in the program, rocBLAS those of D and C.
HIP, ROC = ("s", "z"), ("d", "c")


def hip_name(call: str) -> str:
    """The name of a call of hipBLAS, of that of BLAS in rocBLAS's manner."""
    words = call.split("_")
    first = words[0]
    first = f"I{first[1:]}" if first[0] == "i" and first.endswith(("amax", "amin")) else first[0].upper() + first[1:]
    return "hipblas" + first + "".join(word.capitalize() for word in words[1:])


def calls() -> dict[str, tuple[str, int]]:
    """The calls of the program: the name, the function, and its arguments behind the handle."""
    made: dict[str, tuple[str, int]] = {}
    for letter in TYPES:
        mixed = {"s": "s", "d": "d", "c": "sc", "z": "dz"}[letter]
        named = {letter + name: count for name, count in (BOTH | (REAL if letter in "sd" else COMPLEX)).items()}
        named |= {f"{mixed}nrm2": 4, f"{mixed}asum": 4, f"i{letter}amax": 4, f"i{letter}amin": 4}
        if letter in "cz":
            real = "s" if letter == "c" else "d"
            named |= {f"{letter}{real}scal": 4, f"{letter}{real}rot": 7}
        for name, count in named.items():
            made[name] = (hip_name(name) if letter in HIP else f"rocblas_{name}", count)
    made |= {"hgemm": ("hipblasHgemm", 13), "gemm_ex": ("hipblasGemmEx", 18), "rgemm_ex": ("rocblas_gemm_ex", 23)}
    made["strided_ex"] = ("hipblasGemmStridedBatchedEx", 22)
    return made


CALLS = calls()

SOURCE = r"""
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <rocblas/rocblas.h>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>
struct argument {  // of any type
  long long value;
  char* place;
  template <class T, std::enable_if_t<!std::is_pointer_v<T>, int> = 0> operator T() const { return (T)value; }
  template <class T> operator T*() const { return (T*)place; }
};
hipblasHandle_t hip;
rocblas_handle roc;
int call(const std::string& name, argument* a) {
CASES
  return 99;
}
int main(int, char** words) {
  std::ifstream lines(words[1]), given(words[2], std::ios::binary);
  std::vector<char> host{std::istreambuf_iterator<char>(given), {}};
  char* device;
  (void)hipMalloc(&device, host.size());
  (void)hipMemcpy(device, host.data(), host.size(), hipMemcpyHostToDevice);
  if (hipblasCreate(&hip) || rocblas_create_handle(&roc)) return 1;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string name, word;
    int mode;
    in >> name >> mode;
    hipblasSetPointerMode(hip, (hipblasPointerMode_t)mode);
    rocblas_set_pointer_mode(roc, (rocblas_pointer_mode)mode);
    std::vector<argument> arguments;
    while (in >> word) {
      char kind = word[0];
      if (kind == '@' || kind == '$' || kind == '*') word.erase(0, 1);
      argument a{std::stoll(word), nullptr};
      if (kind == '@') a.place = device + a.value;  // an array
      if (kind == '$') a.place = (mode ? device : host.data()) + a.value;  // a scalar
      if (kind == '*') {  // a list of arrays: their places become pointers
        auto list = (long long*)(host.data() + a.value);
        for (long long* p = list + 1; p <= list + *list; p++) *p += (long long)device;
        a.place = device + a.value + 8;
        (void)hipMemcpy(a.place, list + 1, *list * 8, hipMemcpyHostToDevice);
        for (long long* p = list + 1; p <= list + *list; p++) *p -= (long long)device;
      }
      arguments.push_back(a);
    }
    int code = call(name, arguments.data());
    if (code != 0) printf("%s: %d\n", line.c_str(), code);
  }
  printf("end %d %d\n", hipblasDestroy(hip), rocblas_destroy_handle(roc));
  std::vector<char> found(host.size());
  if (hipMemcpy(found.data(), device, host.size(), hipMemcpyDeviceToHost) != hipSuccess) return 2;
  std::ofstream out(words[3], std::ios::binary);
  out.write(found.data(), found.size()).write(host.data(), host.size());
}
"""


def source() -> str:
    cases = []
    for name, (function, count) in CALLS.items():
        handle = "roc" if function.startswith("rocblas") else "hip"
        given = ", ".join(f"a[{i}]" for i in range(count))
        cases.append(f'  if (name == "{name}") return {function}({handle}, {given});')
    return SOURCE.replace("CASES", "\n".join(cases))


class Image:
    """Memory of the program, the calls on it, and what is to be in it at the end."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(20)
        self.size = 0
        self.parts: list[tuple[int, np.ndarray[Any, Any], np.ndarray[Any, Any], bool, str]] = []
        self.lines: list[str] = []

    def put(self, before: np.ndarray[Any, Any], after: np.ndarray[Any, Any] | None = None, scalar: int = 0) -> int:
        """Its place. A scalar: whether the device has it (2) or the host (1)."""
        place = self.size
        before = np.ascontiguousarray(before)
        after = before if after is None else np.ascontiguousarray(after)
        assert before.shape == after.shape
        self.parts.append((place, before, after.astype(before.dtype), scalar == 1, f"{len(self.lines)}"))
        self.size += -(-before.nbytes // 16) * 16 + 16
        return place

    def numbers(self, kind: Any, *shape: int) -> np.ndarray[Any, Any]:
        made = self.random.uniform(-1, 1, shape)
        if np.issubdtype(kind, np.complexfloating):
            made = made + 1j * self.random.uniform(-1, 1, shape)
        return made.astype(kind)

    def matrix(self, kind: Any, value: np.ndarray[Any, Any] | None, more: int = 3,
               after: np.ndarray[Any, Any] | None = None, batch: int = 0) -> tuple[str, int]:  # fmt: skip
        """Columns of a matrix with NaN behind each: its place as an argument, and its leading dimension."""
        assert value is not None
        rows, columns = value.shape[-2:]
        shape = (*value.shape[:-2], columns, rows + more)
        memory = [np.full(shape, np.nan, kind), np.full(shape, np.nan, kind)]
        for one, numbers in zip(memory, (value, value if after is None else after), strict=True):
            one[..., :rows] = np.swapaxes(numbers, -1, -2)
        return f"@{self.put(*memory)}", rows + more

    def vector(self, value: np.ndarray[Any, Any], step: int, after: np.ndarray[Any, Any] | None = None) -> str:
        size = max(1, 1 + (len(value) - 1) * abs(step)) if len(value) else 1
        memory = [np.full(size, np.nan, value.dtype), np.full(size, np.nan, value.dtype)]
        for one, numbers in zip(memory, (value, value if after is None else after), strict=True):
            if len(value):
                one[:: abs(step)] = numbers[:: -1 if step < 0 else 1]
        return f"@{self.put(*memory)}"

    def scalar(self, mode: int, value: Any, kind: Any, after: Any = None) -> str:
        before = np.array([value], kind)
        return f"${self.put(before, None if after is None else np.array([after], kind), 2 if mode else 1)}"

    def list(self, argument: str, stride: int, count: int) -> str:
        start = int(argument[1:])
        values = np.array([count, *(start + i * stride for i in range(count))], np.int64)
        place = self.size
        self.parts.append((place, values, values, True, "list"))
        self.size += values.nbytes + 16
        return f"*{place}"

    def call(self, name: str, mode: int, *arguments: Any) -> None:
        assert len(arguments) == CALLS[name][1], name
        self.lines.append(" ".join(str(argument) for argument in (name, mode, *arguments)))

    def bytes(self) -> bytes:
        memory = bytearray(self.size)
        for place, before, *_ in self.parts:
            memory[place : place + before.nbytes] = before.tobytes()
        return bytes(memory)

    def compare(self, device: bytes, host: bytes) -> None:
        for place, before, after, on_host, number in self.parts:
            found = np.frombuffer((host if on_host else device), before.dtype, before.size, place).reshape(before.shape)
            if number == "list" or np.issubdtype(before.dtype, np.integer):
                right = bool((found == after).all())
            else:
                exact = before.dtype in (np.float64, np.complex128)
                near = {"rtol": 1e-11, "atol": 1e-11} if exact else {"rtol": 2e-4, "atol": 2e-4}
                if before.dtype == np.float16:
                    near = {"rtol": 4e-3, "atol": 4e-3}
                right = np.allclose(found, after, equal_nan=True, **near)
            line = "" if number == "list" else self.lines[int(number)]
            assert right, f"{line}\nfound {found.ravel()[:9]}\nexpected {after.ravel()[:9]}"


def turned(a: np.ndarray[Any, Any], op: int) -> np.ndarray[Any, Any]:
    other = a if op == N else np.swapaxes(a, -1, -2)
    return other.conj() if op == C else other


def vectors(image: Image, letter: str) -> None:
    kind = TYPES[letter]
    real = np.float32 if letter in "sc" else np.float64
    mixed = {"s": "s", "d": "d", "c": "sc", "z": "dz"}[letter]
    for index, (n, incx, incy) in enumerate(((1, 1, 1), (65, 2, -1), (300, -3, 2), (9000, 1, 1), (0, 1, 1))):
        mode = index % 2
        x, y = image.numbers(kind, n), image.numbers(kind, n)
        alpha = image.numbers(kind, 1)[0]
        image.call(f"{letter}axpy", mode, n, image.scalar(mode, alpha, kind), image.vector(x, incx), incx,
                   image.vector(y, incy, alpha * x + y), incy)  # fmt: skip
        image.call(f"{letter}copy", mode, n, image.vector(x, incx), incx, image.vector(y, incy, x), incy)
        image.call(f"{letter}swap", mode, n, image.vector(x, incx, y), incx, image.vector(y, incy, x), incy)
        down = incx < 0  # then nothing happens
        image.call(f"{letter}scal", mode, n, image.scalar(mode, alpha, kind),
                   image.vector(x, incx, x if down else alpha * x), incx)  # fmt: skip
        for name, first in (("dot", x),) if letter in "sd" else (("dotu", x), ("dotc", x.conj())):
            result = image.scalar(mode, 7, kind, as_kind((first.astype(complex) * y).sum(), kind))
            image.call(f"{letter}{name}", mode, n, image.vector(x, incx), incx, image.vector(y, incy), incy, result)
        sizes = abs(x.real) + abs(x.imag)
        for name, result in (("nrm2", np.sqrt((abs(x.astype(complex)) ** 2).sum())), ("asum", sizes.sum())):
            place = image.scalar(mode, 7, real, 0 if down else result)
            image.call(f"{mixed}{name}", mode, n, image.vector(x, incx), incx, place)
        for name, find in (("amax", np.argmax), ("amin", np.argmin)):
            place = image.scalar(mode, 7, np.int32, 0 if down or n == 0 else find(sizes) + 1)
            image.call(f"i{letter}{name}", mode, n, image.vector(x, incx), incx, place)
        cosine, sine = np.cos(0.3).astype(real), (np.sin(0.3) * (1 if letter in "sd" else np.exp(0.5j))).astype(kind)
        image.call(f"{letter}rot", mode, n, image.vector(x, incx, cosine * x + sine * y), incx,
                   image.vector(y, incy, cosine * y - sine.conj() * x), incy, image.scalar(mode, cosine, real),
                   image.scalar(mode, sine, kind))  # fmt: skip
        if letter in "cz":
            one = "s" if letter == "c" else "d"
            image.call(f"{letter}{one}scal", mode, n, image.scalar(mode, 0.5, real),
                       image.vector(x, incx, x if down else x / 2), incx)  # fmt: skip
            image.call(f"{letter}{one}rot", mode, n, image.vector(x, incx, (0.6 * x + 0.8 * y).astype(kind)), incx,
                       image.vector(y, incy, (0.6 * y - 0.8 * x).astype(kind)), incy, image.scalar(mode, 0.6, real),
                       image.scalar(mode, 0.8, real))  # fmt: skip
    large = np.array([3e200, 4e200] if real == np.float64 else [3e30, 4e30], kind)  # whose squares are out of range
    assert np.isfinite(large).all()
    image.call(f"{mixed}nrm2", 0, 2, image.vector(large, 1), 1, image.scalar(0, 7, real, large[1].real * 1.25))
    equal = np.array([1, -5, 5, 1], kind)  # of equal ones the first
    image.call(f"i{letter}amax", 1, 4, image.vector(equal, 1), 1, image.scalar(1, 7, np.int32, 2))
    image.call(f"i{letter}amin", 0, 4, image.vector(equal, 1), 1, image.scalar(0, 7, np.int32, 1))
    for mode in (0, 1):  # (4, 3) to (5, 0)
        a, b, c, s = image.scalar(mode, 4, kind, 5), (3, 0.6 if letter in "sd" else 3), 0.8, 0.6
        image.call(f"{letter}rotg", mode, a, image.scalar(mode, b[0], kind, b[1]), image.scalar(mode, 7, real, c),
                   image.scalar(mode, 7, kind, s))  # fmt: skip


def scalars(image: Image, mode: int, index: int, kind: Any, real: Any = None) -> tuple[Any, Any, str, str]:
    """alpha and beta: any, beta 0, alpha 0, both 0."""
    alpha, beta = image.numbers(kind, 2) if real is None else image.numbers(real, 2)
    alpha, beta = alpha * (index % 4 < 2), beta * (index % 2 == 0)
    kinds = kind if real is None else real
    return alpha, beta, image.scalar(mode, alpha, kinds), image.scalar(mode, beta, kinds)


def hidden(value: np.ndarray[Any, Any], whether: bool) -> np.ndarray[Any, Any]:
    """NaN instead of what is not to be read."""
    return np.full_like(value, np.nan) if whether else value


def half(value: np.ndarray[Any, Any], fill: int) -> np.ndarray[Any, Any]:
    """A triangle of it, the other one NaN."""
    other = np.tri(len(value), k=-1, dtype=bool)
    return np.where(other if fill == UPPER else other.T, np.nan, value).astype(value.dtype)


def products(image: Image, letter: str) -> None:
    kind = TYPES[letter]
    index = 0
    for op_a in (N, T, C):
        for op_b in (N, T, C):
            m, n, k = (SIZES[(index * step + 1) % len(SIZES)] for step in (1, 5, 7))
            mode = index % 2
            alpha, beta, at, bt = scalars(image, mode, index // 2 if index < 8 else 0, kind)
            a = image.numbers(kind, *((m, k) if op_a == N else (k, m)))
            b = image.numbers(kind, *((k, n) if op_b == N else (n, k)))
            c = image.numbers(kind, m, n)
            after = alpha * (turned(a, op_a).astype(complex) @ turned(b, op_b)) + beta * c
            place_a, lda = image.matrix(kind, hidden(a, alpha == 0))
            place_b, ldb = image.matrix(kind, hidden(b, alpha == 0), 0)
            place_c, ldc = image.matrix(kind, hidden(c, beta == 0), 5, as_kind(after, kind))
            image.call(f"{letter}gemm", mode, op_a, op_b, m, n, k, at, place_a, lda, place_b, ldb, bt, place_c, ldc)
            index += 1
    a, b, c = image.numbers(kind, 3, 17, 5), image.numbers(kind, 3, 5, 20), image.numbers(kind, 3, 17, 20)
    after = as_kind(a.astype(complex) @ b + 2 * c, kind)
    for lists in (False, True):
        (pa, lda), (pb, ldb) = image.matrix(kind, a), image.matrix(kind, b)
        pc, ldc = image.matrix(kind, c, 1, after)
        one, two = image.scalar(0, 1, kind), image.scalar(0, 2, kind)
        sa, sb, sc = lda * 5, ldb * 20, ldc * 20
        size = np.dtype(kind).itemsize
        if lists:
            image.call(f"{letter}gemm_batched", 0, N, N, 17, 20, 5, one, image.list(pa, sa * size, 3), lda,
                       image.list(pb, sb * size, 3), ldb, two, image.list(pc, sc * size, 3), ldc, 3)  # fmt: skip
        else:
            image.call(f"{letter}gemm_strided_batched", 0, N, N, 17, 20, 5, one, pa, lda, sa, pb, ldb, sb, two, pc,
                       ldc, sc, 3)  # fmt: skip


def as_kind(value: np.ndarray[Any, Any], kind: Any) -> np.ndarray[Any, Any]:
    return (value if np.issubdtype(kind, np.complexfloating) else value.real).astype(kind)


def matrix_and_vector(image: Image, letter: str) -> None:
    kind = TYPES[letter]
    for index, (op, m, n, incx, incy) in enumerate(
        (
            (N, 1, 1, 1, 1),
            (N, 130, 65, -2, 1),
            (T, 65, 130, 1, -1),
            (C, 3, 300, 2, 3),
            (N, 2, 700, 1, 1),
            (T, 9, 1, 1, 1),
        )
    ):
        mode = index % 2
        alpha, beta, at, bt = scalars(image, mode, index, kind)
        a = image.numbers(kind, m, n)
        x, y = image.numbers(kind, n if op == N else m), image.numbers(kind, m if op == N else n)
        after = as_kind(alpha * (turned(a, op).astype(complex) @ x) + beta * y, kind)
        place, lda = image.matrix(kind, hidden(a, alpha == 0))
        image.call(f"{letter}gemv", mode, op, m, n, at, place, lda, image.vector(hidden(x, alpha == 0), incx), incx, bt,
                   image.vector(hidden(y, beta == 0), incy, after), incy)  # fmt: skip
        x, y = image.numbers(kind, m), image.numbers(kind, n)
        for name in ("ger",) if letter in "sd" else ("geru", "gerc"):
            place, lda = image.matrix(kind, a, 2, a + alpha * np.outer(x, y.conj() if name == "gerc" else y))
            image.call(f"{letter}{name}", mode, m, n, at, image.vector(x, incx), incx, image.vector(y, incy), incy,
                       place, lda)  # fmt: skip
    a, x, y = image.numbers(kind, 3, 9, 4), image.numbers(kind, 3, 4), image.numbers(kind, 3, 9)
    after = as_kind((a.astype(complex) @ x[..., None])[..., 0], kind)
    one, none, size = image.scalar(0, 1, kind), image.scalar(0, 0, kind), np.dtype(kind).itemsize
    for lists in (False, True):
        place, lda = image.matrix(kind, a)
        px, py = f"@{image.put(x[:, ::-1])}", f"@{image.put(hidden(y, True), after)}"
        if lists:
            image.call(f"{letter}gemv_batched", 0, N, 9, 4, one, image.list(place, lda * 4 * size, 3), lda,
                       image.list(px, 4 * size, 3), -1, none, image.list(py, 9 * size, 3), 1, 3)  # fmt: skip
        else:
            image.call(f"{letter}gemv_strided_batched", 0, N, 9, 4, one, place, lda, lda * 4, px, -1, 4, none, py, 1, 9,
                       3)  # fmt: skip
    for index, (n, fill, incx, incy) in enumerate(((1, UPPER, 1, 1), (67, UPPER, -1, 2), (130, LOWER, 1, -1))):
        mode = index % 2
        alpha, beta, at, bt = scalars(image, mode, 0, kind)
        a, x, y = image.numbers(kind, n, n), image.numbers(kind, n), image.numbers(kind, n)
        for name in ("symv",) if letter in "sd" else ("symv", "hemv"):
            full = whole(a, fill, name == "hemv")
            place, lda = image.matrix(kind, half(a, fill))
            image.call(f"{letter}{name}", mode, fill, n, at, place, lda, image.vector(x, incx), incx, bt,
                       image.vector(y, incy, alpha * (full @ x) + beta * y), incy)  # fmt: skip
        place, lda = image.matrix(kind, half(a, fill), 1, half(a + alpha * np.outer(x, x), fill))
        image.call(f"{letter}syr", mode, fill, n, at, image.vector(x, incx), incx, place, lda)
        if letter in "cz":
            of_real = np.float32 if letter == "c" else np.float64
            sum_ = a + 0.5 * np.outer(x, x.conj())
            np.fill_diagonal(sum_, sum_.diagonal().real)
            place, lda = image.matrix(kind, half(a, fill), 1, half(sum_, fill))
            image.call(f"{letter}her", mode, fill, n, image.scalar(mode, 0.5, of_real), image.vector(x, incx), incx,
                       place, lda)  # fmt: skip


def whole(a: np.ndarray[Any, Any], fill: int, hermitian: bool) -> np.ndarray[Any, Any]:
    """The symmetric or Hermitian matrix of which a triangle is stored."""
    kept = np.triu(a) if fill == UPPER else np.tril(a)
    rest = kept - np.diag(kept.diagonal())
    diagonal = kept.diagonal().real if hermitian else kept.diagonal()
    return np.asarray(rest + (rest.conj().T if hermitian else rest.T) + np.diag(diagonal))


def triangles(image: Image, letter: str) -> None:
    kind = TYPES[letter]
    index = 0
    for side in (LEFT, RIGHT):
        for fill in (UPPER, LOWER):
            for op in (N, T, C):
                diagonal = (PLAIN, UNIT)[(index // 3 + index) % 2]
                m, n = SIZES[(index + 3) % len(SIZES)], SIZES[(index * 5 + 2) % len(SIZES)]
                mode = index % 2
                size = m if side == LEFT else n
                a = image.numbers(kind, size, size) / size
                np.fill_diagonal(a, a.diagonal() + 2)
                kept = half(a, fill)
                if diagonal == UNIT:
                    np.fill_diagonal(kept, np.nan)
                full = (np.triu(a) if fill == UPPER else np.tril(a)).astype(complex)
                if diagonal == UNIT:
                    np.fill_diagonal(full, 1)
                full, b = turned(full, op), image.numbers(kind, m, n)
                alpha, _, at, _ = scalars(image, mode, 0 if index != 7 else 2, kind)
                pa, lda = image.matrix(kind, hidden(kept, alpha == 0))
                solved = np.linalg.solve(full, alpha * b) if side == LEFT else np.linalg.solve(full.T, alpha * b.T).T
                pb, ldb = image.matrix(kind, hidden(b, alpha == 0), 2, as_kind(solved, kind))
                image.call(f"{letter}trsm", mode, side, fill, op, diagonal, m, n, at, pa, lda, pb, ldb)
                times = as_kind(alpha * (full @ b if side == LEFT else b @ full), kind)
                pb, ldb = image.matrix(kind, hidden(b, alpha == 0))
                pc, ldc = image.matrix(kind, hidden(b, True), 1, times)
                image.call(f"{letter}trmm", mode, side, fill, op, diagonal, m, n, at, pa, lda, pb, ldb, pc, ldc)
                if index == 4:  # in place
                    pb, ldb = image.matrix(kind, b, 2, times)
                    image.call(f"{letter}trmm", mode, side, fill, op, diagonal, m, n, at, pa, lda, pb, ldb, pb, ldb)
                if side == LEFT:
                    incx, x = (1, -2)[index % 2], b[:, 0]
                    image.call(f"{letter}trsv", mode, fill, op, diagonal, m, pa, lda,
                               image.vector(x, incx, as_kind(np.linalg.solve(full, x), kind)), incx)  # fmt: skip
                    image.call(f"{letter}trmv", mode, fill, op, diagonal, m, pa, lda,
                               image.vector(x, incx, as_kind(full @ x, kind)), incx)  # fmt: skip
                index += 1
    a = np.tril(image.numbers(kind, 2, 6, 6)) + 2 * np.eye(6, dtype=kind)
    b = image.numbers(kind, 2, 6, 3)
    solved, size = as_kind(np.linalg.solve(a.astype(complex), b), kind), np.dtype(kind).itemsize
    for lists in (False, True):
        (pa, lda), (pb, ldb) = image.matrix(kind, a), image.matrix(kind, b, 1, solved)
        common = (LEFT, LOWER, N, PLAIN, 6, 3, image.scalar(0, 1, kind))
        if lists:
            image.call(f"{letter}trsm_batched", 0, *common, image.list(pa, lda * 6 * size, 2), lda,
                       image.list(pb, ldb * 3 * size, 2), ldb, 2)  # fmt: skip
        else:
            image.call(f"{letter}trsm_strided_batched", 0, *common, pa, lda, lda * 6, pb, ldb, ldb * 3, 2)


def symmetric_products(image: Image, letter: str) -> None:
    kind = TYPES[letter]
    of_real = np.float32 if letter in "sc" else np.float64
    for index, (n, k, fill, op) in enumerate(
        ((1, 1, UPPER, N), (130, 17, UPPER, T), (65, 64, LOWER, N), (70, 3, LOWER, T))
    ):
        mode = index % 2
        a, b = (image.numbers(kind, *((n, k) if op == N else (k, n))) for _ in range(2))
        c = image.numbers(kind, n, n)
        pa, lda = image.matrix(kind, a)
        pb, ldb = image.matrix(kind, b)
        for name in ("syrk", "syrkx", "syr2k") + (("herk", "herkx") if letter in "cz" else ()):
            hermitian = name.startswith("her")
            alpha, beta, at, bt = scalars(image, mode, 0, kind)
            if hermitian:
                beta = beta.real
                bt = image.scalar(mode, beta, of_real)
            if name == "herk":
                alpha = alpha.real
                at = image.scalar(mode, alpha, of_real)
            given = op if not hermitian or op == N else C
            other = a if name in ("syrk", "herk") else b
            first, second = turned(a, given), turned(other, given)
            if name == "herkx":  # whose product has to be Hermitian: of A and a multiple of it
                other, second = a, first
                alpha = alpha.real
                at = image.scalar(mode, alpha, kind)
            after = alpha * (first @ (second.conj() if hermitian else second).T) + beta * c
            if name == "syr2k":
                after = after + alpha * (second @ first.T)
            before = half(c, fill)
            if hermitian:  # whose diagonal is real
                np.fill_diagonal(after, after.diagonal().real)
            pc, ldc = image.matrix(kind, before, 2, half(after.astype(kind), fill))
            second_place = () if name in ("syrk", "herk") else (pb, ldb) if other is b else (pa, lda)
            image.call(f"{letter}{name}", mode, fill, given, n, k, at, pa, lda, *second_place, bt, pc, ldc)
        m = k
        for side in (LEFT, RIGHT):
            for name in ("symm",) if letter in "sd" else ("symm", "hemm"):
                size = m if side == LEFT else n
                a_, b_, c_ = image.numbers(kind, size, size), image.numbers(kind, m, n), image.numbers(kind, m, n)
                alpha, beta, at, bt = scalars(image, mode, index, kind)
                full = whole(a_, fill, name == "hemm")
                after = alpha * (full @ b_ if side == LEFT else b_ @ full) + beta * c_
                (p1, l1), (p2, l2) = image.matrix(kind, half(a_, fill)), image.matrix(kind, b_)
                p3, l3 = image.matrix(kind, hidden(c_, beta == 0), 1, after)
                image.call(f"{letter}{name}", mode, side, fill, m, n, at, p1, l1, p2, l2, bt, p3, l3)


def sums(image: Image, letter: str) -> None:
    kind = TYPES[letter]
    for index, (op_a, op_b, m, n) in enumerate(((N, N, 1, 1), (T, N, 65, 17), (N, C, 17, 130), (C, T, 3, 64))):
        mode = index % 2
        alpha, beta, at, bt = scalars(image, mode, index, kind)
        a = image.numbers(kind, *((m, n) if op_a == N else (n, m)))
        b = image.numbers(kind, *((m, n) if op_b == N else (n, m)))
        after = alpha * turned(a, op_a) + beta * turned(b, op_b)
        (pa, lda), (pb, ldb) = image.matrix(kind, hidden(a, alpha == 0)), image.matrix(kind, hidden(b, beta == 0))
        pc, ldc = image.matrix(kind, np.full((m, n), np.nan, kind), 1, after)
        image.call(f"{letter}geam", mode, op_a, op_b, m, n, at, pa, lda, bt, pb, ldb, pc, ldc)
        side = (LEFT, RIGHT)[index % 2]
        a, x = image.numbers(kind, m, n), image.numbers(kind, m if side == LEFT else n)
        step = (1, -2)[index // 2]
        pa, lda = image.matrix(kind, a)
        pc, ldc = image.matrix(kind, np.full((m, n), np.nan, kind), 1, a * (x[:, None] if side == LEFT else x))
        image.call(f"{letter}dgmm", mode, side, m, n, pa, lda, image.vector(x, step), step, pc, ldc)


def mixed_types(image: Image) -> None:
    """Products of types that the call names: HIP_R_16F = 2, HIP_R_32F = 0, HIP_R_64F = 1, HIP_C_32F = 4."""
    m, n, k = 70, 33, 20
    for kind, out, scalar, number, out_number, compute in (
        (np.float16, np.float16, np.float16, 2, 2, 0), (np.float16, np.float16, np.float32, 2, 2, 2),
        (np.float16, np.float32, np.float32, 2, 0, 2), (np.float32, np.float32, np.float32, 0, 0, 2),
        (np.float64, np.float64, np.float64, 1, 1, 7), (np.complex64, np.complex64, np.complex64, 4, 4, 2),
    ):  # fmt: skip
        a, b, c = image.numbers(kind, m, k), image.numbers(kind, n, k), image.numbers(out, m, n)
        wide = np.result_type(kind, np.float64)
        after = (0.5 * (a.astype(wide) @ b.astype(wide).T) + 2 * c.astype(wide)).astype(out)
        (pa, lda), (pb, ldb), (pc, ldc) = image.matrix(kind, a), image.matrix(kind, b), image.matrix(out, c, 3, after)
        image.call("gemm_ex", 0, N, T, m, n, k, image.scalar(0, 0.5, scalar), pa, number, lda, pb, number, ldb,
                   image.scalar(0, 2, scalar), pc, out_number, ldc, compute, 160)  # fmt: skip
        if kind == out == scalar == np.float16:
            pc, ldc = image.matrix(out, c, 3, after)
            image.call("hgemm", 1, N, T, m, n, k, image.scalar(1, 0.5, out), pa, lda, pb, ldb, image.scalar(1, 2, out),
                       pc, ldc)  # fmt: skip
    a, b, c = image.numbers(np.float16, m, k), image.numbers(np.float16, k, n), image.numbers(np.float32, m, n)
    (pa, lda), (pb, ldb), (pc, ldc) = (image.matrix(x.dtype, x) for x in (a, b, c))
    after = (a.astype(float) @ b + c).astype(np.float32)
    pd, ldd = image.matrix(np.float32, np.full((m, n), np.nan), 1, after)
    one = image.scalar(0, 1, np.float32)
    image.call("rgemm_ex", 0, N, N, m, n, k, one, pa, 150, lda, pb, 150, ldb, one, pc, 151, ldc, pd, 151, ldd, 151, 0,
               0, 0)  # fmt: skip
    bits = [image.numbers(np.float32, *shape).view(np.uint32) >> 16 for shape in ((2, 5, 6), (2, 6, 4))]
    brain = [(x << 16).view(np.float32) for x in bits]  # bfloat16's, which numpy lacks
    pa, pb = (f"@{image.put(np.swapaxes(x, 1, 2).astype(np.uint16))}" for x in bits)
    pc = f"@{image.put(np.full((2, 4, 5), np.nan, np.float32), np.swapaxes(brain[0] @ brain[1], 1, 2))}"
    image.call("strided_ex", 0, N, N, 5, 4, 6, one, pa, 14, 5, 30, pb, 14, 6, 24, image.scalar(0, 0, np.float32), pc, 0,
               5, 20, 2, 2, 160)  # fmt: skip


def every_case() -> Image:
    image = Image()
    families: Iterable[Callable[[Image, str], None]] = (
        vectors, products, matrix_and_vector, triangles, symmetric_products, sums,
    )  # fmt: skip
    for letter in TYPES:
        for family in families:
            family(image, letter)
    mixed_types(image)
    return image


def test_results_are_numpys(tmp_path: Path) -> None:
    image = every_case()
    (tmp_path / "cases").write_text("\n".join(image.lines) + "\n", encoding="utf-8")
    (tmp_path / "memory").write_bytes(image.bytes())
    assert {line.split()[0] for line in image.lines} == set(CALLS)
    program = programs.build(source(), options=("-lhipblas", "-lrocblas"))
    for arch in ("gfx942", "gfx1100"):
        run = program.run("cases", "memory", "results", arch=arch, folder=tmp_path)
        assert (run.stdout, run.stderr, run.exit_code) == ("end 0 0\n", "", 0)
        found = (tmp_path / "results").read_bytes()
        image.compare(found[: image.size], found[image.size :])


CODES = r"""
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <rocblas/rocblas.h>
#include <complex>
#include <cstdio>
int main() {
  hipblasHandle_t h;
  rocblas_handle r;
  float one = 1, result = 7, from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {};
  float *a, *none = nullptr;
  const auto N = HIPBLAS_OP_N;
  (void)hipMalloc(&a, 64);
  int created = hipblasCreate(&h) + rocblas_create_handle(&r);
  printf("%d %d %d %d\n", created, hipblasCreate(nullptr), rocblas_create_handle(nullptr), hipblasDestroy(nullptr));
  printf("%d %d %d\n", hipblasSaxpy(nullptr, 1, &one, a, 1, a, 1), hipblasSaxpy(h, -1, &one, a, 1, a, 1),
         hipblasSaxpy(h, 1, &one, none, 1, a, 1));
  printf("%d %d %d %d %d %d %d\n", hipblasSgemm(h, N, N, 2, 2, 2, &one, a, 1, a, 2, &one, a, 2),
         hipblasSgemm(h, HIPBLAS_OP_T, N, 3, 2, 2, &one, a, 2, a, 2, &one, a, 3),
         hipblasSgemm(h, N, N, -1, 2, 2, &one, a, 2, a, 2, &one, a, 2),
         hipblasSgemm(h, (hipblasOperation_t)5, N, 2, 2, 2, &one, a, 2, a, 2, &one, a, 2),
         hipblasSgemm(h, N, N, 2, 2, 2, none, a, 2, a, 2, &one, a, 2),
         hipblasSgemm(h, N, N, 0, 2, 2, none, none, 2, none, 2, none, none, 2),
         hipblasGemmEx(h, N, N, 2, 2, 2, &one, a, HIP_R_8U, 2, a, HIP_R_8U, 2, &one, a, HIP_R_32I, 2,
                       HIPBLAS_COMPUTE_32I, HIPBLAS_GEMM_DEFAULT));
  (void)hipblasSetPointerMode(h, HIPBLAS_POINTER_MODE_DEVICE);
  printf("%d %d %d\n", hipblasSgemm(h, N, N, 2, 2, 2, a, none, 2, a, 2, a, a, 2),
         hipblasSgemm(h, N, N, 2, 2, 2, a, a, 2, none, 2, a, a, 2),
         hipblasSgemm(h, N, N, 2, 2, 2, a, a, 2, a, 2, a, none, 2));
  (void)hipblasSetPointerMode(h, HIPBLAS_POINTER_MODE_HOST);
  printf("%d %d %d %d\n", rocblas_sgemv(r, rocblas_operation_none, 2, 2, &one, a, 1, a, 1, &one, a, 1),
         rocblas_sgemv(r, (rocblas_operation)5, 2, 2, &one, a, 2, a, 1, &one, a, 1),
         rocblas_strsv(r, rocblas_fill_full, rocblas_operation_none, rocblas_diagonal_unit, 2, a, 2, a, 1),
         rocblas_sdot(r, 2, a, 1, none, 1, &result));
  printf("%s %s %s\n", hipblasStatusToString(HIPBLAS_STATUS_INVALID_VALUE), hipblasStatusToString((hipblasStatus_t)77),
         rocblas_status_to_string(rocblas_status_invalid_size));
  hipStream_t stream, found;
  (void)hipStreamCreate(&stream);
  hipblasPointerMode_t mode;
  hipblasAtomicsMode_t atomics;
  hipblasMath_t mathematics;
  int codes = hipblasSetStream(h, stream) + hipblasGetStream(h, &found);
  codes += hipblasGetPointerMode(h, &mode) + hipblasGetAtomicsMode(h, &atomics);
  codes += hipblasSetMathMode(h, HIPBLAS_TENSOR_OP_MATH) + hipblasGetMathMode(h, &mathematics);
  printf("%d %d %d %d %d\n", codes, found == stream, mode, atomics, mathematics);
  // Two columns of 2 numbers, 3 from one to the next, to an array without gaps, and its first row back.
  codes = hipblasSetMatrix(2, 2, sizeof(float), from, 3, a, 2);
  codes += hipblasGetVectorAsync(2, sizeof(float), a, 2, to, 3, stream) + (int)hipStreamSynchronize(stream);
  printf("%d %g %g %d %d\n", codes, to[0], to[3], hipblasSetMatrix(2, 2, 4, from, 1, a, 2),
         rocblas_set_vector(-1, 4, from, 1, a, 1));
  codes = hipblasSdot(h, 2, a, 1, a, 2, &result);
  std::complex<float> z = rocblas_float_complex(1, 2) * rocblas_float_complex(3) / rocblas_float_complex(0, 1);
  int version;
  codes += hipblasGetVersion(h, &version) + hipblasSetWorkspace(h, a, 64) + rocblas_set_workspace(r, a, 64);
  printf("%d %g %g %g %d\n", codes, result, z.real(), z.imag(), version >= 30000);
  hipComplex w = hipCmulf(make_hipComplex(3, 4), make_hipComplex(0, 1));  // on the host
  printf("%g %g %g\n", w.x, w.y, hipCabsf(w));
  printf("%d %d\n", hipblasDestroy(h), rocblas_destroy_handle(r));
}
"""


def test_codes_of_wrong_arguments_and_copies() -> None:
    program = programs.build(CODES)
    for arch in ("gfx942", "gfx1100"):
        run = program.run(arch=arch)
        assert run.stdout.splitlines() == [
            "0 9 1 1", "1 0 3", "3 0 3 10 3 0 7", "3 3 3", "4 11 11 3",
            "HIPBLAS_STATUS_INVALID_VALUE HIPBLAS_STATUS_UNKNOWN rocblas_status_invalid_size", "0 1 0 1 5",
            "0 1 4 3 4", "0 9 6 -3 1", "-4 3 5", "0 0",
        ]  # fmt: skip
        assert run.stderr.count("there is no product of matrices of these types here") == 1
        assert run.exit_code == 0


ARGUMENTS = r"""
#include <hip/hip_runtime.h>
#include <rocblas/rocblas.h>
#include <cstdio>
#include <vector>
typedef std::vector<std::vector<int>> Rows;
static rocblas_handle handle;
static float one, two, *memory;  // of alpha and beta
static int nulls;
static const int N = rocblas_operation_none, T = rocblas_operation_transpose, U = rocblas_fill_upper;
static const int L = rocblas_side_left, R = rocblas_side_right, D = rocblas_diagonal_unit;
static const auto op = [](int x) { return (rocblas_operation)x; };
static const auto fill = [](int x) { return (rocblas_fill)x; };
static const auto side = [](int x) { return (rocblas_side)x; };
static const auto diagonal = [](int x) { return (rocblas_diagonal)x; };
static float* p(int number, float* pointer) { return nulls >> number & 1 ? nullptr : pointer; }
static float* m(int number) { return p(number, memory + 1024 * number); }
static void is(const char* name, const char* what, const std::vector<int>& v, int expected, int found) {
  if (expected == found) return;
  std::printf("%s %s:", name, what);
  for (int each : v) std::printf(" %d", each);
  std::printf(" (without %d) is %d\n", nulls, found);
}
// Pointers of `always` are needed, those of `most` too if alpha is not 0.
template <typename F>
static void routine(const char* name, F call, int always, int most, Rows right, Rows nothing, Rows sizes, Rows values) {
  for (auto& v : right) nulls = 0, is(name, "right", v, 0, call(v.data()));
  for (auto& v : nothing) nulls = -1, is(name, "nothing", v, 0, call(v.data()));
  for (auto& v : sizes) nulls = -1, is(name, "size", v, 4, call(v.data()));
  for (auto& v : values) nulls = -1, is(name, "value", v, 11, call(v.data()));
  for (int number = 0; number < 6; number++) {
    nulls = 1 << number;
    if (always >> number & 1) is(name, "pointer", right[0], 3, call(right[0].data()));
    if (!(most >> number & 1)) continue;
    is(name, "pointer", right[0], 3, call(right[0].data()));
    one = 0;
    is(name, "pointer, times 0", right[0], 0, call(right[0].data()));
    one = 1;
  }
  rocblas_handle kept = handle;
  handle = nullptr, nulls = 0;
  is(name, "handle", right[0], 1, call(right[0].data()));
  handle = kept;
}
int main() {
  one = two = 1;
  if (rocblas_create_handle(&handle) || hipMalloc(&memory, 8192 * 4) || hipMemset(memory, 0, 8192 * 4)) return 1;
  routine("gemv", [](const int* v) { return rocblas_sgemv(handle, op(v[0]), v[1], v[2], p(0, &one), m(1), v[3], m(2),
                                                          v[4], p(3, &two), m(4), v[5]); },
          0b11001, 0b00110, {{N, 3, 2, 3, 1, 1}, {T, 3, 2, 4, -1, -1}}, {{N, 0, 2, 1, 1, 1}, {N, 3, 0, 3, 1, 1}},
          {{N, -1, 2, 3, 1, 1}, {N, 3, -1, 3, 1, 1}, {N, 3, 2, 2, 1, 1}, {N, 0, 2, 0, 1, 1}, {N, 3, 2, 3, 0, 1},
           {N, 3, 2, 3, 1, 0}}, {{5, 3, 2, 3, 1, 1}});
  routine("symv", [](const int* v) { return rocblas_ssymv(handle, fill(v[0]), v[1], p(0, &one), m(1), v[2], m(2), v[3],
                                                          p(3, &two), m(4), v[4]); },
          0b11001, 0b00110, {{U, 3, 3, 1, 1}, {U, 3, 4, -1, -1}}, {{U, 0, 1, 1, 1}},
          {{U, -1, 3, 1, 1}, {U, 3, 2, 1, 1}, {U, 0, 0, 1, 1}, {U, 3, 3, 0, 1}, {U, 3, 3, 1, 0}}, {{5, 3, 3, 1, 1}});
  routine("ger", [](const int* v) { return rocblas_sger(handle, v[0], v[1], p(0, &one), m(1), v[2], m(2), v[3], m(3),
                                                        v[4]); },
          0b0001, 0b1110, {{3, 2, 1, 1, 3}, {3, 2, -1, -1, 4}}, {{0, 2, 1, 1, 1}, {3, 0, 1, 1, 3}},
          {{-1, 2, 1, 1, 3}, {3, -1, 1, 1, 3}, {3, 2, 0, 1, 3}, {3, 2, 1, 0, 3}, {3, 2, 1, 1, 2}, {0, 2, 1, 1, 0}}, {});
  routine("syr", [](const int* v) { return rocblas_ssyr(handle, fill(v[0]), v[1], p(0, &one), m(1), v[2], m(2),
                                                        v[3]); },
          0b001, 0b110, {{U, 3, 1, 3}, {U, 3, -1, 4}}, {{U, 0, 1, 1}},
          {{U, -1, 1, 3}, {U, 3, 0, 3}, {U, 3, 1, 2}, {U, 0, 1, 0}}, {{5, 3, 1, 3}});
  const auto gemm = [](const int* v) {
    return rocblas_sgemm_strided_batched(handle, op(v[0]), op(v[1]), v[2], v[3], v[4], p(0, &one), m(1), v[5], 0, m(2),
                                         v[6], 0, p(3, &two), m(4), v[7], 0, v[8]);
  };
  routine("gemm", gemm, 0b11001, 0b00110, {{N, N, 3, 2, 4, 3, 4, 3, 1}, {T, T, 3, 2, 4, 4, 2, 4, 1}},
          {{N, N, 0, 2, 4, 1, 4, 1, 1}, {N, N, 3, 0, 4, 3, 4, 3, 1}, {N, N, 3, 2, 4, 3, 4, 3, 0}},
          {{N, N, -1, 2, 4, 3, 4, 3, 1}, {N, N, 3, -1, 4, 3, 4, 3, 1}, {N, N, 3, 2, -1, 3, 4, 3, 1},
           {N, N, 3, 2, 4, 3, 4, 3, -1}, {N, N, 3, 2, 4, 2, 4, 3, 1}, {N, N, 0, 2, 4, 0, 4, 1, 1},
           {T, N, 3, 2, 4, 3, 4, 3, 1}, {N, N, 3, 2, 4, 3, 3, 3, 1}, {N, T, 3, 2, 4, 3, 1, 3, 1},
           {N, N, 3, 2, 0, 3, 0, 3, 1}, {N, N, 3, 2, 4, 3, 4, 2, 1}, {N, N, 0, 2, 4, 1, 4, 0, 1}},
          {{5, N, 3, 2, 4, 3, 4, 3, 1}, {N, 5, 3, 2, 4, 3, 4, 3, 1}});
  const std::vector<int> none = {N, N, 3, 2, 0, 3, 1, 3, 1};  // a product over nothing
  nulls = 0b00110, is("gemm", "over nothing", none, 0, gemm(none.data()));
  const auto gemm_ex = [](const int* v) {
    const auto type = rocblas_datatype_f32_r;
    return rocblas_gemm_ex(handle, op(N), op(N), v[0], v[1], v[2], p(0, &one), m(1), type, v[3], m(2), type, v[4],
                           p(3, &two), m(4), type, v[5], m(5), type, v[6], type, rocblas_gemm_algo_standard, 0, 0);
  };
  routine("gemm_ex", gemm_ex, 0b111001, 0b000110, {{3, 2, 4, 3, 4, 3, 3}, {3, 2, 4, 3, 4, 4, 5}},
          {{0, 2, 4, 1, 4, 1, 1}}, {{3, 2, 4, 3, 4, 3, 2}, {0, 2, 4, 1, 4, 1, 0}, {3, 2, 4, 3, 4, 2, 3}}, {});
  two = 0;
  const std::vector<int> alone = {3, 2, 4, 3, 4, 3, 3};  // C is not needed where it is times 0
  nulls = 0b010000, is("gemm_ex", "times 0", alone, 0, gemm_ex(alone.data()));
  two = 1;
  routine("syrk", [](const int* v) { return rocblas_ssyrk(handle, fill(v[0]), op(v[1]), v[2], v[3], p(0, &one), m(1),
                                                          v[4], p(2, &two), m(3), v[5]); },
          0b1101, 0b0010, {{U, N, 3, 2, 3, 3}, {U, T, 3, 2, 2, 4}}, {{U, N, 0, 2, 1, 1}},
          {{U, N, -1, 2, 3, 3}, {U, N, 3, -1, 3, 3}, {U, N, 3, 2, 2, 3}, {U, T, 3, 2, 1, 3}, {U, T, 3, 0, 0, 3},
           {U, N, 3, 2, 3, 2}, {U, T, 0, 2, 2, 0}}, {{5, N, 3, 2, 3, 3}, {U, 5, 3, 2, 3, 3}});
  routine("syrkx", [](const int* v) { return rocblas_ssyrkx(handle, fill(U), op(v[0]), v[1], v[2], p(0, &one), m(1),
                                                            v[3], m(2), v[4], p(3, &two), m(4), v[5]); },
          0b11001, 0b00110, {{N, 3, 2, 3, 3, 3}, {T, 3, 2, 2, 2, 4}}, {{N, 0, 2, 1, 1, 1}},
          {{N, 3, 2, 3, 2, 3}, {T, 3, 2, 2, 1, 3}, {T, 3, 0, 1, 0, 3}, {N, 3, 2, 2, 3, 3}}, {{5, 3, 2, 3, 3, 3}});
  routine("symm", [](const int* v) { return rocblas_ssymm(handle, side(v[0]), fill(v[1]), v[2], v[3], p(0, &one), m(1),
                                                          v[4], m(2), v[5], p(3, &two), m(4), v[6]); },
          0b11001, 0b00110, {{L, U, 3, 2, 3, 3, 3}, {R, U, 3, 2, 2, 4, 4}}, {{L, U, 0, 2, 1, 1, 1}, {L, U, 3, 0, 3,
          3, 3}},
          {{L, U, -1, 2, 3, 3, 3}, {L, U, 3, -1, 3, 3, 3}, {L, U, 3, 2, 2, 3, 3}, {R, U, 3, 2, 1, 3, 3},
           {R, U, 3, 0, 0, 3, 3}, {L, U, 3, 2, 3, 2, 3}, {L, U, 0, 2, 1, 0, 1}, {L, U, 3, 2, 3, 3, 2},
           {L, U, 0, 2, 1, 1, 0}}, {{5, U, 3, 2, 3, 3, 3}, {L, 5, 3, 2, 3, 3, 3}});
  routine("trmm", [](const int* v) { return rocblas_strmm(handle, side(v[0]), fill(v[1]), op(v[2]), diagonal(v[3]),
                                                          v[4],
                                                          v[5], p(0, &one), m(1), v[6], m(2), v[7], m(3), v[8]); },
          0b1001, 0b0110, {{L, U, N, D, 3, 2, 3, 3, 3}, {R, U, T, D, 3, 2, 2, 4, 4}},
          {{L, U, N, D, 0, 2, 1, 1, 1}, {L, U, N, D, 3, 0, 3, 3, 3}},
          {{L, U, N, D, -1, 2, 3, 3, 3}, {L, U, N, D, 3, -1, 3, 3, 3}, {L, U, N, D, 3, 2, 2, 3, 3},
           {R, U, N, D, 3, 2, 1, 3, 3}, {R, U, N, D, 3, 0, 0, 3, 3}, {L, U, N, D, 3, 2, 3, 2, 3},
           {L, U, N, D, 0, 2, 1, 0, 1}, {L, U, N, D, 3, 2, 3, 3, 2}, {L, U, N, D, 0, 2, 1, 1, 0}},
          {{5, U, N, D, 3, 2, 3, 3, 3}, {L, 5, N, D, 3, 2, 3, 3, 3}, {L, U, 5, D, 3, 2, 3, 3, 3},
           {L, U, N, 5, 3, 2, 3, 3, 3}});
  routine("trsm", [](const int* v) { return rocblas_strsm(handle, side(v[0]), fill(v[1]), op(v[2]), diagonal(v[3]),
                                                          v[4],
                                                          v[5], p(0, &one), m(1), v[6], m(2), v[7]); },
          0b101, 0b010, {{L, U, N, D, 3, 2, 3, 3}, {R, U, T, D, 3, 2, 2, 4}},
          {{L, U, N, D, 0, 2, 1, 1}, {L, U, N, D, 3, 0, 3, 3}},
          {{L, U, N, D, -1, 2, 3, 3}, {L, U, N, D, 3, -1, 3, 3}, {L, U, N, D, 3, 2, 2, 3}, {R, U, N, D, 3, 2, 1, 3},
           {R, U, N, D, 3, 0, 0, 3}, {L, U, N, D, 3, 2, 3, 2}, {L, U, N, D, 0, 2, 1, 0}},
          {{5, U, N, D, 3, 2, 3, 3}, {L, 5, N, D, 3, 2, 3, 3}, {L, U, 5, D, 3, 2, 3, 3}, {L, U, N, 5, 3, 2, 3, 3}});
  const Rows vectors = {{U, N, D, -1, 3, 1}, {U, N, D, 3, 2, 1}, {U, N, D, 0, 0, 1}, {U, N, D, 3, 3, 0}};
  const Rows values = {{5, N, D, 3, 3, 1}, {U, 5, D, 3, 3, 1}, {U, N, 5, 3, 3, 1}};
  routine("trmv", [](const int* v) { return rocblas_strmv(handle, fill(v[0]), op(v[1]), diagonal(v[2]), v[3], m(0),
                                                          v[4],
                                                          m(1), v[5]); },
          0b11, 0, {{U, N, D, 3, 3, 1}, {U, T, D, 3, 4, -1}}, {{U, N, D, 0, 1, 1}}, vectors, values);
  routine("trsv", [](const int* v) { return rocblas_strsv(handle, fill(v[0]), op(v[1]), diagonal(v[2]), v[3], m(0),
                                                          v[4],
                                                          m(1), v[5]); },
          0b11, 0, {{U, N, D, 3, 3, 1}, {U, T, D, 3, 4, -1}}, {{U, N, D, 0, 1, 1}}, vectors, values);
  routine("geam", [](const int* v) { return rocblas_sgeam(handle, op(v[0]), op(v[1]), v[2], v[3], p(0, &one), m(1),
                                                          v[4],
                                                          p(2, &two), m(3), v[5], m(4), v[6]); },
          0b11101, 0b00010, {{N, N, 3, 2, 3, 3, 3}, {T, T, 3, 2, 2, 2, 4}}, {{N, N, 0, 2, 1, 1, 1}, {N, N, 3, 0, 3,
          3, 3}},
          {{N, N, -1, 2, 3, 3, 3}, {N, N, 3, -1, 3, 3, 3}, {N, N, 3, 2, 2, 3, 3}, {T, N, 3, 2, 1, 3, 3},
           {N, N, 0, 2, 0, 1, 1}, {N, N, 3, 2, 3, 2, 3}, {N, T, 3, 2, 3, 1, 3}, {N, N, 0, 2, 1, 0, 1},
           {N, N, 3, 2, 3, 3, 2}, {N, N, 0, 2, 1, 1, 0}}, {{5, N, 3, 2, 3, 3, 3}, {N, 5, 3, 2, 3, 3, 3}});
  // in place: what each element alone allows
  const auto in_place = [](int first, int second, int lda, int ldb, bool a, bool b) {
    float *c = memory, *other = memory + 1024;
    return (int)rocblas_sgeam(handle, op(first), op(second), 2, 2, &one, a ? c : other, lda, &two, b ? c : other,
    ldb, c, 2);
  };
  std::printf("%d %d %d %d %d %d\n", in_place(N, T, 2, 3, true, false), in_place(T, N, 2, 2, true, false),
              in_place(N, N, 3, 2, true, false), in_place(T, N, 3, 2, false, true), in_place(N, T, 2, 2, false, true),
              in_place(N, N, 2, 3, false, true));
  routine("dgmm", [](const int* v) { return rocblas_sdgmm(handle, side(v[0]), v[1], v[2], m(0), v[3], m(1), v[4], m(2),
                                                          v[5]); },
          0b111, 0, {{L, 3, 2, 3, 1, 3}, {R, 3, 2, 4, -1, 4}}, {{L, 0, 2, 1, 1, 1}, {L, 3, 0, 3, 1, 3}},
          {{L, -1, 2, 3, 1, 3}, {L, 3, -1, 3, 1, 3}, {L, 3, 2, 2, 1, 3}, {L, 0, 2, 0, 1, 1}, {L, 3, 2, 3, 1, 2},
           {L, 0, 2, 1, 1, 0}}, {{5, 3, 2, 3, 1, 3}});
  int codes = hipDeviceSynchronize();
  const auto copied = [](int rows, int columns, int size, const void* a, int lda, void* b, int ldb) {
    return (int)rocblas_set_matrix(rows, columns, size, a, lda, b, ldb);
  };
  float from[4] = {};
  std::printf("%d: %d %d %d %d %d %d %d %d %d %d %d %d\n", codes, copied(2, 2, 4, from, 2, memory, 2),
              copied(0, 2, 4, nullptr, 1, nullptr, 1), copied(2, 0, 4, nullptr, 2, nullptr, 2),
              copied(-1, 2, 4, from, 2, memory, 2), copied(2, -1, 4, from, 2, memory, 2), copied(2, 2, 0, from, 2,
              memory, 2),
              copied(2, 2, 4, from, 1, memory, 2), copied(2, 2, 4, from, 2, memory, 1), copied(0, 2, 4, from, 0,
              memory, 2),
              copied(0, 2, 4, from, 2, memory, 0), copied(2, 2, 4, nullptr, 2, memory, 2), copied(2, 2, 4, from, 2,
              nullptr, 2));
  const auto moved = [](int n, int size, int incx, int incy) {
    static float numbers[8];
    return (int)rocblas_set_vector(n, size, numbers, incx, memory, incy);
  };
  std::printf("%d %d %d %d %d %d %d %d\n", moved(2, 4, 1, 1), moved(2, 4, 2, 1), moved(0, 4, 1, 1), moved(0, 4, 1, 2),
              moved(-1, 4, 1, 1), moved(2, 0, 1, 1), moved(2, 4, 0, 1), moved(2, 4, 1, 0));
}
"""


def test_each_wrong_argument_of_a_routine_has_its_code() -> None:
    """Sizes (rocblas_status_invalid_size: 4), what is no operation (11), pointers that are needed (3), the handle (1).
    Leading dimensions are at least 1 and the rows of their matrix. Where nothing is asked for, no pointer is needed."""
    run = programs.build(ARGUMENTS, archs=("gfx942",)).run(arch="gfx942")
    assert (run.stdout, run.stderr, run.exit_code) == (
        "0 4 4 0 4 4\n0: 0 0 0 4 4 4 4 4 4 4 3 3\n0 0 0 0 4 4 4 4\n", "", 0
    )  # fmt: skip


FORMER = r"""
#include <hip/hip_runtime.h>
#include <hipblas.h>
#include <cstdio>
template <typename In, typename Out, typename Scalar>
void product(hipblasHandle_t h, hipblasDatatype_t in, hipblasDatatype_t out, hipblasDatatype_t computing) {
  const int m = 5, n = 70, k = 9;
  In *a, *b;
  Out* c;
  (void)hipMallocManaged((void**)&a, m * k * sizeof(In));
  (void)hipMallocManaged((void**)&b, k * n * sizeof(In));
  (void)hipMallocManaged((void**)&c, m * n * sizeof(Out));
  for (int i = 0; i < m * k; i++) a[i] = (In)(i % 7 - 3);
  for (int i = 0; i < k * n; i++) b[i] = (In)(i % 251 - 125);
  for (int i = 0; i < m * n; i++) c[i] = (Out)i;
  Scalar two = 2, one = 1;
  hipblasStatus_t status = hipblasGemmEx(h, HIPBLAS_OP_N, HIPBLAS_OP_N, m, n, k, &two, a, in, m, b, in, k, &one, c,
                                         out, m, computing, HIPBLAS_GEMM_DEFAULT);
  (void)hipDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      int sum = 0;
      for (int l = 0; l < k; l++) sum += (int)a[i + l * m] * (int)b[l + j * k];
      wrong += c[i + j * m] != (Out)(2 * sum + i + j * m);
    }
  printf("%d %d\n", status, wrong);
}
int main() {
  hipblasHandle_t h;
  if (hipblasCreate(&h)) return 1;
  hipblasComplex z{3, 4};
  printf("%g\n", z.x + z.y);
  product<float, float, float>(h, HIPBLAS_R_32F, HIPBLAS_R_32F, HIPBLAS_R_32F);
  product<double, double, double>(h, HIPBLAS_R_64F, HIPBLAS_R_64F, HIPBLAS_R_64F);
  product<signed char, int, int>(h, HIPBLAS_R_8I, HIPBLAS_R_32I, HIPBLAS_R_32I);
}
"""


def test_former_names_and_products_of_bytes() -> None:
    """Names until hipBLAS 2 mean today's, with a warning; a Makefile's folder of ROCm means gpulab's headers."""
    read = arguments.read(["-I/opt/rocm/include/hipblas", "x.hip"])
    program = programs.build(FORMER, options=tuple(f"-I{folder}" for folder in read.include))
    for arch in ("gfx942", "gfx1100"):
        assert program.run(arch=arch).stdout.split("\n") == ["7", "0 0", "0 0", "0 0", ""]
