"""What a hint says, as text and as HTML."""

from __future__ import annotations

import pytest

from gpulab.grading.hints import Hint


@pytest.mark.parametrize(
    ("step", "more"),
    [(1, 'gpulab.hint("sum") again'), (2, "One more is left"), (3, 'gpulab.hint("sum", step=1) starts over')],
)
def test_each_step_says_what_is_left(step: int, more: str) -> None:
    hint = Hint("sum", step, "Look at the bound.")
    first, second = hint.text.split("\n")
    assert first == f"Hint {step} of 3: Look at the bound."
    assert more in second
    assert str(hint) == repr(hint) == hint.text


def test_a_message_comes_first() -> None:
    lines = Hint("sum", 2, "Look.", "The progress file is new.").text.split("\n")
    assert lines[:2] == ["The progress file is new.", "Hint 2 of 3: Look."]


def test_html_has_code_and_escapes_the_rest() -> None:
    page = Hint("sum", 2, "Is `a < b` or <b>c</b>? Hint of 3: none")._repr_html_()
    assert page.startswith("<p><strong>Hint 2 of 3:</strong> Is <code>a &lt; b</code> or &lt;b&gt;c&lt;/b&gt;? ")
    assert page.count("<strong>") == page.count("</strong>") == 1
    assert page.count("<p>") == page.count("</p>") == 2
