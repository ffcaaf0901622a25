"""`HipProvider`: what all providers share whose library has HIP's C interface."""

from __future__ import annotations

from gpulab.counter_names import Counter
from gpulab.providers.hip.code import Code
from gpulab.providers.hip.launches import Launches
from gpulab.providers.hip.memory import Memory
from gpulab.providers.hip.streams import Streams


class HipProvider(Launches, Memory, Code, Streams):
    """A HIP library. A member adds its name, what it lacks, its instruments and how launches are recorded."""

    counters: tuple[Counter, ...] = ()  # AMD's, which `counter_names` has
