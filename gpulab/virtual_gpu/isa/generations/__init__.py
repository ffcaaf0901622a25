"""The generations of the instruction set, one module each: `GENERATION` says what it has; see `generation.py`."""
