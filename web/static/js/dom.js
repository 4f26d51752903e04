// Builds elements. What the server sends, and above all what an agent wrote,
// becomes a text node or an attribute value and never markup.

const SVG = "http://www.w3.org/2000/svg";

/** h makes an HTML element: props are attributes, or listeners if they start with "on". */
export function h(tag, props, ...children) {
  return build(document.createElement(tag), props, children);
}

/** s makes an SVG element. */
export function s(tag, props, ...children) {
  return build(document.createElementNS(SVG, tag), props, children);
}

function build(el, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else el.setAttribute(name, value === true ? "" : String(value));
  }
  append(el, children);
  return el;
}

function append(el, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    el.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** fill replaces an element's children. */
export function fill(el, ...children) {
  el.replaceChildren();
  append(el, children);
  return el;
}
