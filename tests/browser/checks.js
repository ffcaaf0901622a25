// What `gallery.accessible` and `gallery.readable` look at, in the page. Each function gives a list of complaints.
// A script of its own, evaluated as one expression: ({ contrast, structure, layout }).
(() => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const paper = canvas.getContext("2d", { willReadFrequently: true });
  const known = new Map();

  /** Any CSS colour as [red, green, blue, alpha], 0 to 255 and 0 to 1. */
  function colour(text) {
    if (!known.has(text)) {
      paper.clearRect(0, 0, 1, 1);
      paper.fillStyle = text;
      paper.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = paper.getImageData(0, 0, 1, 1).data;
      known.set(text, [r, g, b, a / 255]);
    }
    return known.get(text);
  }

  const over = (top, below) => [0, 1, 2].map((k) => top[k] * top[3] + below[k] * (1 - top[3])).concat(1);

  /** WCAG 2.2, "relative luminance" and "contrast ratio". */
  function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  }
  function ratio(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }

  const visible = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const isSvg = (element) => element.namespaceURI === "http://www.w3.org/2000/svg";
  const name = (element) => {
    const kind = typeof element.className === "string" ? element.className : element.className?.baseVal;
    return element.tagName.toLowerCase() + (kind ? "." + kind.trim().split(/\s+/).join(".") : "");
  };
  const shorten = (text) => JSON.stringify(text.trim().replace(/\s+/g, " ").slice(0, 40));

  /** Text nodes that somebody can see, as {text, element, box, size}; size in CSS pixels as drawn. */
  function texts(root) {
    const found = [];
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || !visible(element) || element.closest(".gpulab-live, style, script, option, defs, title, desc")) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = [...range.getClientRects()].find((each) => each.width > 1 && each.height > 1);
      if (!box) continue;
      let size = parseFloat(getComputedStyle(element).fontSize);
      if (isSvg(element)) {
        const matrix = element.getScreenCTM?.();
        if (matrix) size *= Math.hypot(matrix.c, matrix.d);
      }
      found.push({ text: node.data, element, box, size });
    }
    return found;
  }

  /** The colours that an SVG shape's fill may show: more than one for a pattern or a gradient. */
  function fills(element, style) {
    const drawn = (text, opacity) => { const [r, g, b, a] = colour(text); return [r, g, b, a * opacity]; };
    const link = /url\("?#([^")]+)"?\)/.exec(style.fill);
    if (!link) return style.fill === "none" ? [] : [drawn(style.fill, style.fillOpacity * style.opacity)];
    const all = [];
    for (const part of document.getElementById(link[1])?.querySelectorAll("*") ?? []) {
      const own = getComputedStyle(part);
      if (part.tagName === "stop") all.push(drawn(own.stopColor, own.stopOpacity * style.opacity));
      else {
        if (own.fill !== "none" && part.tagName !== "path") all.push(drawn(own.fill, own.fillOpacity * style.opacity));
        if (own.stroke !== "none") all.push(drawn(own.stroke, own.strokeOpacity * style.opacity));
      }
    }
    return all;
  }

  /** What may lie behind a text, each an opaque colour. */
  function behind(element, box) {
    const layers = []; // from top to bottom, each a list of colours of which any may show
    let from = element;
    if (isSvg(element)) {
      const stack = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
      const at = stack.findIndex((each) => each === element || element.contains(each));
      for (const shape of stack.slice(at + 1)) {
        if (!isSvg(shape) || shape.tagName === "svg" || /^(text|tspan|g|line|use)$/.test(shape.tagName) || shape.contains(element)) continue;
        const own = fills(shape, getComputedStyle(shape));
        if (own.length) layers.push(own);
        if (own.length === 1 && own[0][3] > 0.99) break;
      }
      from = element.ownerSVGElement ?? element;
    }
    for (let each = from; each; each = each.parentElement) {
      const style = getComputedStyle(each);
      if (style.backgroundImage !== "none") {
        const stops = style.backgroundImage.match(/(rgba?|color|oklab|oklch|hsl|lab)\([^()]*\)|#[0-9a-f]{3,8}\b/gi);
        if (stops) layers.push(stops.map(colour));
      }
      layers.push([colour(style.backgroundColor)]);
      if (layers.at(-1)[0][3] > 0.99) break;
    }
    let result = [[255, 255, 255, 1]];
    for (const layer of layers.reverse()) {
      const next = new Map();
      for (const below of result) for (const top of layer) { const mixed = over(top, below); next.set(mixed.join(), mixed); }
      result = [...next.values()].slice(0, 32);
    }
    return result;
  }

  /** Text with less contrast than 4.5 to 1 (3 to 1 from 24 px on), as WCAG 2.2 asks (1.4.3). */
  function contrast(root) {
    const style = document.createElement("style");
    style.textContent = "* { pointer-events: auto !important; }"; // so that elementsFromPoint sees everything
    document.head.append(style);
    const complaints = [];
    try {
      for (const { text, element, size } of texts(root)) {
        if (element.closest(":disabled, [aria-disabled='true']")) continue;
        if (isSvg(element)) element.scrollIntoView({ block: "nearest", inline: "nearest" });
        const range = document.createRange();
        range.selectNodeContents(element);
        const own = getComputedStyle(element);
        const drawn = colour(isSvg(element) ? own.fill : own.color);
        let opacity = isSvg(element) ? Number(own.fillOpacity) : 1;
        for (let each = element; each && each !== root; each = each.parentElement) opacity *= Number(getComputedStyle(each).opacity);
        const worst = Math.min(...behind(element, range.getBoundingClientRect())
          .map((back) => ratio(over([...drawn.slice(0, 3), drawn[3] * opacity], back), back)));
        const least = size >= 24 ? 3 : 4.5;
        if (worst < least - 0.005) complaints.push(`${shorten(text)} in ${name(element)}: contrast ${worst.toFixed(2)}, at least ${least} is needed`);
      }
    } finally {
      style.remove();
    }
    return [...new Set(complaints)];
  }

  /** Identifiers, references between elements, the tab order, pictures without words. */
  function structure(root) {
    const complaints = [];
    const ids = new Map();
    for (const each of document.querySelectorAll("[id]")) ids.set(each.id, (ids.get(each.id) ?? 0) + 1);
    for (const each of [root, ...root.querySelectorAll("*")]) {
      if (each.id && ids.get(each.id) > 1) complaints.push(`the id ${each.id} is there ${ids.get(each.id)} times`);
      for (const reference of ["aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "aria-activedescendant"]) {
        for (const id of (each.getAttribute(reference) ?? "").split(/\s+/).filter(Boolean)) {
          if (!ids.has(id)) complaints.push(`${name(each)}: ${reference} names ${id}, which is not there`);
        }
      }
      if (each.tagName === "BUTTON" && each.hasAttribute("aria-label") && visible(each)) {
        // WCAG 2.2, 2.5.3 Label in Name: who speaks to the computer says what stands on the button.
        const words = (each.innerText.match(/[\p{L}\d][\p{L}\d .,-]*/gu) ?? []).map((part) => part.trim().toLowerCase());
        const said = each.getAttribute("aria-label").toLowerCase();
        for (const part of words) if (part.length > 1 && !said.includes(part)) complaints.push(`${name(each)}: “${part}” stands on it, but not in its name`);
      }
      if (each.tagName === "TH" && visible(each) && !each.textContent.trim()) complaints.push(`${name(each)}: a heading of a table without a word`);
      if (each.tabIndex > 0) complaints.push(`${name(each)}: a tabindex above 0 changes the tab order`);
      if (each.tabIndex >= 0 && each.closest("[aria-hidden='true']") && visible(each) && each.tagName !== "svg") {
        complaints.push(`${name(each)}: in the tab order, but hidden from screen readers`);
      }
      if ((each.tagName === "svg" && !each.parentElement.closest("svg")) || each.tagName === "CANVAS") {
        const named = each.getAttribute("aria-label") || each.getAttribute("aria-labelledby") || each.querySelector(":scope > title");
        if (visible(each) && !each.closest("[aria-hidden='true']") && !(each.getAttribute("role") && named)) {
          complaints.push(`${name(each)}: a picture needs role and aria-label, or aria-hidden if words beside it say the same`);
        }
      }
    }
    return [...new Set(complaints)];
  }

  /** Text smaller than `least` CSS pixels, what is cut off at the side, labels on top of each other. */
  function layout(root, least) {
    const complaints = [];
    const all = texts(root);
    const frame = root.getBoundingClientRect();
    for (const { text, element, size } of all) {
      if (size < least - 0.05) complaints.push(`${shorten(text)} in ${name(element)}: ${size.toFixed(1)} px, at least ${least} is needed`);
    }
    for (const each of [root, ...root.querySelectorAll("*")]) {
      if (isSvg(each) || !visible(each) || each.closest(".gpulab-live")) continue;
      const style = getComputedStyle(each);
      const cut = /hidden|clip/.test(style.overflowX) && style.textOverflow !== "ellipsis";
      const whole = each === root || each.classList.contains("gpulab-body");
      if ((cut || whole) && each.scrollWidth > each.clientWidth + 1 && style.display !== "inline") {
        complaints.push(`${name(each)}: ${each.scrollWidth} px wide, of which ${each.clientWidth} can be seen`);
      }
      const box = each.getBoundingClientRect();
      const scrolled = each.parentElement?.closest(".gpulab *") && [...ancestors(each, root)].some((up) => /auto|scroll/.test(getComputedStyle(up).overflowX));
      if (!scrolled && box.width > 1 && (box.right > frame.right + 1 || box.left < frame.left - 1)) complaints.push(`${name(each)}: reaches out of the instrument`);
    }
    const labels = all.filter(({ element }) => isSvg(element)).map((each) => ({ ...each, box: each.element.getBoundingClientRect() }));
    for (const { text, element, box } of labels) {
      let outer = element.ownerSVGElement;
      while (outer?.ownerSVGElement) outer = outer.ownerSVGElement;
      const picture = outer?.getBoundingClientRect();
      if (picture && getComputedStyle(outer).overflow !== "visible" &&
          (box.left < picture.left - 1 || box.right > picture.right + 1 || box.top < picture.top - 2 || box.bottom > picture.bottom + 2)) {
        complaints.push(`${shorten(text)} in ${name(element)}: cut off by the picture's edge`);
      }
    }
    for (let one = 0; one < labels.length; one++) {
      for (let two = one + 1; two < labels.length; two++) {
        const a = labels[one], b = labels[two];
        if (a.element === b.element || a.element.contains(b.element) || b.element.contains(a.element)) continue;
        if (a.element.closest("text") === b.element.closest("text")) continue;
        const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        if (wide > 2 && high > 4) complaints.push(`${shorten(a.text)} and ${shorten(b.text)} lie on top of each other`);
      }
    }
    return [...new Set(complaints)];
  }

  function* ancestors(element, root) {
    for (let up = element.parentElement; up && up !== root; up = up.parentElement) yield up;
  }

  return { contrast, structure, layout };
})()
