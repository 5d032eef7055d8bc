// Elements. Texts of a model enter the page through `textContent` only.

/** The element with an id.
 * @param {string} id
 * @returns {any} */
const byId = (id) => document.getElementById(id);

/** A new element with attributes, and texts or elements in it.
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {(string | Node)[]} children
 * @returns {any} */
function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** A new element of a drawing.
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @returns {any} */
function drawingElement(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** Set a text if it differs, so that screen readers do not announce it again.
 * @param {Element} node
 * @param {string} text */
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
