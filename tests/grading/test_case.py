"""Cases of exercises: how their elements are named."""

import numpy as np
import pytest

from gpulab.grading.case import Array


@pytest.mark.parametrize(
    ("shape", "flat", "name"),
    [
        ((3, 4), 0, "out[0] (row 0, column 0)"),
        ((3, 4), 7, "out[7] (row 1, column 3)"),
        ((3, 4), 11, "out[11] (row 2, column 3)"),
        ((3, 4), 12, "out[12]"),  # one past the end has no row
        ((3, 4), -1, "out[-1]"),
        ((12,), 7, "out[7]"),
    ],
)
def test_an_element_is_named_with_its_row_and_column(shape, flat, name):
    assert Array("out", np.zeros(shape, np.float32)).index_text(flat) == name
