// The page: reads its data, and evaluates the program whenever a size changes.

/** The most requirements that are listed for illegal sizes. */
const MAX_VIOLATIONS = 6;

class Page {
  /** @param {any} data */
  constructor(data) {
    this.data = data;
    this.texts = readTexts(data.texts);
    this.memory = new MemoryView(data.timeline, this.texts, data.types);
    this.cost = new CostView(data.cost, this.texts, data.types);
    this.table = new TensorTable(data, this.texts, this.cost);
    this.fields = buildFields(data.fields, () => this.schedule());
    buildDerived(data.derived);
    this.initial = this.fields.map((field) => field.size);
    /** @type {Amount[]} */
    this.amounts = [];
    /** @type {Requirement[]} */
    this.violated = [];
    /** @type {Amount} */
    this.peak = { value: 0n, exact: true };
    byId("reset").addEventListener("click", () => this.setSizes(this.initial));
    byId("reset").disabled = !this.fields.length;
    document.body.classList.add("live");
    this.update();
    this.embedding = new Embedding(this.table);
  }

  /** Evaluate once for all changes before the next frame. */
  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.update();
    });
  }

  /** @param {(bigint | undefined)[]} sizes */
  setSizes(sizes) {
    this.fields.forEach((field, i) => field.set(sizes[i]));
    this.update();
  }

  /** Evaluate everything at the sizes of the fields. */
  update() {
    const sizes = this.fields.map((field) => field.size);
    const registers = evaluate(sizes, parts.length);
    const outputs = this.data.outputs.map((/** @type {number} */ register) => registers[register]);
    this.violated = violations(this.data.requirements, outputs, sizes);
    this.broken = this.fields.some((field) => field.broken);
    this.verdict = this.judge(sizes);
    this.legal = !this.broken && !this.violated.length && this.verdict !== false;
    this.amounts = readAmounts(this.data.amounts, this.legal ? outputs : []);
    this.showLegality();
    this.peak = this.memory.update(this.amounts, this.legal);
    this.cost.update(this.amounts, this.legal);
    this.table.update(this.amounts);
    this.showShapes();
    this.showTotals();
  }

  /** Whether the sizes are legal: the first ones were checked when the page was written, others by the requirements,
   * which do not decide all conditions of every model.
   * @param {(bigint | undefined)[]} sizes
   * @returns {boolean | null} null where it is not decided */
  judge(sizes) {
    const { start, open } = this.data;
    if (this.violated.length) return false;
    const isStart = this.initial.every((size, i) => size === sizes[i]);
    return isStart ? start.verdict : open.length ? null : true;
  }

  /** The class, the headline and the word of the bar for the sizes.
   * @returns {[string, string, string]} */
  status() {
    const count = this.data.open.length;
    if (this.broken) return ["illegal", "A size is missing", "no size"];
    if (this.violated.length && this.violated.every((r) => r.assumed)) return ["open", "Outside of this report", "not covered"];
    if (this.verdict === false) return ["illegal", "Illegal sizes", "illegal"];
    if (this.verdict) return ["legal", "Legal sizes", "legal"];
    const conditions = count === 1 ? "1 condition depends" : `${count} conditions depend`;
    return ["open", `No requirement is violated; ${conditions} on data or branches`, "not decided"];
  }

  showLegality() {
    const [style, headline, word] = this.status();
    byId("status").className = style;
    setText(byId("status-text"), headline);
    setText(byId("bar-status"), word);
    byId("bar-status").className = style;
    const start = this.verdict === false ? this.data.start.reasons : [];
    const reasons = this.violated.length ? this.violated.map(violationText) : this.verdict === null ? this.data.open : start;
    const listed = reasons.slice(0, MAX_VIOLATIONS).map((text) => element("li", {}, text));
    const left = reasons.length - listed.length;
    if (left > 0) listed.push(element("li", {}, `and ${left} more`));
    byId("violations").replaceChildren(...listed);
    const fields = new Set(this.violated.flatMap((r) => r.fields));
    this.fields.forEach((field, i) => field.setIllegal(fields.has(i)));
  }

  /** The shapes in the tables of inputs, outputs and derived dims. */
  showShapes() {
    for (const cell of document.querySelectorAll("[data-shape]")) {
      setText(cell, this.legal ? this.table.shapeNow(Number(/** @type {any} */ (cell).dataset.shape)) : "—");
    }
    for (const cell of document.querySelectorAll("[data-amount]")) {
      const amount = this.amounts[Number(/** @type {any} */ (cell).dataset.amount)];
      setText(cell, this.legal ? amountText(amount, groupDigits) : "—");
    }
  }

  showTotals() {
    const { timeline } = this.data;
    const mark = this.memory.atLeast ? "≥ " : this.peak.exact ? "" : "≤ ";
    const peak = this.peak.value ?? 0n;
    this.showTotal("peak", this.legal ? mark + bytesText(peak) : "—", this.legal ? `${groupDigits(peak)} bytes` : "");
    const node = this.memory.inUse.length && this.legal ? `Peak at ${this.memory.pointText(this.memory.peak)}` : "";
    setText(byId("peak-node"), node);
    this.showTensors();
    this.showBytes("weights", timeline.weights);
    this.showBytes("inputs", timeline.inputs);
    setText(byId("bar-peak"), byId("total-peak").textContent);
  }

  /** The peak of the tensors alone, where the page is about the memory of a runtime. */
  showTensors() {
    const { plain } = this.data;
    if (!plain) return;
    const inUse = totals(plain.buffers, plain.points, this.amounts);
    const peak = inUse.length ? inUse[indexOfLargest(inUse)] : 0n;
    const exact = plain.buffers.bytes.every((/** @type {number} */ number) => this.amounts[number].exact);
    const mark = plain.unbounded ? "≥ " : exact ? "" : "≤ ";
    this.showTotal("tensors", this.legal ? mark + bytesText(peak) : "—", this.legal ? `${groupDigits(peak)} bytes` : "");
  }

  /** @param {string} name
   * @param {[number, number]} total the amount, and how many buffers of unknown size it leaves out */
  showBytes(name, [number, unknown]) {
    const amount = this.amounts[number];
    const exact = amount.value === null || amount.value === undefined ? "" : `${groupDigits(amount.value)} bytes`;
    const mark = unknown ? "≥ " : "";
    this.showTotal(name, this.legal ? mark + amountText(amount, bytesText) : "—", this.legal ? exact : "");
  }

  /** @param {string} name
   * @param {string} text
   * @param {string} exact */
  showTotal(name, text, exact) {
    setText(byId(`total-${name}`), text);
    setText(byId(`exact-${name}`), exact);
  }
}

/** A requirement that does not hold, with the node that has it.
 * @param {Requirement} requirement */
function violationText(requirement) {
  const { text, node, reason, assumed } = requirement;
  const by = node ? ` '${node}'` : "";
  const because = reason ? `: ${reason}` : "";
  if (assumed) return `${text} is assumed here${because}${by ? ` (node${by})` : ""}; write a new report for these sizes`;
  return `${text} is required${by ? ` by${by}` : ""}${because}`;
}

const page = new Page(JSON.parse(byId("data").textContent));
