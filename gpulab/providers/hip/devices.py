"""Devices of a HIP library: what they are (`hipDeviceProp_t` as `DeviceInfo`), which is selected, waiting for it."""

from __future__ import annotations

from collections.abc import Mapping

from gpulab.providers.hip.calls import Calls
from gpulab.providers.provider import DeviceInfo, Limits, Triple


def _number(properties: Mapping[str, object], name: str) -> int:
    value = properties[name]
    assert isinstance(value, int), name
    return value


def _triple(properties: Mapping[str, object], name: str) -> Triple:
    x, y, z = map(int, properties[name])  # type: ignore[call-overload]  # a tuple, a list or an array of hip-python
    return x, y, z


class Devices(Calls):
    """The calls for devices."""

    name: str
    virtual: bool
    _devices: tuple[DeviceInfo, ...] | None = None

    def devices(self) -> tuple[DeviceInfo, ...]:
        if self._devices is None:
            self._devices = tuple(self._info(index) for index in range(self._call("hipGetDeviceCount")[0]))
        return self._devices

    def _info(self, index: int) -> DeviceInfo:
        code, properties = self.binding.properties(index)
        if code:
            self.fail(code, "hipGetDeviceProperties")
        # On RDNA HIP's multiprocessor is a work-group processor: two compute units.
        per_multiprocessor = 2 if _number(properties, "major") >= 10 else 1
        return DeviceInfo(
            index=index,
            name=str(properties["name"]),
            arch=str(properties["gcnArchName"]).partition(":")[0],
            wave_size=_number(properties, "warpSize"),
            compute_units=_number(properties, "multiProcessorCount") * per_multiprocessor,
            virtual=self.virtual,
            memory_bytes=_number(properties, "totalGlobalMem"),
            limits=Limits(
                block_threads=_number(properties, "maxThreadsPerBlock"),
                block=_triple(properties, "maxThreadsDim"),
                grid=_triple(properties, "maxGridSize"),
                lds_bytes=_number(properties, "sharedMemPerBlock"),
                unit_threads=_number(properties, "maxThreadsPerMultiProcessor"),
            ),
            provider=self.name,
            properties=properties,
        )

    def current(self) -> int:
        return self._call("hipGetDevice")[0]

    def select(self, index: int) -> None:
        self._call("hipSetDevice", index)

    def synchronize(self) -> None:
        self._call("hipDeviceSynchronize")

    def version(self) -> str:
        """ "HIP 7.15.26333"."""
        version = self._call("hipRuntimeGetVersion")[0]
        return f"HIP {version // 10_000_000}.{version // 100_000 % 100}.{version % 100_000}"
