"""Texts of faults: kernels are called by the names that learners gave them."""

import pytest

from gpulab.providers.faults import plain_name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z5saxpyifPKfPf", "saxpy"),
        ("_Z5scaleIfEvPT_i", "scale"),
        ("_ZN5tools4fillEPfi", "tools::fill"),
        ("_ZL6hiddenv", "hidden"),
        ("plain", "plain"),
        ("_Zoops", "_Zoops"),
    ],
)
def test_symbols_become_names(symbol, name):
    assert plain_name(symbol) == name
