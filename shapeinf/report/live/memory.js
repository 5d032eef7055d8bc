// The picture of memory over time, and what is in use at one program point.

const MAX_COLUMNS = 600;
const MAX_NAMED = 8;
const MAX_NAMED_AT_PEAK = 5;
/** Smaller parts of the peak, in thousandths, are not visible and need no color. */
const MIN_NAMED_SHARE = 5n;
const MAX_LIVE = 12;
const [WIDTH, HEIGHT] = [1000, 240];

/** @typedef {{node: number[], op: number[], buffers: Buffers, weights: [number, number], inputs: [number, number]}} Timeline */

/** The program points in at most `MAX_COLUMNS` groups, each shown by its point with most bytes in use.
 * @param {bigint[]} inUse
 * @returns {{first: number, end: number, at: number}[]} */
function columnsOf(inUse) {
  const width = Math.max(1, Math.ceil(inUse.length / MAX_COLUMNS));
  const columns = [];
  for (let first = 0; first < inUse.length; first += width) {
    const end = Math.min(first + width, inUse.length);
    columns.push({ first, end, at: first + indexOfLargest(inUse.slice(first, end)) });
  }
  return columns;
}

class MemoryView {
  /** @param {Timeline} timeline
   * @param {string[]} texts
   * @param {string[]} types */
  constructor(timeline, texts, types) {
    this.timeline = timeline;
    this.texts = texts;
    this.types = types;
    /** @type {bigint[]} */
    this.inUse = [];
    /** @type {Amount[]} */
    this.amounts = [];
    this.peak = 0;
    /** The chosen program point; null to stay at the peak. @type {number | null} */
    this.chosen = null;
    this.point = byId("point");
    this.point.max = String(Math.max(timeline.node.length - 1, 0));
    this.point.addEventListener("input", () => this.choose(Number(this.point.value)));
    byId("to-peak").addEventListener("click", () => this.choose(null));
    byId("picture").addEventListener("click", (/** @type {MouseEvent} */ event) => this.click(event));
  }

  /** @param {MouseEvent} event */
  click(event) {
    const box = byId("picture").getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    const last = this.inUse.length - 1;
    this.choose(Math.min(last, Math.max(0, Math.floor(share * this.inUse.length))));
  }

  /** @param {number | null} point */
  choose(point) {
    this.chosen = point;
    this.draw();
  }

  /** @param {Amount[]} amounts
   * @param {boolean} legal
   * @returns {Amount} the peak */
  update(amounts, legal) {
    this.legal = legal;
    const { buffers, node } = this.timeline;
    this.amounts = amounts;
    this.inUse = totals(buffers, node.length, amounts);
    this.peak = indexOfLargest(this.inUse);
    this.draw();
    const exact = buffers.bytes.every((number) => amounts[number].exact);
    return { value: this.inUse.length ? this.inUse[this.peak] : 0n, exact };
  }

  /** Whether the peak leaves out buffers, which have no bound. */
  get atLeast() {
    const { buffers } = this.timeline;
    return buffers.unbounded.some((unbounded, i) => unbounded && !this.amounts[buffers.bytes[i]].exact);
  }

  /** The buffers in use at a program point, largest first.
   * @param {number} point
   * @returns {number[]} */
  live(point) {
    const { buffers } = this.timeline;
    const live = [];
    for (let i = 0; i < buffers.bytes.length; i++) {
      if (buffers.birth[i] <= point && point < buffers.death[i] && this.size(i)) live.push(i);
    }
    return live.sort((a, b) => (this.size(a) < this.size(b) ? 1 : this.size(a) > this.size(b) ? -1 : a - b));
  }

  /** The buffers with a color: the largest at the peak, then the largest of all.
   * @returns {number[]} */
  named() {
    const least = (this.inUse[this.peak] * MIN_NAMED_SHARE) / 1000n;
    const chosen = new Set(this.live(this.peak).slice(0, MAX_NAMED_AT_PEAK));
    const sizes = this.timeline.buffers.bytes.map((_, i) => i).filter((i) => this.size(i) > least);
    sizes.sort((a, b) => (this.size(a) < this.size(b) ? 1 : this.size(a) > this.size(b) ? -1 : a - b));
    for (const buffer of sizes) if (chosen.size < MAX_NAMED) chosen.add(buffer);
    return [...chosen].filter((buffer) => this.size(buffer) > least);
  }

  /** @param {number} buffer
   * @returns {bigint} */
  size(buffer) {
    return this.amounts[this.timeline.buffers.bytes[buffer]].value || 0n;
  }

  /** @param {number} point */
  pointText(point) {
    const { node, op } = this.timeline;
    return `#${point} ${this.types[op[point]]} '${this.texts[node[point]]}'`;
  }

  draw() {
    if (!this.inUse.length || !this.inUse[this.peak]) {
      this.clear();
      return;
    }
    const point = this.chosen === null ? this.peak : this.chosen;
    const named = this.named();
    this.drawAreas(named, point);
    this.showPoint(point, named);
  }

  /** Nothing is in use, or the sizes are not legal. */
  clear() {
    byId("picture").replaceChildren();
    byId("live").replaceChildren();
    byId("to-peak").disabled = true;
    for (const id of ["tick-top", "tick-middle", "live-rest"]) setText(byId(id), "");
    setText(byId("point-text"), this.legal ? "Nothing is in use." : "No values at these sizes.");
  }

  /** @param {number[]} named
   * @param {number} point */
  drawAreas(named, point) {
    const top = this.inUse[this.peak];
    const columns = columnsOf(this.inUse);
    const heights = columns.map(() => 0n);
    const picture = byId("picture");
    picture.replaceChildren();
    const order = [...named].sort((a, b) => this.duration(b) - this.duration(a));
    for (const buffer of order) {
      const low = [...heights];
      columns.forEach((column, i) => (heights[i] += this.isLive(buffer, column.at) ? this.size(buffer) : 0n));
      picture.append(this.area(columns, low, heights, top, `c${named.indexOf(buffer)}`));
    }
    const all = columns.map((column) => this.inUse[column.at]);
    picture.append(this.area(columns, heights, all, top, "rest"));
    picture.append(this.line(this.peak, "peak"));
    if (point !== this.peak) picture.append(this.line(point, "chosen"));
    setText(byId("tick-top"), bytesText(top));
    setText(byId("tick-middle"), bytesText(top / 2n));
  }

  /** @param {number} buffer */
  duration(buffer) {
    return this.timeline.buffers.death[buffer] - this.timeline.buffers.birth[buffer];
  }

  /** @param {number} buffer
   * @param {number} point */
  isLive(buffer, point) {
    return this.timeline.buffers.birth[buffer] <= point && point < this.timeline.buffers.death[buffer];
  }

  /** The area between two heights, column by column.
   * @param {{first: number, end: number}[]} columns
   * @param {bigint[]} low
   * @param {bigint[]} high
   * @param {bigint} top
   * @param {string} style */
  area(columns, low, high, top, style) {
    const count = this.inUse.length;
    const y = (/** @type {bigint} */ bytes) => HEIGHT - (top ? Number((bytes * 100000n) / top) / 100000 : 0) * HEIGHT;
    const pieces = columns.map((column, i) => {
      if (low[i] === high[i]) return "";
      const [left, right] = [(column.first * WIDTH) / count, (column.end * WIDTH) / count];
      return `M${left.toFixed(2)} ${y(low[i]).toFixed(2)}V${y(high[i]).toFixed(2)}H${right.toFixed(2)}V${y(low[i]).toFixed(2)}Z`;
    });
    return drawingElement("path", { class: style, d: pieces.join("") });
  }

  /** @param {number} point
   * @param {string} style */
  line(point, style) {
    const x = String((((point + 0.5) * WIDTH) / this.inUse.length).toFixed(2));
    return drawingElement("line", { class: style, x1: x, x2: x, y1: "0", y2: String(HEIGHT), "vector-effect": "non-scaling-stroke" });
  }

  /** @param {number} point
   * @param {number[]} named */
  showPoint(point, named) {
    const live = this.live(point);
    this.point.value = String(point);
    this.point.setAttribute("aria-valuetext", this.pointText(point));
    byId("to-peak").disabled = point === this.peak;
    const where = point === this.peak ? "Peak" : "Here";
    setText(byId("point-text"), `${where}: ${bytesText(this.inUse[point])} in ${live.length} ${live.length === 1 ? "tensor" : "tensors"} at ${this.pointText(point)}`);
    byId("live").replaceChildren(...live.slice(0, MAX_LIVE).map((buffer) => this.liveRow(buffer, point, named.indexOf(buffer))));
    const rest = live.slice(MAX_LIVE).reduce((sum, buffer) => sum + this.size(buffer), 0n);
    setText(byId("live-rest"), rest ? `and ${live.length - MAX_LIVE} more, ${bytesText(rest)} together` : "");
  }

  /** @param {number} buffer
   * @param {number} point
   * @param {number} color */
  liveRow(buffer, point, color) {
    const { buffers } = this.timeline;
    const size = this.size(buffer);
    const percent = Number((size * 1000n) / this.inUse[point]) / 10;
    const amount = this.amounts[buffers.bytes[buffer]];
    const least = buffers.unbounded[buffer] && !amount.exact;
    const text = least ? `≥ ${bytesText(size)}` : amountText(amount, bytesText);
    const key = element("span", { class: `key ${color < 0 ? "rest" : `c${color}`}` });
    return element(
      "tr",
      {},
      element("td", { class: "name" }, key, this.texts[buffers.name[buffer]]),
      element("td", { class: "formula" }, this.types[buffers.type[buffer]]),
      element("td", { class: "number", title: `${groupDigits(size)} bytes` }, text),
      element("td", { class: "number" }, `${percent.toFixed(1)}%`),
    );
  }
}
