"""Kernels of tests/warm: they start whatever else runs on the machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm

ROOT = Path(__file__).resolve().parents[1]
STARTS = """
import sys
from tests import warm
warm.without_ports()
from jupyter_client.manager import KernelManager
manager = KernelManager(kernel_name=warm.NAME, shell_port=int(sys.argv[1]), cache_ports=False)
manager.start_kernel(extra_arguments=["--log-level=50"])
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)
print(client.execute_interactive("x = 1 + 1", user_expressions={"x": "x"})["content"]["user_expressions"]["x"]["data"])
client.stop_channels()
manager.shutdown_kernel()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork kernels have ports")
def test_a_kernel_starts_where_another_process_has_taken_its_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = subprocess.run(
            [sys.executable, "-c", STARTS, str(taken.getsockname()[1])],
            cwd=ROOT,
            env={**os.environ, "JUPYTER_PATH": str(warm.specs().added)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.stdout.endswith("{'text/plain': '2'}\n"), ran.stderr[-2000:]
