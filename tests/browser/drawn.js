// What an instrument has drawn, as lines of text: each element with its words, its numbers and its state.
(root) => {
  const KEPT = [
    "x", "y", "x1", "y1", "x2", "y2", "width", "height", "cx", "cy", "r", "d", "points", "transform", "viewBox", "fill",
    "stroke", "stroke-width", "stroke-dasharray", "text-anchor", "font-size", "role", "aria-label", "aria-pressed",
    "aria-selected", "aria-expanded", "aria-valuetext", "aria-hidden", "tabindex", "hidden", "disabled", "min", "max",
    "colspan", "rowspan", "class", "title",
  ];
  const round = (text) => text.replace(/-?\d+\.\d+/g, (number) => String(Number(Number(number).toFixed(2))));
  const lines = [];
  const walk = (element, deep) => {
    const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join(" ");
    const said = KEPT.filter((name) => element.hasAttribute(name))
      .map((name) => `${name}=${round(element.getAttribute(name))}`);
    const style = element.getAttribute("style");
    if (style) said.push(`style=${round(style)}`);
    if ("value" in element && element.value !== undefined) said.push(`value=${round(String(element.value))}`);
    if (element.checked) said.push("checked");
    if (element.scrollTop || element.scrollLeft) said.push(`scroll=${element.scrollLeft},${element.scrollTop}`);
    lines.push(`${" ".repeat(deep)}${element.localName} ${said.join(" ")}${own.trim() ? ` | ${own.trim()}` : ""}`.replace(/\s*\n\s*/g, " ⏎ "));
    for (const child of element.children) walk(child, deep + 1);
  };
  walk(root, 0);
  return lines;
}
