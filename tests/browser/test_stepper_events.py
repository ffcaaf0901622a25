"""The stepper's sentences on a step by themselves: stepper_events.js with a wave made by hand, and stand-ins that name
what they are asked for. The expected sentences are written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.modules import asking

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Registers 0 and 1 are vector registers, 2 to 5 scalar ones; 3 is a half of EXEC. Lanes up to 39 are active.
TOOLS = """
const { eventsOf } = await import("./stepper_events.js");
const read = (text, ...registers) => ({text, registers, type: "f32", written: false, name: ""});
const written = (text, ...registers) => ({...read(text, ...registers), written: true});
const bit = (text, ...registers) => ({...written(text, ...registers), type: "b1"});
const one = (kind, ...operands) => ({kind, operands, text: kind, line: 0, target: -1});
/** Sentences on a step of a wave whose instructions are these, one after the other. */
const say = (instructions, {step = 0, lane = 3, state = {accesses: []}, ...more} = {}) => {
  const wave = {executed: instructions.map((_, k) => k), instructions, size: 64, count: instructions.length, vectors: 2,
    registers: ["v0", "v1", "s0", "exec", "s2", "s3"], active: [], fault: null, all: instructions.length,
    divergences: [], isBarrier: instructions.map((item) => item.kind === "barrier"), isActive: (_, lane) => lane < 40,
    ...more};
  wave.at = (k) => instructions[wave.executed[k]];
  const states = {words: (state, register, lane, after) => after ? [register === 5 ? 8 : 16] : [-1]};
  const reading = {
    valueOf: (state, { text }, lane, after) => text === "same" ? "7" : `${text}@${lane}${after ? "+" : ""}`,
    dataOf: (state, access, k, register) => `${access.addresses[k]} in ${register}`,
    dataRegister: (item, loads) => `${item.text} ${loads}`,
    place: (space, address, bytes) => `${space} ${address}:${bytes}`,
  };
  return eventsOf(wave, states, reading, {told: (at) => at === 1 ? ["Told."] : []}, {step, lane})(state);
};
const access = (action, lanes, ...addresses) => ({space: "lds", action, bytes: 4, lanes, addresses});
"""
told = asking(TOOLS)


def test_what_is_read_and_written(page: Page) -> None:
    found = told(
        page,
        """
        const moves = [written("v0", 0), read("v1", 1), read("s0", 2), read("v1", 1), read("1.0")];
        return [say([one("vector", ...moves)]), say([one("scalar", ...moves)]), say([one("cross-lane", ...moves)]),
            say([one("vector", written("same", 0))]), say([one("scalar", read("s0", 2))]), say([one("scalar")]),
            say([one("scalar", written("s0", 2), written("exec", 4), written("exec_lo", 3))]),
            say([one("scalar", bit("scc", 2))]), say([one("scalar", written("literal"))]),
            ...[3, 4, 35, 36].map((lane) => say([one("vector", bit("vcc", 4, 5))], {lane}))];""",
    )
    moved = "v1 = v1@3, s0 = s0@3 → v0 becomes v0@3+ (was v0@3)."
    assert found == [
        [f"Lane 3 of 64: {moved}"], [f"The whole wave: {moved}"], [f"Lane 3 of 64: {moved}"],
        ["Lane 3 of 64: same stays 7."], ["The whole wave: s0 = s0@3."], [],
        ["The whole wave: s0 becomes s0@3+ (was s0@3)."],
        ["The whole wave: scc becomes scc@3+ (was scc@3)."], [],
        ["Lane 3 of 64: vcc gets 0 (false) for this lane."], ["Lane 4 of 64: vcc gets 1 (true) for this lane."],
        ["Lane 35 of 64: vcc gets 1 (true) for this lane."], ["Lane 36 of 64: vcc gets 0 (false) for this lane."],
    ]  # fmt: skip


def test_lanes_that_are_not_active(page: Page) -> None:
    """Nothing happens in them, but of what the whole wave does, and of matrices, which all lanes take part in."""
    found = told(
        page,
        """
        const kinds = ["vector", "cross-lane", "matrix", "scalar"].map((kind) => one(kind, read("s0", 2)));
        const memory = [1, 2].map((register) => one("memory", read("s0", 2), read("a", register)));
        return [...kinds, ...memory].map((item) => [39, 40].map((lane) => say([item], {lane})[0].split(":")[0]));""",
    )
    silent, wave = "Lane 40 is not active", "The whole wave"
    lane = "Lane 39 of 64"
    assert found == [
        [lane, silent], [lane, silent], [lane, "Lane 40 of 64"], [wave, wave], [lane, silent], [wave, wave],
    ]  # fmt: skip


def test_accesses(page: Page) -> None:
    found = told(
        page,
        """
        const load = one("memory", written("v0", 0), read("v1", 1)), store = one("memory", read("v1", 1));
        const scalar = one("memory", written("s0", 2));
        const of = (item, ...accesses) => say([item], {state: {accesses}});
        return [of(load, access("read", [1, 3, 5], "10", "20", "30")), of(store, access("write", [3], "8")),
            of(store, access("atomic", [0, 3], "8", "c")), of(store, access("write", [4], "8")),
            of(scalar, access("read", [], "40")), of(store, access("read", [3], "4"), access("write", [3], "8"))];""",
    )
    assert found == [
        ["Lane 3 of 64 reads lds 20:4: 20 in memory true.", "v0 becomes v0@3+ (was v0@3)."],
        ["Lane 3 of 64 writes lds 8:4: 8 in memory false."],
        ["Lane 3 of 64 changes lds c:4: now c in memory false."], [],
        ["The whole wave reads lds 40:4: 40 in memory true.", "s0 becomes s0@3+ (was s0@3)."],
        ["Lane 3 of 64 reads lds 4:4: 4 in memory true.", "Lane 3 of 64 writes lds 8:4: 8 in memory false."],
    ]  # fmt: skip


def test_branches_and_barriers(page: Page) -> None:
    found = told(
        page,
        """
        const jump = (kind, target) => ({...one(kind, read("scc", 2)), target});
        const lines = [0, 1, 2, 3].map((line) => ({...one("scalar"), line}));
        const at = (item, executed, step = 0) => say([item, ...lines], {executed, count: 2, step});
        return [at(jump("cbranch", 3), [0, 3]), at(jump("cbranch", 3), [0, 1]), at(jump("branch", 1), [0, 1]),
            at(jump("branch", 0), [0, 0]), at(jump("branch", -1), [0, 4]), at(jump("branch", 3), [3, 0], 1),
            say([one("barrier", read("s0", 2))]), say([one("scalar"), jump("branch", 0)], {step: 1})];""",
    )
    assert found == [
        ["It jumps, to instruction 3, line 2."], ["It does not jump; instruction 1 is next."],
        ["It does not jump; instruction 1 is next."], ["It jumps, to instruction 0."],
        ["It does not jump; instruction 4, line 3 is next."], ["Told."],
        ["The wave waits here until all waves of its workgroup have come this far."], ["Told."],
    ]  # fmt: skip


def test_what_follows_from_a_step(page: Page) -> None:
    """Lanes that go on, what a step waited for, and the fault that ends the wave; also before the state has come."""
    found = told(
        page,
        """
        const add = one("vector", written("v0", 0), read("v1", 1)), two = [add, add];
        const some = (active, lanes) => say(two, {state: null, divergences: [1], active: [64, active],
            isActive: (step, lane) => step === 0 || lanes.includes(lane)});
        const fault = {words: "It fails."};
        return [say(two, {state: null}), say(two, {state: null, step: 1}),
            some(3, [0, 1, 5]), some(0, []), some(64, []),
            say(two, {state: null, step: 1, divergences: [1], active: [64, 3]}),
            say(two, {fault, step: 1}), say(two, {fault}), say(two, {fault, step: 1, all: 3}), say(two, {step: 1})];""",
    )
    moved = "Lane 3 of 64: v1 = v1@3 → v0 becomes v0@3+ (was v0@3)."
    assert found == [
        [], ["Told."], ["From here on 3 of 64 lanes are active: 0–1, 5."], ["From here on 0 of 64 lanes are active."],
        ["From here on 64 of 64 lanes are active."], ["Told."],
        ["Lane 3 of 64: v1 = v1@3.", "Told.", "✖ It fails."], [moved], [moved, "Told."], [moved, "Told."],
    ]  # fmt: skip
