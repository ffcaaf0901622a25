"""gpulab's own GPUs, whose library has HIP's interface and runs in this process.

The only part of gpulab that names `virtual_gpu`, beside `hip.library`, which points hip-python to it. Moving parts:
`provider`, `instruments` (what hardware cannot do), `recording`, `hosting` (for whole programs).
"""

from __future__ import annotations

from gpulab.providers.provider import Provider

TITLE = "the virtual HIP library"


def present() -> tuple[bool, str]:
    """It is always there: it is built when it is first used."""
    return True, "gpulab's own"


def open_provider() -> Provider:
    """The provider: through hip-python if that uses the virtual library, else through ctypes."""
    from gpulab.providers.hip import library
    from gpulab.providers.virtual.provider import VirtualProvider
    from gpulab.virtual_gpu import libraries

    binding = library.through_hip_python(lambda found: found.has("gpulab_missing"))
    return VirtualProvider(binding or library.through_ctypes(str(libraries.path("hip")), in_process=True))
