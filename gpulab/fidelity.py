"""How exactly a virtual device executes a kernel: `fidelity(kernel)` gives a `Report`, a table of what is not exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulab import providers
from gpulab.records import Fidelity, FidelityNote
from gpulab.views.fidelity import fidelity_table
from gpulab.views.table import Table

if TYPE_CHECKING:
    from gpulab.module import Kernel


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """What is exact in a kernel, what approximate, what modelled. `record` has all of it."""

    record: Fidelity

    @property
    def exact(self) -> int:
        """Instructions in the kernel's code whose results are the hardware's own bits."""
        return self.record.count("exact")

    @property
    def approximate(self) -> tuple[FidelityNote, ...]:
        """Instructions whose results are near the hardware's; each states how near."""
        return tuple(note for note in self.record.notes if note.fidelity == "approximate")

    @property
    def modelled(self) -> tuple[FidelityNote, ...]:
        """Instructions that ask for what a virtual device does not have: clocks, places of waves, caches."""
        return tuple(note for note in self.record.notes if note.fidelity == "modelled")

    def table(self, everything: bool = False) -> Table:
        """The instructions that are not exact; with `everything` the exact ones, too."""
        return fidelity_table(self.record, everything)

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def fidelity(kernel: Kernel) -> Report:
    """Say which instructions of a compiled kernel a virtual device of its architecture executes exactly.

    "exact" means the hardware's own bits; "approximate" that a result may differ in its last bits, by what is stated
    in units in the last place (ulp) or as an absolute error; "modelled" that there is no such thing here and something
    stands in for it. The counts are of instructions in the code, not of those executed.

    Args:
        kernel: of a module for any architecture that virtual devices have; no device of it needs to be in use.

    Raises:
        UnsupportedInstruction: the kernel has an instruction that virtual devices do not execute.
    """
    from gpulab.module import kernel_of

    code = kernel_of(kernel, "fidelity").module._code
    return Report(
        providers.analysis().fidelity(
            code.assembly,
            kernel.signature.symbol,
            arch=code.arch,
            name=kernel.name,
            sources={code.name: "\n" * (code.first_line - 1) + code.source},
        )
    )
