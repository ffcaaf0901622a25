"""Stands for one kernel of `server.py`: python client.py SOCKET ARGUMENT...."""

import json
import os
import signal
import socket
import sys


def main() -> None:
    address, *arguments = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as kernel:
        kernel.connect(address)
        wish = {"arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
        socket.send_fds(kernel, [json.dumps(wish).encode() + b"\n"], [1, 2])
        process = int(kernel.makefile("rb").readline())
        signal.signal(signal.SIGINT, lambda *_: os.kill(process, signal.SIGINT))
        kernel.recv(1)  # nothing comes: the kernel's end closes it


main()
