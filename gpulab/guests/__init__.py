"""Doors through which other packages find gpulab's devices by themselves: docs/guests.md."""
