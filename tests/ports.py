"""TCP ports for servers that tests start."""

from __future__ import annotations

import random
import socket

BELOW = range(15_000, 32_000)
"""Systems choose from 32,768 (Linux) or 49,152 on where a program asks for any port, or connects to another one."""


def free_port() -> int:
    """A port of this machine that nobody listens on, and that nobody gets who asks for any."""
    for port in random.sample(BELOW, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"none of 100 ports from {BELOW.start} to {BELOW.stop} is free")
