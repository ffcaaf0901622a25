"""libamdhip64: HIP's runtime. The modules beside this one have the functions, each says at its top which;
`capture.around` refuses those that are not allowed while a stream is captured."""

from gpulab.virtual_gpu.libraries.library import Library, Status
from gpulab.virtual_gpu.runtime import codes, structures

LIBRARY = Library(
    __name__,
    "amdhip64",
    major=7,
    status=Status(
        "hipError_t",
        not_supported=codes.NOT_SUPPORTED,
        not_initialized=codes.NOT_INITIALIZED,
        unknown=codes.UNKNOWN,
        of_hip=None,
        answer=codes.NOT_READY,
    ),
    structures={
        "X": structures.Extent,
        "P": structures.PitchedPtr,
        "L": structures.MemoryLocation,
        "D": structures.Dim3,
        "I": structures.IpcHandle,
        "K": structures.ChannelFormat,
    },
    always=True,
    around=f"{__name__}.capture:around",
)
