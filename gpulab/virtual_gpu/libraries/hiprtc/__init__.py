"""libhiprtc: programs compiled at run time. `programs` keeps them, `calls` has the functions, `results` the codes."""

from gpulab.virtual_gpu.libraries.hiprtc import results
from gpulab.virtual_gpu.libraries.library import Library, Status
from gpulab.virtual_gpu.runtime import codes

LIBRARY = Library(
    __name__,
    "hiprtc",
    major=7,
    status=Status(
        "hiprtcResult",
        not_supported=results.INTERNAL,
        not_initialized=results.INTERNAL,
        unknown=results.INTERNAL,
        of_hip={codes.INVALID_VALUE: results.INVALID_INPUT, codes.OUT_OF_MEMORY: results.OUT_OF_MEMORY},
    ),
    always=True,
)
