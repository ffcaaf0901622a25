"""Records: counters are a mapping like any other."""

import pytest

from gpulab.records import Counters


def test_counters_are_a_mapping() -> None:
    counters = Counters({"SQ_WAVES": 4, "SQ_INSTS_VALU": 24})
    assert counters["SQ_WAVES"] == 4
    assert list(counters) == ["SQ_WAVES", "SQ_INSTS_VALU"]
    assert list(counters.values()) == [4, 24]
    assert dict(counters.items()) == {"SQ_WAVES": 4, "SQ_INSTS_VALU": 24}
    assert counters.get("SQ_BUSY", 0) == 0
    assert counters == Counters({"SQ_INSTS_VALU": 24, "SQ_WAVES": 4})


def test_an_unknown_counter_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match="no counter 'SQ_WAVE' here; there are SQ_WAVES"):
        Counters({"SQ_WAVES": 4})["SQ_WAVE"]
