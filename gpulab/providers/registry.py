"""Which providers there are, how their devices are numbered, and which device is selected: `MEMBERS`, `Registry`.

The rule: a provider is used if a device of its own is present; their devices are numbered in the order of `MEMBERS`,
and the first one is the default. GPULAB_LIBRARY=NAME begins the list with this provider: those before it are not looked
for. Everything is decided once per process, when the first device is asked for.
"""

from __future__ import annotations

import dataclasses
import importlib
import numbers
import os
import threading
from collections.abc import Mapping
from typing import NoReturn, cast

from gpulab import counter_names
from gpulab.errors import DeviceNotFound, HipError, InternalError
from gpulab.providers.provider import DeviceInfo, Instruments, Member, Provider

MEMBERS: Mapping[str, str] = {"rocm": "gpulab.providers.rocm", "virtual": "gpulab.providers.virtual"}
"""The module (a `Member`) of each provider, in the order of their devices' numbers."""


class _Selected(threading.local):
    """The provider of the selected device: each thread has its own, as each library has a device for each thread."""

    provider: Provider | None = None


class Registry:
    """The providers of this process.

    Args:
        members: as `MEMBERS`.
    """

    def __init__(self, members: Mapping[str, str]) -> None:
        self._members = members
        self._lock = threading.RLock()
        self._local = _Selected()
        self._names: tuple[str, ...] = ()
        self._states: dict[str, str] = {}
        self._open: dict[str, Provider] = {}
        self._first: dict[str, int] = {}  # number of a provider's first device
        self._primary: Provider | None = None
        self._devices: tuple[DeviceInfo, ...] | None = None
        self._owners: tuple[Provider, ...] = ()

    def names(self) -> tuple[str, ...]:
        """The providers that are used, in order.

        Raises:
            HipError: GPULAB_LIBRARY names a provider that there is not, or that has no device here.
        """
        if not self._names:
            with self._lock:
                if not self._names:
                    self._names = self._decide()
        return self._names

    def states(self) -> Mapping[str, str]:
        """What was found of each provider, in a sentence."""
        self.names()
        return self._states

    def _decide(self) -> tuple[str, ...]:
        wish = os.environ.get("GPULAB_LIBRARY", "").strip().lower()
        if wish and wish not in self._members:
            known = ", ".join(f'"{name}"' for name in self._members)
            raise HipError(
                f"GPULAB_LIBRARY is {wish!r}.",
                why=f"it says which library's devices come first: {known}.",
                hint="unset it to let gpulab choose.",
            )
        found: list[str] = []
        for name in self._members:
            if wish and not found and name != wish:
                self._states[name] = f"not looked for: GPULAB_LIBRARY={wish}"
                continue
            there, self._states[name] = self._member(name).present()
            if there:
                found.append(name)
            elif name == wish:
                raise HipError(
                    f"GPULAB_LIBRARY={wish}, but no GPU answers through it: {self._states[name]}.",
                    hint="unset GPULAB_LIBRARY to use the devices that there are, or install what this GPU needs.",
                )
        if not found:
            raise InternalError("no provider has a device", states=self._states)
        return tuple(found)

    def _member(self, name: str) -> Member:
        return cast(Member, importlib.import_module(self._members[name]))

    def title(self, name: str) -> str:
        """What a provider is called in sentences."""
        return self._member(name).TITLE

    def provider(self, name: str) -> Provider:
        """A provider that is used, by its name."""
        found = self._open.get(name)
        if found is None:
            with self._lock:
                found = self._open.get(name)
                if found is None:
                    found = self._member(name).open_provider()
                    counter_names.define(found.counters)
                    self._open[name] = found
        return found

    def all(self) -> tuple[Provider, ...]:
        """Every provider that is used, in order."""
        return tuple(self.provider(name) for name in self.names())

    def selected(self) -> Provider:
        """The provider of the selected device."""
        found = self._local.provider or self._primary
        if found is None:
            found = self._primary = self.provider(self.names()[0])
        return found

    def first(self, provider: Provider) -> int:
        """The number of a provider's first device."""
        if provider is self._primary:
            return 0
        self.devices()
        return self._first[provider.name]

    def current(self) -> int:
        """The number of the selected device."""
        return self.here()[1]

    def here(self) -> tuple[Provider, int]:
        """The provider of the selected device, and the device's number."""
        provider = self._local.provider or self._primary or self.selected()
        number = provider.current()
        return provider, number if provider is self._primary else self.first(provider) + number

    def devices(self) -> tuple[DeviceInfo, ...]:
        """All devices in the order of their numbers."""
        if self._devices is None:
            with self._lock:
                if self._devices is None:
                    found: list[DeviceInfo] = []
                    owners: list[Provider] = []
                    for provider in self.all():
                        self._first[provider.name] = len(found)
                        own = provider.devices()
                        found += [dataclasses.replace(info, index=len(found) + info.index) for info in own]
                        owners += [provider] * len(own)
                    self._owners, self._devices = tuple(owners), tuple(found)
        return self._devices

    def of(self, index: int) -> Provider:
        """The provider of the device with this number."""
        self.devices()
        return self._owners[index]

    def select(self, index: int) -> None:
        """Select a device for this thread.

        Raises:
            DeviceNotFound: there is no device with this number.
        """
        if not 0 <= index < len(self.devices()):
            self._no_device(index)
        provider = self._owners[index]
        provider.select(index - self._first[provider.name])
        self._local.provider = provider

    def find(self, wanted: int | str | DeviceInfo) -> DeviceInfo:
        """The device with this number, gfx name or product name (or a part of it); "virtual:gfx942" asks for one of the
        provider "virtual".

        Raises:
            DeviceNotFound: there is none.
        """
        if isinstance(wanted, DeviceInfo):
            return wanted
        everything = self.devices()
        if not isinstance(wanted, str):
            whole = isinstance(wanted, numbers.Integral) and not isinstance(wanted, bool)
            if whole and 0 <= wanted < len(everything):
                return everything[wanted]
            self._no_device(wanted)
        name = wanted.strip()
        before, _, behind = name.partition(":")
        candidates = everything
        if before.lower() in self._members:
            name = behind
            candidates = tuple(device for device in everything if device.provider == before.lower())
        if name.isdecimal() and len(name) < 9 and int(name) < len(candidates):
            return candidates[int(name)]
        arch = name.partition(":")[0].lower()
        for test in (
            lambda device: device.arch == arch,
            lambda device: device.name.lower() == name.lower(),
            lambda device: bool(name) and name.lower() in device.name.lower(),
        ):
            for device in candidates:
                if test(device):
                    return device
        self._no_device(wanted)

    def _no_device(self, wanted: object) -> NoReturn:
        there = ", ".join(f"{device.index}: {device.name} ({device.arch})" for device in self.devices())
        raise DeviceNotFound(
            f"There is no device {wanted!r}.",
            why=f"the devices are {there}." if there else "no device was found.",
            hint='use a number, a gfx name such as "gfx1100" or a part of the name; '
            "GPULAB_DEVICES names other virtual devices, and HIP_VISIBLE_DEVICES hides some.",
        )

    def environment(self, info: DeviceInfo) -> Mapping[str, str]:
        """The environment variables with which a process of its own has a device as its first one."""
        provider = self.of(info.index)
        return provider.environment(info.index - self._first[provider.name])

    def instruments(self) -> tuple[Instruments, ...]:
        """Those of all providers that have some."""
        return tuple(found for provider in self.all() if (found := provider.instruments) is not None)


_registry = Registry(MEMBERS)


def registry() -> Registry:
    """The registry of this process."""
    return _registry


def names() -> tuple[str, ...]:
    return _registry.names()


def all_instruments() -> tuple[Instruments, ...]:
    return _registry.instruments()


def environment(info: DeviceInfo) -> Mapping[str, str]:
    return _registry.environment(info)


def title(name: str) -> str:
    return _registry.title(name)


def states() -> Mapping[str, str]:
    return _registry.states()


def providers() -> tuple[Provider, ...]:
    return _registry.all()


def selected() -> Provider:
    return _registry.selected()


def of(index: int) -> Provider:
    return _registry.of(index)


def first(provider: Provider) -> int:
    return _registry.first(provider)


def devices() -> tuple[DeviceInfo, ...]:
    return _registry.devices()


def current() -> int:
    return _registry.current()


def here() -> tuple[Provider, int]:
    return _registry.here()


def select(index: int) -> None:
    _registry.select(index)


def find(wanted: int | str | DeviceInfo) -> DeviceInfo:
    return _registry.find(wanted)
