"""``python -m gpulab``: the same as the command ``gpulab``."""

import sys

from gpulab.cli import main

sys.exit(main())
