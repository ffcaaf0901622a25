// The box with a message or an explanation: text alone.

/**
 * @param {...{kind: string, title: string, text: string}} parts
 * @returns {HTMLElement}
 */
export function tip(...parts) {
  const box = document.createElement("div");
  box.className = "gpulab-tip-box";
  box.setAttribute("role", "tooltip");
  for (const { kind, title, text } of parts) {
    const head = box.appendChild(document.createElement("div"));
    head.className = `gpulab-tip-title gpulab-tip-${kind}`;
    head.textContent = title;
    for (const line of text ? text.split("\n") : []) box.appendChild(document.createElement("div")).textContent = line;
  }
  return box;
}
