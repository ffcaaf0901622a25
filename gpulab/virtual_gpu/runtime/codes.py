"""HIP's error codes: `NAMES` and `TEXTS` by number, the codes as constants, and `Failure`, which carries one.

Numbers and names are hip_runtime_api.h's; the texts say the same as hipGetErrorString of HIP 7.
"""

from __future__ import annotations

_TABLE = """
0 hipSuccess no error
1 hipErrorInvalidValue invalid argument
2 hipErrorOutOfMemory out of memory
3 hipErrorNotInitialized initialization error
4 hipErrorDeinitialized driver shutting down
5 hipErrorProfilerDisabled profiler disabled while using external profiling tool
6 hipErrorProfilerNotInitialized profiler is not initialized
7 hipErrorProfilerAlreadyStarted profiler already started
8 hipErrorProfilerAlreadyStopped profiler already stopped
9 hipErrorInvalidConfiguration invalid configuration argument
12 hipErrorInvalidPitchValue invalid pitch argument
13 hipErrorInvalidSymbol invalid device symbol
17 hipErrorInvalidDevicePointer invalid device pointer
21 hipErrorInvalidMemcpyDirection invalid copy direction for memcpy
35 hipErrorInsufficientDriver driver version is insufficient for runtime version
52 hipErrorMissingConfiguration __global__ function call is not configured
53 hipErrorPriorLaunchFailure unspecified launch failure in prior launch
98 hipErrorInvalidDeviceFunction invalid device function
100 hipErrorNoDevice no ROCm-capable device is detected
101 hipErrorInvalidDevice invalid device ordinal
200 hipErrorInvalidImage device kernel image is invalid
201 hipErrorInvalidContext invalid device context
202 hipErrorContextAlreadyCurrent context is already current context
205 hipErrorMapFailed mapping of buffer object failed
206 hipErrorUnmapFailed unmapping of buffer object failed
207 hipErrorArrayIsMapped array is mapped
208 hipErrorAlreadyMapped resource already mapped
209 hipErrorNoBinaryForGpu no kernel image is available for execution on the device
210 hipErrorAlreadyAcquired resource already acquired
211 hipErrorNotMapped resource not mapped
212 hipErrorNotMappedAsArray resource not mapped as array
213 hipErrorNotMappedAsPointer resource not mapped as pointer
214 hipErrorECCNotCorrectable uncorrectable ECC error encountered
215 hipErrorUnsupportedLimit limit is not supported on this architecture
216 hipErrorContextAlreadyInUse exclusive-thread device already in use by a different thread
217 hipErrorPeerAccessUnsupported peer access is not supported between these two devices
218 hipErrorInvalidKernelFile invalid kernel file
219 hipErrorInvalidGraphicsContext invalid OpenGL or DirectX context
300 hipErrorInvalidSource device kernel image is invalid
301 hipErrorFileNotFound file not found
302 hipErrorSharedObjectSymbolNotFound shared object symbol not found
303 hipErrorSharedObjectInitFailed shared object initialization failed
304 hipErrorOperatingSystem OS call failed or operation not supported on this OS
400 hipErrorInvalidHandle invalid resource handle
401 hipErrorIllegalState the operation cannot be performed in the present state
500 hipErrorNotFound named symbol not found
600 hipErrorNotReady device not ready
700 hipErrorIllegalAddress an illegal memory access was encountered
701 hipErrorLaunchOutOfResources too many resources requested for launch
702 hipErrorLaunchTimeOut the launch timed out and was terminated
704 hipErrorPeerAccessAlreadyEnabled peer access is already enabled
705 hipErrorPeerAccessNotEnabled peer access has not been enabled
708 hipErrorSetOnActiveProcess cannot set while device is active in this process
709 hipErrorContextIsDestroyed context is destroyed
710 hipErrorAssert device-side assert triggered
712 hipErrorHostMemoryAlreadyRegistered part or all of the requested memory range is already mapped
713 hipErrorHostMemoryNotRegistered pointer does not correspond to a registered memory region
719 hipErrorLaunchFailure unspecified launch failure
720 hipErrorCooperativeLaunchTooLarge too many blocks in cooperative launch
801 hipErrorNotSupported operation not supported
900 hipErrorStreamCaptureUnsupported operation not permitted when stream is capturing
901 hipErrorStreamCaptureInvalidated operation failed due to a previous error during capture
902 hipErrorStreamCaptureMerge operation would result in a merge of separate capture sequences
903 hipErrorStreamCaptureUnmatched capture was not ended in the same stream as it began
904 hipErrorStreamCaptureUnjoined capturing stream has unjoined work
905 hipErrorStreamCaptureIsolation dependency created on uncaptured work in another stream
906 hipErrorStreamCaptureImplicit operation would make the legacy stream depend on a capturing blocking stream
907 hipErrorCapturedEvent operation not permitted on an event last recorded in a capturing stream
908 hipErrorStreamCaptureWrongThread attempt to terminate a thread-local capture sequence from another thread
910 hipErrorGraphExecUpdateFailure graph update refused: it changes what an instantiated graph cannot change
911 hipErrorInvalidChannelDescriptor invalid channel descriptor
912 hipErrorInvalidTexture invalid texture
914 hipErrorInvalidResourceType invalid resource type
915 hipErrorInvalidResourceConfiguration invalid resource configuration
916 hipErrorStreamDetached stream is detached
999 hipErrorUnknown unknown error
1052 hipErrorRuntimeMemory runtime memory call returned error
1053 hipErrorRuntimeOther runtime call other than memory returned error
1054 hipErrorInvalidClusterSize invalid cluster size
1055 hipErrorTbd error code to be defined
"""

NAMES: dict[int, str] = {}
TEXTS: dict[int, str] = {}
for _line in _TABLE.strip().splitlines():
    _number, _name, _text = _line.split(maxsplit=2)
    NAMES[int(_number)], TEXTS[int(_number)] = _name, _text

SUCCESS = 0
INVALID_VALUE = 1
OUT_OF_MEMORY = 2
NOT_INITIALIZED = 3
INVALID_CONFIGURATION = 9
INVALID_PITCH = 12
INVALID_SYMBOL = 13
INVALID_DEVICE_POINTER = 17
INVALID_COPY_DIRECTION = 21
MISSING_CONFIGURATION = 52
INVALID_DEVICE_FUNCTION = 98
NO_DEVICE = 100
INVALID_DEVICE = 101
INVALID_IMAGE = 200
INVALID_CONTEXT = 201
MAP_FAILED = 205
NO_BINARY_FOR_GPU = 209
UNSUPPORTED_LIMIT = 215
FILE_NOT_FOUND = 301
OPERATING_SYSTEM = 304
INVALID_HANDLE = 400
ILLEGAL_STATE = 401
NOT_FOUND = 500
NOT_READY = 600
ILLEGAL_ADDRESS = 700
LAUNCH_TIMEOUT = 702
PEER_ALREADY_ENABLED = 704
PEER_NOT_ENABLED = 705
CONTEXT_IS_DESTROYED = 709
HOST_ALREADY_REGISTERED = 712
HOST_NOT_REGISTERED = 713
LAUNCH_FAILURE = 719
COOPERATIVE_LAUNCH_TOO_LARGE = 720
NOT_SUPPORTED = 801
STREAM_CAPTURE_UNSUPPORTED = 900
STREAM_CAPTURE_INVALIDATED = 901
STREAM_CAPTURE_MERGE = 902
STREAM_CAPTURE_UNMATCHED = 903
STREAM_CAPTURE_UNJOINED = 904
STREAM_CAPTURE_ISOLATION = 905
STREAM_CAPTURE_IMPLICIT = 906
CAPTURED_EVENT = 907
STREAM_CAPTURE_WRONG_THREAD = 908
GRAPH_EXEC_UPDATE_FAILURE = 910
UNKNOWN = 999
INTERRUPTED = 1 << 20  # for the C stub alone: hipErrorUnknown, and Ctrl-C is to be raised again


class Failure(Exception):
    """A HIP call ends with this code. `reason` is for the reader, where the code alone says too little."""

    def __init__(self, code: int, reason: str = "") -> None:
        self.code, self.reason = code, reason
        super().__init__(reason or NAMES.get(code, str(code)))
