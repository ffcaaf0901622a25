// Goes through an instrument step by step, and says after each step which elements are new or have changed: `drawn` is
// drawn.js. Steps: ["choose", selector, n]: each option of the n-th select; ["set", selector, n, value]: a field;
// ["click" | "point" | "leave", selector, n, share]: the mouse, at a share of the width; ["keys", selector, n, keys]: the focus there, then each key
// where the focus is by then; ["wheel", selector, share of its width, deltaY]: with Ctrl; ["wide", pixels]: of the page.
async ([drawn, steps, most]) => {
  const root = document.querySelector(".gpulab"), said = [];
  let open = 0, before = new Map();
  if (!window.gpulabWalked) {
    const ask = window.gpulabAsk;
    window.gpulabAsk = (question) => { open += 1; return ask(question).finally(() => { open -= 1; }); };
    window.gpulabWalked = true;
  }
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  async function settled() {
    for (let quiet = 0; quiet < 2; quiet += 1) {
      await frame();
      while (open) { await pause(2); quiet = 0; }
    }
  }
  const count = (lines) => lines.reduce((all, line) => all.set(line, (all.get(line) ?? 0) + 1), new Map());
  async function report(title) {
    await settled();
    const now = drawn(root).map((line) => line.replace(/(gpulab-[a-z]+-)\d+/g, "$1N"));
    const counted = count(now), fresh = [];
    const left = new Map(counted);
    for (const line of now) {
      const extra = left.get(line) - (before.get(line) ?? 0);
      if (extra > 0) { fresh.push(line.trim()); left.set(line, left.get(line) - 1); }
    }
    before = counted;
    const active = document.activeElement;
    const at = root.contains(active) ? `${active.localName} ${active.getAttribute("aria-label") ?? active.textContent.slice(0, 40)}` : "nowhere";
    said.push(`== ${title} -> ${now.length} elements, focus: ${at}`.replace(/\s*\n\s*/g, " ⏎ "), ...fresh.slice(0, most));
    if (fresh.length > most) said.push(`and ${fresh.length - most} more, ${summed(fresh.slice(most))}`);
  }
  // Lines that are not stored one by one: a number that their words give, and another one from their numbers.
  function summed(lines) {
    let words = 0, numbers = 0;
    lines.forEach((line, k) => {
      const rest = line.replace(/-?\d+(\.\d+)?/g, (number) => { numbers += Number(number) * (1 + (k % 13)); return "#"; });
      for (const one of rest) words = (31 * words + one.codePointAt(0)) % 1_000_003;
    });
    return `their words ${words}, their numbers ${numbers.toFixed(1)}`;
  }
  const find = (selector, n) => {
    const all = [...root.querySelectorAll(selector)], found = all.at(n ?? 0);
    if (!found) throw new Error(`there is no ${selector} ${n}`);
    return found;
  };
  const fire = (node, kind, Kind = Event, more = {}) => node.dispatchEvent(new Kind(kind, { bubbles: true, cancelable: true, ...more }));

  await report("at first");
  for (const [verb, selector, n, value] of steps) {
    if (verb === "choose") {
      const options = [...find(selector, n).options].map((option) => option.value);
      for (const option of [...options.slice(1), options[0]]) {
        const select = find(selector, n);
        select.focus();
        select.value = option;
        fire(select, "change");
        await report(`choose ${selector} ${n ?? 0}: ${option}`);
      }
    } else if (verb === "set") {
      const field = find(selector, n);
      if (field.type === "checkbox") field.checked = value;
      else field.value = value;
      fire(field, "input");
      fire(field, "change");
      await report(`set ${selector} ${n ?? 0}: ${value}`);
    } else if (verb === "click") {
      const node = find(selector, n);
      const box = node.getBoundingClientRect();
      node.focus?.();
      fire(node, "click", MouseEvent, { clientX: box.left + (value ?? 0.5) * box.width, clientY: box.top + box.height / 2 });
      await report(`click ${selector} ${n ?? 0}${value === undefined ? "" : ` at ${value}`}`);
    } else if (verb === "point" || verb === "leave") {
      const node = find(selector, n);
      fire(node, verb === "point" ? "mouseover" : "mouseout", MouseEvent);
      fire(node, verb === "point" ? "mouseenter" : "mouseleave", MouseEvent, { bubbles: false });
      await report(`${verb} ${selector} ${n ?? 0}`);
    } else if (verb === "keys") {
      find(selector, n).focus();
      await report(`focus ${selector} ${n ?? 0}`);
      for (const key of value.split(" ")) {
        const [last, shift] = [key.replace(/^Shift\+/, "") || "+", key.startsWith("Shift+")];
        const taken = !fire(document.activeElement, "keydown", KeyboardEvent, { key: last === "Space" ? " " : last, shiftKey: shift });
        await report(`key ${key}${taken ? ", taken" : ""}`);
      }
    } else if (verb === "wheel") {
      const node = find(selector, 0), box = node.getBoundingClientRect();
      const taken = !fire(node, "wheel", WheelEvent, { ctrlKey: true, deltaY: value, clientX: box.left + n * box.width, clientY: box.top + 30 });
      await report(`wheel ${value} at ${n}${taken ? ", taken" : ""}`);
    } else if (verb === "wide") {
      document.body.style.width = `${selector}px`;
      await frame();
      await report(`wide ${selector}`);
    } else throw new Error(`unknown step ${verb}`);
  }
  return said;
}
