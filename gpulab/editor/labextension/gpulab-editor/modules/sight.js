// A check's report comes into sight when its cell has run; the focus stays where it is.

const REPORT = ".gpulab-rejected";
const SECONDS = 10;

/** After each run of a cell, show its report if it has one. @param {any} lab @param {any} tracker */
export function sight(lab, tracker) {
  lab.notebook.NotebookActions.executed.connect((/** @type {any} */ _, /** @type {any} */ run) => {
    const panel = tracker.currentWidget;
    if (!panel || panel.content !== run.notebook || run.cell.model.type !== "code") return;
    const report = run.cell.outputArea?.node.querySelector(REPORT);
    if (report) follow(report, panel.content.node);
  });
}

/**
 * Bring the report into sight, and again while what stands around it still grows (pictures, the next cell); until
 * somebody scrolls, clicks or types.
 * @param {Element} report @param {HTMLElement} notebook
 */
function follow(report, notebook) {
  const show = () => report.scrollIntoView({ block: "nearest" });
  const sizes = new ResizeObserver(show);
  const kinds = ["wheel", "pointerdown", "keydown", "touchstart"];
  const end = () => {
    sizes.disconnect();
    clearTimeout(timer);
    for (const kind of kinds) notebook.removeEventListener(kind, end, true);
  };
  for (const kind of kinds) notebook.addEventListener(kind, end, true);
  for (let node = report.parentElement; node && node !== notebook; node = node.parentElement) sizes.observe(node);
  const timer = setTimeout(end, SECONDS * 1000);
  show();
}
