"""The report as text and HTML, and the error of grade cells."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gpulab.grading.criteria import Criterion
from gpulab.grading.verdict import AnswerRejected, Verdict, VerdictRow, _in_notebook
from gpulab.records import FailedCase

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


def test_the_whole_report_as_text():
    """Labels have a column that is two wider than the longest; lines of text end before column 100."""
    rows = (
        VerdictRow("a", "one\n  two  \n", block=True), VerdictRow("longest", "x" * 89 + " y"), VerdictRow("b", ""),
        VerdictRow("c", "", block=True), VerdictRow("d", "x" * 87 + " y"), VerdictRow("e", "x" * 120 + "-y z"),
    )  # fmt: skip
    left = " " * 11
    assert str(Verdict("x", "wrong", "Not yet  ", rows)) == repr(Verdict("x", "wrong", "Not yet", rows)) == "\n".join([
        "Not yet", "  a        one", f"{left}  two", "  longest  " + "x" * 89, f"{left}y", "  b", "  c",
        "  d        " + "x" * 87 + " y", "  e        " + "x" * 120 + "-y", f"{left}z",
    ])  # fmt: skip
    assert Verdict("x", "passed", "Passed").text == "Passed"


CELL = "text-align:left;vertical-align:top;padding:2px 12px 2px 0;"


def test_the_whole_report_as_html(monkeypatch):
    monkeypatch.setattr("gpulab.grading.verdict.from_here", lambda link: f"../{link}" if link == "a&b" else "")
    rows = (VerdictRow("read", "a < b"), VerdictRow("read", "c", block=True), VerdictRow("next", "d"))

    def page(status, link):
        return Verdict("x", status, "Head", rows, "", link)._repr_html_()

    def row(label, value):
        return f'<tr><th scope="row" style="{CELL}">{label}</th><td style="{CELL}">{value}</td></tr>'

    def whole(attribute, colour, first):
        block = '<pre style="margin:0;white-space:pre-wrap;word-break:normal;overflow-wrap:anywhere">c</pre>'
        return (
            f'<div{attribute} style="border-left:4px solid {colour};padding:4px 12px"><strong>Head</strong>'
            f'<table style="border-collapse:collapse">{row("read", first)}{row("read", block)}{row("next", "d")}'
            "</table></div>"
        )

    linked = '<a href="../a&amp;b">a &lt; b</a>'
    assert page("passed", "a&b") == whole("", "#2e7d32", linked)
    assert page("wrong", "a&b") == whole(' class="gpulab-rejected"', "#b26a00", linked)
    assert page("wrong", "other") == page("wrong", "") == whole(' class="gpulab-rejected"', "#b26a00", "a &lt; b")


CASE = FailedCase("x", "k", "gfx942", 64, "n = 1", (1, 1, 1), (1, 1, 1), ())


@pytest.fixture
def shown(monkeypatch):
    """What is displayed: reports, and pictures in place of which only their case is told."""
    found = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: found.append((data, raw)))
    picture = SimpleNamespace(text="the picture", show=lambda: found.append("picture"))
    monkeypatch.setattr("gpulab.views.exercise.failing", lambda case: picture if case is CASE else None)
    return found


def test_what_is_shown(shown, monkeypatch, capsys):
    """In a notebook the report and its picture are displayed, elsewhere the text of both is printed."""
    drawn = replace(WRONG, case=CASE)
    monkeypatch.setattr("gpulab.grading.verdict._in_notebook", lambda: False)
    WRONG.show()
    assert capsys.readouterr().out == f"{WRONG.text}\n"
    drawn.show()
    assert capsys.readouterr().out == f"{WRONG.text}\n\nthe picture\n"
    with pytest.raises(AnswerRejected) as caught:
        drawn.require()
    assert str(caught.value) == WRONG.text
    assert shown == []
    monkeypatch.setattr("gpulab.grading.verdict._in_notebook", lambda: True)
    report = ({"text/plain": WRONG.text, "text/html": WRONG._repr_html_()}, True)
    with pytest.raises(NotImplementedError):
        WRONG._ipython_display_()
    WRONG.show()
    assert shown == [report]
    drawn._ipython_display_()
    assert shown == [report, report, "picture"]
    with pytest.raises(AnswerRejected) as caught:
        drawn.require()
    assert str(caught.value) == "saxpy-guard: not solved yet. The report above says what happened."
    assert caught.value.verdict is drawn
    assert shown[3:] == [report, "picture"]
    assert capsys.readouterr().out == ""
    assert WRONG.picture() is None


@pytest.mark.parametrize(
    ("shell", "found"),
    [
        (None, False),
        (SimpleNamespace(), False),
        (SimpleNamespace(kernel=None), False),
        (SimpleNamespace(kernel=1), True),
    ],
)
def test_only_a_kernel_is_a_notebook(shell, found, monkeypatch):
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    assert _in_notebook() is found
    monkeypatch.delitem(sys.modules, "IPython")
    assert _in_notebook() is False


def test_a_verdict_as_plain_data():
    verdict = replace(WRONG, smallest={"n": 3}, link_text="The guard", criteria=(Criterion("visible", "right", False),))
    plain = verdict.as_dict()
    assert plain == {
        "exercise": "saxpy-guard", "status": "wrong", "headline": "Not yet: <b>",
        "rows": [["line", 'y[i] = x < 3 && "a";', True], ["read", "section “The guard”", False],
                 ["long", "word " * 40, False]],
        "cause": "missing-guard", "link": 'notebooks/02.ipynb#"><script>', "link_text": "The guard",
        "smallest": {"n": 3}, "case": None, "criteria": [["visible", "right", False]],
    }  # fmt: skip
    assert Verdict.from_dict(plain) == verdict
    older = {name: value for name, value in plain.items() if name not in ("case", "criteria")}
    assert Verdict.from_dict(older) == replace(verdict, criteria=())
    assert (bool(verdict), bool(Verdict("x", "passed", "Passed"))) == (False, True)
