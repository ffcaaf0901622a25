"""`ProgramCase`: a command line, and what the program must write and end with; the counterpart of `case.Case`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gpulab.grading.case import Parameters
from gpulab.grading.wording import counted

WIDEST = 120
"""Characters of a line of output that a report shows."""


@dataclass(frozen=True)
class ProgramCase:
    """One run of the program.

    Args:
        arguments: of its command line.
        expected: what it must write to standard output, line by line (spaces at the end of lines and of the output do
            not count), or a function of that text that returns "" or what is wrong with it.
        exit_code: with which it must end.
        stdin: what it can read.
        parameters: for requirements and causes that depend on the case.
        computed: what kernels must compute and the host must read: sequences of numbers, each as it lies in memory.
        given: what the host copies to the device, where the exercise says so: sequences of numbers, like `computed`.
        devices: architectures of further virtual devices that the machine has, behind those of the exercise.
    """

    arguments: tuple[str, ...] = ()
    expected: str | Callable[[str], str] = ""
    exit_code: int = 0
    stdin: str = ""
    parameters: Parameters = field(default_factory=dict)
    computed: tuple[Sequence[float], ...] = ()
    given: tuple[Sequence[float], ...] = ()
    devices: tuple[str, ...] = ()

    def text(self) -> str:
        """The command line, as a person writes it."""
        import shlex

        shown = shlex.join(("./program", *self.arguments))
        return shown + (f" with {len(self.stdin.splitlines())} lines of input" if self.stdin else "")

    def complaint(self, stdout: str) -> str:
        """What is wrong with this output; "" if nothing is."""
        if callable(self.expected):
            return self.expected(stdout)
        wanted, found = (text.rstrip().split("\n") for text in (self.expected, stdout))
        wanted, found = ([line.rstrip() for line in lines] for lines in (wanted, found))
        if wanted == found:
            return ""
        for number, (one, other) in enumerate(zip(wanted, found, strict=False), 1):
            if one != other:
                return f"line {number} should be\n  {cut(one)}\nbut is\n  {cut(other)}"
        if len(found) > len(wanted):
            surplus = cut(found[len(wanted)])
            return f"there is more than {counted(len(wanted), 'line')}: line {len(wanted) + 1} is\n  {surplus}"
        missing = cut(wanted[len(found)])
        return f"there are {counted(len(found), 'line')} instead of {len(wanted)}: missing is\n  {missing}"


def cut(line: str) -> str:
    """A line of output as a report shows it."""
    return line if len(line) <= WIDEST else line[: WIDEST - 1] + "…"
