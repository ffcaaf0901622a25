"""What the GPU's instructions mean: `instruction("v_add_f32")` is a table of one, `search("carry")` of those found."""

from __future__ import annotations

from gpulab.errors import ArgumentError
from gpulab.views.instructions import found_table, instruction_table
from gpulab.views.table import Table


def instruction(name: str) -> Table:
    """What one instruction means: formula, operands, accuracy, rate, devices, other names, where to read on.

    Args:
        name: its mnemonic, with or without the suffix of an encoding: "v_add_f32", "v_add_f32_e64".

    Returns:
        a table; it shows itself in a notebook, and ``print`` gives it as text.

    Raises:
        UnsupportedInstruction: no device executes it; says why, or what is nearest.
        ArgumentError: `name` is no text.
    """
    if not isinstance(name, str):
        raise ArgumentError(
            f"gpulab.instruction takes an instruction's name, and was given a {type(name).__name__}.",
            hint='gpulab.instruction("v_add_f32"); kernel.isa shows the instructions of a kernel.',
        )
    from gpulab.providers.virtual import instructions

    return instruction_table(instructions.entries(name))


def search(text: str, arch: str = "") -> Table:
    """The instructions with all words of a text in their name, meaning or formula.

    Args:
        text: for example "carry", in any case.
        arch: only those of this device.

    Raises:
        DeviceNotFound: there is no virtual device of this architecture.
    """
    from gpulab import architectures
    from gpulab.providers.virtual import instructions

    arch = architectures.get(arch).name if arch else ""
    found = instructions.search(text)
    return found_table(text, [entry for entry in found if not arch or arch in entry.devices])
