"""`MatrixRows`: matrix instructions, whose numbers `matrix` computes."""

from __future__ import annotations

from collections.abc import Sequence

from gpulab.virtual_gpu.isa.instruction import Operand, Register
from gpulab.virtual_gpu.isa.matrix import index_set, registers
from gpulab.virtual_gpu.isa.row import Matrix
from gpulab.virtual_gpu.reference.matrix import TYPES as MATRIX_TYPES
from gpulab.virtual_gpu.reference.matrix import constant, dense, multiply
from gpulab.virtual_gpu.reference.operands import Operands, Writes


class MatrixRows(Operands):
    """Executes them on one wave."""

    def matrix(self, row: Matrix) -> Writes:
        """D = A B + C in all lanes, whatever EXEC says."""
        if len(self.item.operands) != 4:
            raise self.unsupported("a matrix instruction has the operands D, A, B and C")
        target, *sources = self.item.operands
        words = []
        if row.layout == "smfmac":
            return self.sparse_matrix(row, target, sources)
        for name, operand in zip("dabd", (target, *sources), strict=True):
            value = operand.value
            if isinstance(value, Register) and value.file in ("v", "a"):
                if value.count != registers(row, name, self.wave.size):
                    raise self.unsupported(f"{value.count} registers for one of its matrices")
                words.append(self.words(value))
            elif operand is sources[2]:
                words.append(constant(row, self.scalar(operand, MATRIX_TYPES[row.d]), self.wave.size))
            else:
                raise self.unsupported("an A, B or D that is no vector register")
        found = multiply(row, words[1], words[2], words[3], words[0], self.item.modifiers)

        def write() -> None:
            words[0][:] = found

        return [write]

    def sparse_matrix(self, row: Matrix, target: Operand, sources: Sequence[Operand]) -> Writes:
        """D += A B, where A is sparse and the last operand has its indices."""
        words = []
        for wanted, operand in zip(
            (*(registers(row, name, self.wave.size) for name in "dab"), 1), (target, *sources), strict=True
        ):
            value = operand.value
            if not isinstance(value, Register) or value.file not in ("v", "a") or value.count != wanted:
                raise self.unsupported("a matrix that is not in the registers it takes")
            words.append(self.words(value))
        modifiers = self.item.modifiers
        cbsz, abid = (n if isinstance(n := modifiers.get(name, 0), int) else 0 for name in ("cbsz", "abid"))
        first, bits = index_set(row, cbsz, abid)
        found = multiply(row, dense(row, words[1], words[3][0], first, bits), words[2], words[0], words[0], {})

        def write() -> None:
            words[0][:] = found

        return [write]
