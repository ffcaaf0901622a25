"""The roofline's module by itself, with roofs and points made by hand: prefixes, names that are shortened, roofs that
share a name, and for how many points the way up to their roofs is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.modules import asking

if TYPE_CHECKING:
    from playwright.sync_api import Page

TOOLS = """
const roofline = (await import("./roofline.js")).default;
const memory = (name, rate) => ({key: name, name, kind: "memory", achievable: rate, peak: 2 * rate, how: "h",
    used: true});
const compute = (name, rate) => ({...memory(name, rate), kind: "compute"});
const point = (gflops, name = "") => ({kernel: "k", run: "", name, colour: 0, gflops, us: 2, arithmetic: "FP32",
    words: {achievable: `w ${gflops}`, peak: `p ${gflops}`}, levels: {M: {intensity: 1, bytes: 1e9, gbps: 5}},
    shares: {achievable: {M: 0.25, compute: 0.5}, peak: {M: 0.1, compute: 0.2}},
    allows: {achievable: {M: 800, compute: 900}, peak: {M: 1600, compute: 1800}}});
const shown = (points, roofs = [memory("M", 1000), compute("FP32", 50000)], more = {}) => {
  const host = document.createElement("div");
  host.style.width = "820px";
  document.body.replaceChildren(host);
  const sets = {kernel: {points, arrows: [], left_out: 0, ...more}};
  roofline.render({model: {get: () => ({title: "T", sentence: "S", roofs, level: "M", sets, time: "modelled",
      by: "kernel"})}, el: host});
  return host;
};
const texts = (host, selector) => [...host.querySelectorAll(selector)].map((one) => one.textContent);
const labels = (host, kind) => [...host.querySelectorAll(`.gpulab-roof-${kind}`)].map((one) =>
    one.getAttribute("aria-label"));
"""
told = asking(TOOLS)


def test_prefixes(page: Page) -> None:
    found = told(
        page,
        """
        const rates = [1e6, 1e3, 999, 1, 0.999, 1e-3, 1e-6, 1e-7].map((gflops) =>
            labels(shown([point(gflops)]), "point")[0].split(", ")[1]);
        const roofs = [memory("M", 1000), compute("FP32", 50000), {...compute("I8", 1e6), key: "matrix int8"}];
        return [rates, labels(shown([point(1)], roofs), "hit")];""",
    )
    assert found == [
        ["1 PFLOP/s", "1 TFLOP/s", "999 GFLOP/s", "1 GFLOP/s", "999 MFLOP/s", "1 MFLOP/s", "1 kFLOP/s", "100 FLOP/s"],
        [
            "M bandwidth\nachievable: 1 TB/s (h)\npeak: 2 TB/s", "FP32\nachievable: 50 TFLOP/s (h)\npeak: 100 TFLOP/s",
            "I8\nachievable: 1 POP/s (h)\npeak: 2 POP/s",
        ],
    ]  # fmt: skip


def test_names_are_shortened_and_roofs_of_one_rate_share_a_label(page: Page) -> None:
    found = told(
        page,
        """
        const names = (count) => texts(shown([point(100, "n".repeat(count))]), "svg text.gpulab-roof-halo");
        const merged = (other) => texts(shown([], [memory("M", 1000), compute("A", 50000), compute("B", other)]),
            "svg text.gpulab-roof-halo[text-anchor=end]");
        return [names(34).includes("n".repeat(34)), names(35).includes("n".repeat(33) + "…"), merged(51000),
            merged(52000)];""",
    )
    # 1 % of a decade is a factor of 1.0233.
    assert found == [True, True, ["B, A 51 TFLOP/s"], ["B 52 TFLOP/s", "A 50 TFLOP/s"]]


def test_the_way_up_of_a_few_points_and_of_the_selected_one(page: Page) -> None:
    found = told(
        page,
        """
        const some = (count) => shown(Array.from({length: count}, (_, k) => point(10 + k)));
        const gaps = (host) => host.querySelectorAll(".gpulab-roof-gap").length;
        const five = some(5), before = gaps(five);
        five.querySelectorAll(".gpulab-roof-point")[3].dispatchEvent(new MouseEvent("click", {bubbles: true}));
        const said = texts(five, ".gpulab-words, .gpulab-live");
        const one = shown([point(100), {...point(0), kernel: "none"}], undefined, {left_out: 3});
        return [gaps(some(4)), before, gaps(five), said, texts(one, ".gpulab-roof-facts li"),
            texts(one, "svg text").filter((text) => text.includes("% of"))];""",
    )
    assert found == [
        4, 0, 1, ["w 13", "w 13"], ["w 0", "3 more with less time are not shown."], ["25 % of M"],
    ]  # fmt: skip
