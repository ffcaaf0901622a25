"""AMD's GPUs through ROCm's library. Moving parts: `installation` (is there one that works), `provider`, and for
profiles `recording`, `rocprof` (rocprofv3), `snapshot` and `replay` (a launch repeated in a process of its own)."""

from __future__ import annotations

from gpulab.providers.provider import Provider

TITLE = "ROCm"


def present() -> tuple[bool, str]:
    """Whether ROCm's own library has a usable GPU here, and what was found."""
    from gpulab.providers.rocm import installation

    count, said = installation.devices()
    return count > 0, said


def open_provider() -> Provider:
    """The provider, through hip-python where it can be imported, else through ctypes."""
    from gpulab.providers.hip import library
    from gpulab.providers.rocm import installation
    from gpulab.providers.rocm.provider import RocmProvider

    binding = library.through_hip_python(lambda found: not found.has("gpulab_missing"))
    return RocmProvider(binding or library.through_ctypes(installation.library() or ""))
