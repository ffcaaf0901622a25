"""The report as text and HTML, and the error of grade cells."""

import pytest

from gpulab.grading.verdict import AnswerRejected, Verdict, VerdictRow

WRONG = Verdict(
    "saxpy-guard",
    "wrong",
    "Not yet: <b>",
    (
        VerdictRow("line", 'y[i] = x < 3 && "a";', block=True),
        VerdictRow("read", "section “The guard”"),
        VerdictRow("long", "word " * 40),
    ),
    "missing-guard",
    'notebooks/02.ipynb#"><script>',
)


def test_html_escapes_all_that_comes_from_outside():
    page = WRONG._repr_html_()
    assert "<script" not in page
    assert "Not yet: &lt;b&gt;" in page
    assert "x &lt; 3 &amp;&amp; &quot;a&quot;;" in page
    assert "word-break:normal" in page  # JupyterLab breaks words of <pre> anywhere


def test_text_is_wrapped_and_indented_under_its_label():
    lines = WRONG.text.splitlines()
    assert lines[0] == "Not yet: <b>"
    assert all(len(line) <= 100 for line in lines)
    assert lines[3].startswith("  long  word word")
    assert lines[4].startswith("        word")


def test_require_passes_a_right_answer_through_and_rejects_a_wrong_one_with_the_report():
    right = Verdict("x", "passed", "Passed")
    assert right.require() is right
    with pytest.raises(AnswerRejected, match="section “The guard”") as caught:
        WRONG.require()
    assert isinstance(caught.value, AssertionError)
    assert caught.value.verdict is WRONG
    assert caught.value._render_traceback_() == [WRONG.text]


def test_the_reason_is_the_row_that_says_most():
    rows = (VerdictRow("what", "many\n words"), VerdictRow("tried", "2 runs"), VerdictRow("required", "no more"))
    assert Verdict("x", "wrong", "Not yet", rows).reason == "no more"
    assert Verdict("x", "wrong", "Not yet", rows[:2]).reason == "many words"
    assert Verdict("x", "passed", "Passed", rows[1:2]).reason == ""


def test_a_verdict_survives_the_way_through_a_file():
    import json

    assert Verdict.from_dict(json.loads(json.dumps(WRONG.as_dict()))) == WRONG
