"""What an answer is judged by, one by one: `Criterion`. Points, and partial ones, are computed from these elsewhere.

`Tally` collects what runs show: outputs are right on the cases that everybody knows ("visible"), and on those that
were drawn with a seed ("hidden"); no run had a fault ("faults"); each requirement is met (by its own name).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpulab.grading.outcome import Outcome, ProgramOutcome

VISIBLE, HIDDEN, FAULTS = "visible", "hidden", "faults"
TITLES = {
    VISIBLE: "right on the cases that the exercise shows",
    HIDDEN: "right on other cases, drawn for this grading",
    FAULTS: "no faults and no races",
}


@dataclass(frozen=True)
class Criterion:
    """One of the things that an answer is judged by.

    Args:
        name: "visible", "hidden", "faults", or a requirement's name.
        title: for the learner, one clause.
        passed: None where it was not judged: there was no seed, or nothing that could be judged by it.
    """

    name: str
    title: str
    passed: bool | None = None


def refused(requirements: Mapping[str, str]) -> tuple[Criterion, ...]:
    """The criteria of a source that cannot be run at all: it is right on nothing, and else not judged.

    Args:
        requirements: the exercise's, title by name.
    """
    titles = {**TITLES, **requirements}
    return tuple(Criterion(name, title, False if name == VISIBLE else None) for name, title in titles.items())


@dataclass
class Tally:
    """What the runs of one source have shown so far. `requirements`: the exercise's, title by name."""

    requirements: Mapping[str, str]
    _found: dict[str, bool] = field(default_factory=dict)
    _known: int = 0
    _right: int = 0

    def add(self, outcome: Outcome | ProgramOutcome, met: Mapping[str, bool]) -> None:
        """One run, and of the requirements that were asked about it which are met."""
        right = outcome.right and not outcome.unsteady
        if not outcome.hidden:
            self._known += 1
            self._right += right
        kind = HIDDEN if outcome.hidden else VISIBLE
        for name, passed in ((kind, right), (FAULTS, outcome.clean), *met.items()):
            self._found[name] = self._found.get(name, True) and passed

    def criteria(self, finished: bool) -> tuple[Criterion, ...]:
        """The criteria. What holds counts as judged only if it was `finished`: if all cases were run.

        Of an answer that is wrong on most known cases nothing more is: one that does nothing has no faults either.
        """
        telling = 2 * self._right >= self._known
        found = {
            name: passed
            for name, passed in self._found.items()
            if not passed or (finished and (telling or name in (VISIBLE, HIDDEN)))
        }
        return tuple(Criterion(name, title, found.get(name)) for name, title in {**TITLES, **self.requirements}.items())
