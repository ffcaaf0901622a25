"""A registry of given providers, for tests."""

from __future__ import annotations

import pytest

from gpulab.providers import registry
from gpulab.providers.provider import Provider


def given(monkeypatch: pytest.MonkeyPatch, *providers: Provider) -> registry.Registry:
    """Have gpulab use these providers and no others, as long as the patch holds."""
    found = registry.Registry(dict.fromkeys((provider.name for provider in providers), "gpulab.providers.virtual"))
    found._names = tuple(provider.name for provider in providers)
    found._states = dict.fromkeys(found._names, "given by a test")
    found._open = {provider.name: provider for provider in providers}
    monkeypatch.setattr(registry, "_registry", found)
    return found
