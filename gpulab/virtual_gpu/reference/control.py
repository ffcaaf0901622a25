"""`ControlRows`: branches, calls, barriers, the MODE register, register indexing, traps."""

from __future__ import annotations

from gpulab.virtual_gpu import dispatch
from gpulab.virtual_gpu.isa.control import DEBUG_TRAP, PLACES
from gpulab.virtual_gpu.isa.expression import u32, u64
from gpulab.virtual_gpu.isa.instruction import Keyword, Literal, Operand, Symbol
from gpulab.virtual_gpu.isa.instruction_text import hardware_register
from gpulab.virtual_gpu.isa.row import Control
from gpulab.virtual_gpu.reference.operands import Operands, Writes
from gpulab.virtual_gpu.reference.state import Stop


class ControlRows(Operands):
    """Executes them on one wave."""

    def control(self, row: Control) -> Writes:
        wave, operands, kind = self.wave, self.item.operands, row.kind
        if kind in ("wait", "nop", "sleep", "sendmsg"):
            return []
        if kind == "end":
            wave.done = True
        elif kind == "barrier":
            wave.at_barrier = True
        elif kind == "branch":
            wave.pc = self.target(operands[0])
        elif kind == "cbranch":
            if self.condition(row):
                wave.pc = self.target(operands[0])
        elif kind == "getpc":
            return [lambda: self.set_scalar(operands[0], dispatch.code_address(wave.pc), 64)]
        elif kind == "jump":
            wave.pc = self.jump(self.scalar(operands[0], u64))
        elif kind == "call":
            back = dispatch.code_address(wave.pc)
            where = operands[1].value
            wave.pc = (
                self.target(operands[1]) if isinstance(where, Symbol) else self.jump(self.scalar(operands[1], u64))
            )
            self.set_scalar(operands[0], back, 64)
        elif kind in ("time", "realtime"):
            steps = self.machine.steps
            return [lambda: self.set_scalar(operands[0], steps, 64)]
        elif kind == "sendmsg_rtn":
            steps = self.machine.steps
            return [lambda: self.set_scalar(operands[0], steps, row.width)]
        elif kind == "setreg":
            name, first, width = hardware_register(operands[0])
            bits = self.scalar(operands[1], u32)
            if name == "MODE":
                mask = ((1 << width) - 1) << first
                wave.mode = wave.mode & ~mask | bits << first & mask
        elif kind == "getreg":
            name, first, width = hardware_register(operands[1])
            known = {
                "MODE": wave.mode,
                "SHADER_CYCLES": self.machine.steps & 0xFFFFF,
                "SH_MEM_BASES": dispatch.SHARED_APERTURE >> 48 << 16 | dispatch.PRIVATE_APERTURE >> 48,
            }
            bits = known.get(name, 0)
            if name in PLACES:
                bits = self.place_of_wave(name)
            return [lambda: self.set_scalar(operands[0], bits >> first & (1 << width) - 1, 32)]
        elif kind == "round_mode":
            wave.mode = wave.mode & ~0xF | self.scalar(operands[0], u32) & 0xF
        elif kind == "denorm_mode":
            wave.mode = wave.mode & ~0xF0 | (self.scalar(operands[0], u32) & 0xF) << 4
        elif kind in ("gpr_index_on", "gpr_index", "gpr_index_mode"):
            if kind != "gpr_index_mode":
                wave.m0 = wave.m0 & ~0xFF | self.scalar(operands[0], u32) & 0xFF
            if kind != "gpr_index":
                wave.m0 = wave.m0 & ~0xF000 | self.index_mode(operands[-1]) << 12
            wave.gpr_indexing = wave.gpr_indexing or kind == "gpr_index_on"
        elif kind == "gpr_index_off":
            wave.gpr_indexing = False
        elif kind == "trap":
            number = self.scalar(operands[0], u32)
            if number != DEBUG_TRAP:
                raise Stop("trap", detail=f"trap {number}")
        else:
            raise self.unsupported(f"control kind {kind}")
        return []

    def place_of_wave(self, name: str) -> int:
        """The register that says where the wave runs."""
        (x, y, z), (width, height, _) = self.machine.workgroup, self.machine.grid
        of = {"wave": self.wave.number, "group": x + width * (y + height * z)}
        return sum(of[which] // divisor % modulus << shift for shift, which, divisor, modulus in PLACES[name])

    def index_mode(self, operand: Operand) -> int:
        value = operand.value
        if isinstance(value, Literal):
            return int(value.value) & 15
        names = value.text.removeprefix("gpr_idx(").rstrip(")").split(",") if isinstance(value, Keyword) else ["?"]
        bits = {"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8, "": 0}
        if any(name.strip() not in bits for name in names):
            raise self.unsupported("this index mode")
        return sum(bits[name.strip()] for name in names)

    def condition(self, row: Control) -> bool:
        wave = self.wave
        register = {"scc": wave.scc, "vcc": wave.vcc & wave.full, "exec": wave.exec & wave.full}[row.register]
        return bool(register) == row.nonzero

    def target(self, operand: Operand) -> int:
        if not isinstance(operand.value, Symbol) or operand.value.name not in self.machine.program.labels:
            raise self.unsupported("this jump target")
        return self.machine.program.labels[operand.value.name]

    def jump(self, address: int) -> int:
        index = dispatch.instruction_index(address, len(self.machine.program.instructions))
        if index is None:
            raise Stop("bad jump", detail=f"a jump to {address:#x}, where no instruction is")
        return index
