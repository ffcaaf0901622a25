// The whole wave at a glance: active lanes over the steps, with divergences, barriers and the fault marked.
import { el, svg } from "./common.js";

const HIGH = 44, TOP = 12, LEFT = 8, MARKS_APART = 3;  // pixels

/**
 * @param {import("./stepper_wave.js").Wave} wave @param {{step: number}} view @param {(step: number) => void} go
 */
export function overviewPart(wave, view, go) {
  const { count, size, active, divergences, barriers, fault } = wave;
  const slide = el("input", {
    type: "range", min: 1, max: count, step: 1, value: 1, class: "gpulab-time-slider", "aria-label": "Step",
    disabled: count === 1, oninput: () => go(Number(slide.value) - 1),
  });
  const nodes = el("div", { class: "gpulab-overview" });
  const here = svg("path", { class: "gpulab-here-line" });
  const legend = `Blue: active lanes, 0 to ${size}, from the first step to the last.   ▏below: divergence (active lanes change)` +
    `${barriers.length ? "   ▼ barrier" : ""}${fault ? "   ✖ fault" : ""}   │ this step`;
  let width = 300;

  /** @param {number} step */
  const x = (step) => LEFT + (count > 1 ? (step / (count - 1)) * (width - 2 * LEFT) : (width - 2 * LEFT) / 2);
  /** @param {number} lanes */
  const y = (lanes) => TOP + HIGH - (lanes / size) * HIGH;

  /** The fewest active lanes of each pixel's steps, as an outline. */
  function outline() {
    let path = "";
    const columns = Math.min(count, Math.floor(width));
    for (let c = 0; c < columns; c++) {
      const from = Math.floor((c * count) / columns), to = Math.max(from + 1, Math.floor(((c + 1) * count) / columns));
      const least = active.subarray(from, to).reduce((a, b) => Math.min(a, b), size);
      path += `${path ? "H" : `M${x(0)} ${y(0)}V${y(least)}H`}${x(from)}V${y(least)}`;
    }
    return `${path}H${x(count - 1)}V${y(0)}Z`;
  }

  /** The steps to mark: not two closer than can be told apart. @param {number[]} steps */
  function apart(steps) {
    let last = -Infinity;
    return steps.filter((step) => {
      if (x(step) - last < MARKS_APART) return false;
      last = x(step);
      return true;
    });
  }

  function mark() { here.setAttribute("d", `M${x(view.step)} 2V${TOP + HIGH + 9}`); }

  return {
    nodes, slide,
    /** @param {number} available pixels */
    draw(available) {
      width = Math.max(300, Math.min(available || 820, 1400) - 2);
      const end = x(count - 1) - 6;
      const picture = svg("svg", {
        viewBox: `0 0 ${width} ${TOP + HIGH + 12}`, width, height: TOP + HIGH + 12, role: "img",
        "aria-label": `Active lanes over the ${count} steps: ${divergences.length} divergences, ${barriers.length} barriers`,
        onclick: (/** @type {MouseEvent} */ event) => {
          const at = picture.getBoundingClientRect();
          go(Math.round((((event.clientX - at.left) / at.width) * width - LEFT) / (width - 2 * LEFT) * (count - 1)));
        },
      },
      svg("rect", { x: LEFT, y: TOP, width: width - 2 * LEFT, height: HIGH, class: "gpulab-life-back" }),
      svg("path", { d: outline(), class: "gpulab-life" }),
      apart(divergences).map((k) => svg("path", { d: `M${x(k)} ${TOP + HIGH}v7`, class: "gpulab-mark-divergence" })),
      apart(barriers).map((k) =>
        svg("path", { d: `M${x(k)} ${TOP}v${HIGH}M${x(k) - 5} ${TOP - 10}h10l-5 9z`, class: "gpulab-mark-barrier" })),
      fault ? svg("path", { d: `M${end} 1l10 10m0 -10l-10 10`, class: "gpulab-mark-fault" }) : null, here);
      nodes.replaceChildren(picture, slide, el("p", { class: "gpulab-legend", text: legend }));
      mark();
    },
    /** Mark the step. @param {string} words what a screen reader says of it */
    mark(words) {
      slide.value = String(view.step + 1);
      slide.setAttribute("aria-valuetext", words);
      mark();
    },
  };
}
