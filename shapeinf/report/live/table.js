// The table of all tensors: only the rows in view are elements.

/** Rows above and below the view. */
const MARGIN = 6;

/** Characters at the end of a name that are always shown. */
const NAME_END = 16;

/** @typedef {{name: number[], type: number[], shape: number[], value: number[], bytes: number[], op: number[],
 *             role: number[], node: number[]}} Tensors */

/** The columns of numbers, which change with the sizes. */
const NUMBERS = ["now", "bytes", "macs"];
const ROLES = ["input", "output", "computed", "constant"];

class TensorTable {
  /** @param {any} data
   * @param {string[]} texts
   * @param {CostView} cost */
  constructor(data, texts, cost) {
    this.cost = cost;
    /** @type {Tensors} */
    this.tensors = data.tensors;
    this.texts = texts;
    this.types = data.types;
    this.dims = data.dims;
    this.shapes = data.shapes;
    /** @type {Amount[]} */
    this.amounts = [];
    this.formulas = this.shapes.map((/** @type {number[]} */ rows) => `[${rows.map((row) => this.dims[row][0]).join(", ")}]`);
    this.searched = this.tensors.name.map((_, i) => this.searchText(i));
    this.sorted = { key: "order", down: false };
    this.active = 0;
    /** Called with the active row, -1 for none.
     * @type {(row: number) => void} */
    this.onDetail = () => {};
    this.rows = this.tensors.name.map((_, i) => i);
    this.listen();
    this.select();
  }

  listen() {
    byId("search").addEventListener("input", () => this.select());
    byId("role").addEventListener("change", () => this.select());
    for (const button of document.querySelectorAll("#head button")) {
      button.addEventListener("click", () => this.sortBy(/** @type {any} */ (button).dataset.key));
    }
    this.view = byId("rows-view");
    this.view.addEventListener("scroll", () => this.render(), { passive: true });
    this.grid = byId("grid");
    this.grid.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.key(event));
    this.view.addEventListener("click", (/** @type {MouseEvent} */ event) => this.click(event));
    window.addEventListener("resize", () => this.render());
  }

  /** @param {number} i */
  searchText(i) {
    const { name, type, shape, op } = this.tensors;
    const formula = shape[i] < 0 ? "" : this.formulas[shape[i]];
    return `${this.texts[name[i]]} ${this.types[type[i]]} ${formula} ${this.types[op[i]]}`.toLowerCase();
  }

  /** Choose the rows of the search and the role. */
  select() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const role = byId("role").value;
    this.rows = [];
    this.searched.forEach((text, i) => {
      if (this.hasRole(i, role) && words.every((/** @type {string} */ word) => text.includes(word))) this.rows.push(i);
    });
    this.active = 0;
    this.view.scrollTop = 0;
    this.sort();
    this.render();
  }

  /** @param {number} i
   * @param {string} role */
  hasRole(i, role) {
    const own = ROLES[this.tensors.role[i]];
    if (role === "all") return true;
    if (role === "run") return own !== "constant";
    if (role === "io") return own === "input" || own === "output";
    if (role === "unknown") return this.isUnknown(i);
    return own === role;
  }

  /** @param {number} i */
  isUnknown(i) {
    const shape = this.tensors.shape[i];
    return shape < 0 || this.shapes[shape].some((/** @type {number} */ row) => !this.amounts[this.dims[row][1]]?.exact);
  }

  /** Sort by a column, largest sizes first; again for the other direction, and once more for the order of the graph.
   * @param {string} key */
  sortBy(key) {
    const firstDown = NUMBERS.includes(key);
    if (this.sorted.key !== key) this.sorted = { key, down: firstDown };
    else if (this.sorted.down === firstDown) this.sorted = { key, down: !firstDown };
    else this.sorted = { key: "order", down: false };
    for (const header of document.querySelectorAll("#head [role=columnheader]")) {
      const own = /** @type {any} */ (header.firstElementChild).dataset.key === this.sorted.key;
      header.setAttribute("aria-sort", own ? (this.sorted.down ? "descending" : "ascending") : "none");
    }
    this.sort();
    this.render();
  }

  sort() {
    const { key, down } = this.sorted;
    const rank = this.ranks(key);
    this.rows.sort((a, b) => (down ? rank(b) - rank(a) : rank(a) - rank(b)) || a - b);
  }

  /** The order of a column as numbers: distinct values are compared once.
   * @param {string} key
   * @returns {(row: number) => number} */
  ranks(key) {
    const { name, type, shape, bytes, op } = this.tensors;
    if (key === "name") return (row) => name[row];
    if (key === "bytes") return rankOf(bytes, (number) => this.amounts[number]?.value ?? -1n);
    if (key === "macs") return rankOf(this.tensors.node, (node) => this.cost.macs(node) ?? -1n);
    if (key === "shape") return rankOf(shape, (number) => (number < 0 ? "" : this.formulas[number]));
    if (key === "now") return rankOf(shape, (number) => this.volume(number));
    if (key === "type") return rankOf(type, (number) => this.types[number]);
    if (key === "op") return rankOf(op, (number) => this.types[number]);
    return (row) => row;
  }

  /** @param {number} shape
   * @returns {bigint} */
  volume(shape) {
    if (shape < 0) return -1n;
    return this.shapes[shape].reduce((/** @type {bigint} */ product, /** @type {number} */ row) => {
      return product * (this.amounts[this.dims[row][1]]?.value ?? 0n);
    }, 1n);
  }

  /** @param {Amount[]} amounts */
  update(amounts) {
    this.amounts = amounts;
    if (byId("role").value === "unknown") this.select();
    if (NUMBERS.includes(this.sorted.key)) this.sort();
    this.render();
  }

  /** The shape of a number at the sizes of the fields.
   * @param {number} shape */
  shapeNow(shape) {
    if (shape < 0) return "unknown rank";
    const dims = this.shapes[shape].map((/** @type {number} */ row) => amountText(this.amounts[this.dims[row][1]], String, "?"));
    return `[${dims.join(", ")}]`;
  }

  /** The formulas of the dims of a tensor; null where its rank is unknown.
   * @param {number} row
   * @returns {string[] | null} */
  dimsOf(row) {
    const shape = this.tensors.shape[row];
    return shape < 0 ? null : this.shapes[shape].map((/** @type {number} */ dim) => this.dims[dim][0]);
  }

  get rowHeight() {
    return parseFloat(getComputedStyle(this.view).getPropertyValue("--row"));
  }

  render() {
    if (!this.amounts.length && this.tensors.name.length) return;
    const height = this.rowHeight;
    byId("head").style.paddingRight = `${12 + this.view.offsetWidth - this.view.clientWidth}px`;
    byId("rows").style.height = `${this.rows.length * height}px`;
    const first = Math.max(0, Math.floor(this.view.scrollTop / height) - MARGIN);
    const last = Math.min(this.rows.length, Math.ceil((this.view.scrollTop + this.view.clientHeight) / height) + MARGIN);
    const nodes = [];
    for (let position = first; position < last; position++) nodes.push(this.row(position, height));
    byId("rows").replaceChildren(...nodes);
    this.grid.setAttribute("aria-rowcount", String(this.rows.length + 1));
    const shown = document.getElementById(`row-${this.active}`);
    if (shown) this.grid.setAttribute("aria-activedescendant", shown.id);
    else this.grid.removeAttribute("aria-activedescendant");
    setText(byId("row-count"), `${groupDigits(BigInt(this.rows.length))} of ${groupDigits(BigInt(this.tensors.name.length))} tensors`);
    this.showDetail();
  }

  /** @param {number} position
   * @param {number} height */
  row(position, height) {
    const i = this.rows[position];
    const { name, type, shape, bytes, op, role } = this.tensors;
    const cell = (/** @type {string} */ style, /** @type {string} */ text) =>
      element("span", { role: "gridcell", class: style, title: text }, text);
    const operator = this.types[op[i]] || ROLES[role[i]];
    const node = element(
      "div",
      { role: "row", id: `row-${position}`, "aria-rowindex": String(position + 2), "aria-selected": String(position === this.active) },
      nameCell(this.texts[name[i]]),
      cell("type", this.types[type[i]]),
      cell("formula", shape[i] < 0 ? "unknown rank" : this.formulas[shape[i]]),
      cell("now", this.shapeNow(shape[i])),
      cell("number", amountText(this.amounts[bytes[i]], bytesText)),
      cell("number macs", this.macsText(i)),
      cell("op", operator),
    );
    node.style.top = `${position * height}px`;
    return node;
  }

  /** The multiply-accumulates of the node that computes a tensor; empty for none.
   * @param {number} i */
  macsText(i) {
    const macs = this.cost.macs(this.tensors.node[i]);
    return macs ? countText(macs) : "";
  }

  /** The active row, in full. */
  showDetail() {
    const i = this.rows[this.active];
    const detail = byId("detail");
    this.onDetail(i ?? -1);
    if (i === undefined) {
      setText(detail, "No tensor matches.");
      return;
    }
    const { name, type, shape, value, bytes, op, role } = this.tensors;
    const formula = shape[i] < 0 ? "of unknown rank" : this.formulas[shape[i]];
    const size = amountText(this.amounts[bytes[i]], (value) => `${groupDigits(value)} bytes`, "unknown size");
    const own = ROLES[role[i]];
    const from = (own === "computed" ? "" : `, ${own}`) + (this.types[op[i]] ? `, from ${this.types[op[i]]}` : "");
    const macs = this.cost.macs(this.tensors.node[i]);
    const cost = macs ? `, ${groupDigits(macs)} multiply-accumulates` : "";
    const contents = this.types[value[i]] ? `, value ${this.types[value[i]]}` : "";
    setText(
      detail,
      `${this.texts[name[i]]}: ${this.types[type[i]]} ${formula} = ${this.shapeNow(shape[i])}${contents}, ${size}${from}${cost}`,
    );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const page = Math.max(1, Math.floor(this.view.clientHeight / this.rowHeight) - 1);
    const last = this.rows.length - 1;
    /** @type {Record<string, number>} */
    const target = {
      ArrowDown: this.active + 1,
      ArrowUp: this.active - 1,
      PageDown: this.active + page,
      PageUp: this.active - page,
      Home: 0,
      End: last,
    };
    if (event.target !== this.grid || !(event.key in target) || last < 0) return;
    event.preventDefault();
    this.activate(Math.min(last, Math.max(0, target[event.key])));
  }

  /** @param {MouseEvent} event */
  click(event) {
    const row = /** @type {Element} */ (event.target).closest("[role=row]");
    if (row) this.activate(Number(row.id.slice("row-".length)));
  }

  /** @param {number} position */
  activate(position) {
    this.active = position;
    const height = this.rowHeight;
    const { scrollTop, clientHeight } = this.view;
    if (position * height < scrollTop) this.view.scrollTop = position * height;
    else if ((position + 1) * height > scrollTop + clientHeight) this.view.scrollTop = (position + 1) * height - clientHeight;
    this.render();
  }
}

/** A name whose middle is left out where it does not fit: names differ at their ends.
 * @param {string} name */
function nameCell(name) {
  const end = element("span", { class: "end" }, name.slice(-NAME_END));
  const start = element("span", { class: "start" }, name.slice(0, -NAME_END));
  return element("span", { role: "gridcell", class: "name", title: name }, start, end);
}

/** The rank of each row by the value of its number in a column.
 * @param {number[]} column
 * @param {(number: number) => bigint | string} value
 * @returns {(row: number) => number} */
function rankOf(column, value) {
  const distinct = [...new Set(column)].map((number) => ({ number, value: value(number) }));
  distinct.sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
  /** @type {Map<number, number>} */
  const ranks = new Map();
  distinct.forEach((item, i) => {
    const same = i > 0 && distinct[i - 1].value === item.value;
    ranks.set(item.number, same ? /** @type {number} */ (ranks.get(distinct[i - 1].number)) : i);
  });
  return (row) => /** @type {number} */ (ranks.get(column[row]));
}
