// The report in the frame of a page that has the inference: the page explains axes, and takes dropped files.

/** Asks the page around this one, if there is one and it offers to explain. It is not trusted: texts stay texts. */
class Embedding {
  /** @param {TensorTable} table */
  constructor(table) {
    this.table = table;
    this.row = -1;
    if (window.parent === window) return;
    window.addEventListener("message", (event) => event.source === window.parent && this.receive(event.data));
    document.addEventListener("dragenter", () => this.send({ kind: "drag" }));
  }

  /** @param {any} message */
  send(message) {
    window.parent.postMessage(message, "*");
  }

  /** @param {any} message */
  receive(message) {
    if (message?.kind === "explains") {
      byId("axes").hidden = false;
      this.table.onDetail = (/** @type {number} */ row) => this.offer(row);
      this.table.showDetail();
    } else if (message?.kind === "explanation" && message.tensor === this.row) {
      const items = message.lines.map((/** @type {unknown} */ line) => element("li", {}, String(line).trim()));
      byId("explanation").replaceChildren(...items);
    }
  }

  /** A button for each axis of a tensor, of unknown rank one for all.
   * @param {number} row */
  offer(row) {
    if (row === this.row) return;
    this.row = row;
    byId("explanation").replaceChildren();
    const dims = row < 0 ? [] : (this.table.dimsOf(row) ?? ["unknown rank"]);
    const buttons = dims.map((text, axis) => {
      const button = element("button", { type: "button", "aria-label": `Explain axis ${axis}: ${text}` }, text);
      button.addEventListener("click", () => this.explain(axis));
      return button;
    });
    byId("axes").hidden = !buttons.length;
    byId("axis-buttons").replaceChildren(...buttons);
  }

  /** @param {number} axis */
  explain(axis) {
    [...byId("axis-buttons").children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === axis)));
    this.send({ kind: "explain", tensor: this.row, axis });
  }
}
