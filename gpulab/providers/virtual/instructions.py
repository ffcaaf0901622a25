"""What the virtual GPU's instructions mean: `entries` of a name, `search` in meanings, `meaning` on a device."""

from __future__ import annotations

from gpulab.records import InstructionEntry


def entries(name: str) -> tuple[InstructionEntry, ...]:
    """One entry for each meaning of a mnemonic.

    Raises:
        UnsupportedInstruction: no device executes it; says why, or what is nearest.
    """
    from gpulab.virtual_gpu.isa import index

    return index.entries(name)


def search(text: str) -> tuple[InstructionEntry, ...]:
    """The instructions with all words of a text in name, meaning or formula."""
    from gpulab.virtual_gpu.isa import index

    return index.search(text)


def meaning(arch: str, mnemonic: str) -> str:
    """The words of one instruction on a device; "" where there are none."""
    from gpulab.virtual_gpu.isa import index

    return index.meaning(arch, mnemonic)
