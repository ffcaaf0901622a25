"""The stepper's table of registers by itself: stepper_registers.js with a wave of 16 registers made by hand, which rows
come first and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.modules import asking

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Vector registers 0 to 2; scalar ones 3 to 15, of which the last five are of the whole wave. At step 7 instruction 1
# writes v1 and s3, reads v2, s3 and vcc; v2 was changed too, to what it was before. Registers hold ten times their
# number before the step, and one more after it.
TOOLS = """
const { registersPart } = await import("./stepper_registers.js");
const names = ["v0", "v1", "v2", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "exec", "vcc", "scc", "m0", "mode"];
const used = (written, ...registers) => ({written, registers});
const operands = [used(true, 1), used(true, 6), used(false, 2), used(false, 6), used(false, 12)];
const wave = {registers: names, vectors: 3, executed: [0, 0, 0, 0, 0, 0, 0, 1],
  instructions: [{operands: []}, {operands}]};
wave.at = (step) => wave.instructions[wave.executed[step]];
const last = [-1, 2, 0, 4, -1, 998, 5, 4, -1, -1, -1, 0, 3, 6, 1, 2];
const changed = new Map([1, 2, 6, 13].map((r) => [r, true]));
const states = {words: (state, r, lane, after) => {
  if (r === 11) return [0xff, 0x101];
  if (r === 12) return [1, 0];
  if (r === 13) return [1];
  return [r * 10 + (after && changed.has(r) && r !== 2 ? 1 : 0) + 1000 * lane];
}};
const reading = {isMask: (name) => name === "exec" || name === "vcc",
  show: (state, bits, r, now) => `${bits.join("_")}${now ? "" : "-"}`};
let drawn = 0;
const view = {step: 7, lane: 2};
const part = registersPart(wave, states, reading, view, () => { drawn += 1; part.draw(state); });
const state = {changed, before: {last}};
document.body.append(part.nodes);
const rows = () => [...part.nodes.querySelectorAll("tbody tr")].map((row) => [row.className,
    ...[...row.cells].map((cell) => cell.textContent)]);
const whole = () => [...part.nodes.querySelectorAll("dl > div")].map((one) => [one.className,
    ...[...one.children].map((part) => part.textContent)]);
const more = part.nodes.querySelector("button");
"""
told = asking(TOOLS)


def test_registers_of_the_step_come_first(page: Page) -> None:
    """Those that it writes, then those that it reads; then what was changed last."""
    found = told(
        page,
        """
        part.draw(state);
        return {head: part.nodes.querySelector("h4").textContent, rows: rows(), more: [more.hidden, more.textContent],
            titles: [...part.nodes.querySelectorAll("th")].map((one) => one.textContent)};""",
    )
    assert found["head"] == "Registers, in lane 2"
    assert found["titles"] == ["use", "register", "before", "after", "last changed"]
    changed, used = "gpulab-used gpulab-changed", "gpulab-used"
    assert found["rows"] == [
        [changed, "written", "v1", "2010-", "2011 ●", "this step"],
        [used, "read, written", "v2", "2020-", "2020", "this step"],
        [changed, "read, written", "s3", "2060-", "2061 ●", "this step"],
        ["", "", "s2", "2050-", "2050", "step 999"], ["", "", "s0", "2030-", "2030", "step 5"],
        ["", "", "s4", "2070-", "2070", "step 5"], ["", "", "v0", "2000-", "2000", "start"],
        ["", "", "s1", "2040-", "2040", "start"], ["", "", "s5", "2080-", "2080", "start"],
        ["", "", "s6", "2090-", "2090", "start"], ["", "", "s7", "2100-", "2100", "start"],
    ]  # fmt: skip
    assert found["more"] == [True, "All 11 registers"]


def test_registers_of_the_whole_wave(page: Page) -> None:
    found = told(
        page,
        """
        part.draw(null);
        const without = [whole(), rows().length];
        part.draw(state);
        return [without, whole()];""",
    )
    counter = ["", "PC", "instruction 1 of 2"]
    assert found[0] == [[counter], 0]
    assert found[1] == [
        counter, ["", "EXEC", "255_257 (10 lanes)"], ["", "VCC", "1_0 (1 lanes)"], ["gpulab-changed", "SCC", "1 ●"],
        ["", "M0", "0x8c"],
    ]  # fmt: skip


def test_more_than_twelve_registers(page: Page) -> None:
    found = told(
        page,
        """
        names.splice(11, 0, "s8", "s9"); last.splice(11, 0, -1, -1);
        const two = registersPart(wave, states, {...reading, isMask: () => true}, view, () => two.draw(state));
        const button = two.nodes.querySelector("button"), count = () => two.nodes.querySelectorAll("tbody tr").length;
        two.draw(state);
        const seen = [[count(), button.hidden, button.textContent]];
        for (let k = 0; k < 2; k += 1) { button.click(); seen.push([count(), button.hidden, button.textContent]); }
        names.splice(12, 1); last.splice(12, 1);
        two.draw(state);
        return [...seen, [count(), button.hidden]];""",
    )
    few, all_ = [12, False, "All 13 registers"], [13, False, "Fewer registers"]
    assert found == [few, all_, few, [12, True]]
