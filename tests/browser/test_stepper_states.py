"""The wave stepper's states, put together from windows of changes that a stand-in for the kernel sends: what registers
and LDS hold before and after each step, and which windows are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Vector registers 0 and 1 of two lanes, scalar registers 2 and 3. Steps of the window that begins at 10: register 1;
# the scalar register 3; both vector registers and LDS.
STAND_IN = """
const m = await import("./stepper_states.js");
const asked = [], hearing = [];
const view = (words) => new DataView(new Uint32Array(words).buffer);
const model = {
  get() {}, on(event, hear) { hearing.push(hear); }, off() {},
  send({id, question}) {
    asked.push(question.window);
    const reply = {
      first: question.window, count: COUNT, scalars: [7, "ffffffff00000001"], last: [-1, 4, -1, -1],
      steps: [
        [[1], [], [["lds", "write", 4, [1], ["4"], [9]]], []],
        [[], [[3, "20000000a"]], [], []],
        [[0, 1], [[2, 8]], [], [[3, "a1b2"], [8, "ff"]]],
        ...Array(COUNT - 3).fill([[], [], [], []]),
      ],
    };
    const buffers = [view([1, 2, 3, 4]), view([5, 6, 10, 20, 30, 40]), view([0x04030201, 0, 0])];
    queueMicrotask(() => hearing.at(-1)({id, reply}, buffers));
  },
};
const states = m.statesOf(model, {size: 2, vectors: 2, count: TOTAL});
"""


def told(page: Page, body: str, count: int = 5, total: int = 1000) -> Any:
    stand_in = STAND_IN.replace("COUNT", str(count)).replace("TOTAL", str(total))
    return page.evaluate(f"async () => {{ {stand_in} {body} }}")


@pytest.mark.parametrize("order", [(10, 11, 12, 13), (13, 12, 11, 10), (12, 10, 13, 11)])
def test_registers_before_and_after_each_step(page: Page, order: tuple[int, ...]) -> None:
    found = told(page, f"""
        await states.load(10);
        const found = {{}};
        for (const step of {list(order)}) {{
          const state = states.at(step);
          found[step] = [false, true].map((after) => [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [3, 0]].map(
            ([register, lane]) => states.words(state, register, lane, after)));
        }}
        return found;""")  # fmt: skip
    wide, later = [1, 0xFFFFFFFF], [10, 2]
    at = {
        10: [[1], [2], [3], [4], [7], wide], 11: [[1], [2], [5], [6], [7], wide],
        12: [[1], [2], [5], [6], [7], later], 13: [[10], [20], [30], [40], [8], later],
    }  # fmt: skip
    at[14] = at[13]
    assert found == {str(step): [at[step], at[step + 1]] for step in order}


def test_when_a_register_was_written_last(page: Page) -> None:
    """Before the window: never (-1), or at step 4."""
    found = told(page, "await states.load(10); return [10, 11, 12, 13].map((k) => [...states.at(k).before.last]);")
    assert found == [[-1, 4, -1, -1], [-1, 10, -1, -1], [-1, 10, -1, 11], [12, 12, 12, 11]]


def test_lds_and_accesses_of_a_step(page: Page) -> None:
    found = told(page, """
        await states.load(10);
        return [12, 11, 13, 10].map((k) => {
          const s = states.at(k);
          return [[...s.lds], [...s.before.lds], [...s.written], [...s.changed.keys()], s.accesses];
        });""")  # fmt: skip
    old = [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0]
    new = [1, 2, 3, 0xA1, 0xB2, 0, 0, 0, 0xFF, 0, 0, 0]  # bytes 3 and 4 are in words 0 and 1, byte 8 in word 2
    stored = {"space": "lds", "action": "write", "bytes": 4, "lanes": [1], "addresses": ["4"], "values": [9]}
    assert found == [
        [new, old, [0, 1, 2], [0, 1, 2], []],
        [old, old, [], [3], []], [new, new, [], [], []], [old, old, [], [1], [stored]],
    ]  # fmt: skip


def test_a_window_has_its_steps_and_no_others(page: Page) -> None:
    found = told(page, """
        await Promise.all([states.load(10), states.load(10)]);
        return [asked, [9, 10, 14, 15].map((k) => [states.has(k), states.at(k) !== null])];""")  # fmt: skip
    assert found == [[10], [[False, False], [True, True], [True, True], [False, False]]]


def test_the_latest_24_windows_are_kept(page: Page) -> None:
    found = told(page, """
        for (let n = 0; n < 25; n++) await states.load(10 * n);
        return [states.has(0), states.has(10), states.has(240)];""")  # fmt: skip
    assert found == [False, True, True]


@pytest.mark.parametrize(
    ("first", "step", "wanted"),
    [
        (400, 500, []), (400, 799, [800]), (400, 420, [200]), (400, 449, [200]), (400, 450, []),
        (100, 120, [0]), (0, 20, []), (600, 950, []), (400, 900, []),
        (400, 700, []), (400, 701, [800]),
    ],
)  # fmt: skip
def test_windows_are_asked_for_ahead(page: Page, first: int, step: int, wanted: list[int]) -> None:
    """Windows of 400 steps: in the last 99 the next is asked for, in the first 50 the one before; none past 1,000."""
    found = told(page, f"await states.load({first}); states.askAhead({step}); return asked.slice(1);", count=400)
    assert found == wanted
