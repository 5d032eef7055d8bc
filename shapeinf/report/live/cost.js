// The cost of the model: sums over all nodes, by operator, and the most expensive nodes.

const MAX_NODES = 12;
const [MACS, OPERATIONS, READ, WRITTEN, PARAMETERS, BOUNDED, LEAST] = [0, 1, 2, 3, 4, 5, 6];

/** Each distinct cost is a row: five numbers of amounts, whether they are upper bounds, and a bit for each amount that is
 * a lower bound while a size in it is not set. `row` has that of each node.
 * @typedef {{rows: number[][], name: number[], op: number[], row: number[], uncounted: [number, number][]}} Cost */

/** A sum over nodes: the five amounts, and how many nodes it counts.
 * @typedef {{op: number, nodes: number, values: bigint[]}} Group */

class CostView {
  /** @param {Cost} cost
   * @param {string[]} texts
   * @param {string[]} types */
  constructor(cost, texts, types) {
    this.cost = cost;
    this.texts = texts;
    this.types = types;
    this.counts = this.countRows();
    /** @type {Group[]} */
    this.groups = [];
    /** @type {bigint[]} */
    this.total = [];
    /** The amounts of each distinct cost; null without a bound. @type {(bigint[] | null)[]} */
    this.values = [];
  }

  /** How many nodes of each operator have each cost.
   * @returns {Map<number, Map<number, number>>} */
  countRows() {
    const counts = new Map();
    this.cost.row.forEach((row, i) => {
      const op = this.cost.op[i];
      if (!counts.has(op)) counts.set(op, new Map());
      const own = counts.get(op);
      own.set(row, (own.get(row) || 0) + 1);
    });
    return counts;
  }

  /** @param {Amount[]} amounts
   * @param {boolean} legal */
  update(amounts, legal) {
    const missing = (/** @type {number[]} */ row) => row.some((n) => amounts[n].value === undefined || amounts[n].value === null);
    const numbers = this.cost.rows.map((row) => row.slice(0, BOUNDED));
    this.values = numbers.map((row) => (missing(row) ? null : row.map((n) => /** @type {bigint} */ (amounts[n].value))));
    this.groups = this.sumGroups(amounts);
    this.total = this.groups.reduce((sum, group) => sum.map((value, k) => value + group.values[k]), [0n, 0n, 0n, 0n, 0n]);
    const isLower = (/** @type {number} */ i, /** @type {number} */ k) => ((this.cost.rows[i][LEAST] >> k) & 1) === 1 && !amounts[numbers[i][k]].exact;
    const isLeast = (/** @type {number} */ i) => this.values[i] === null || [MACS, OPERATIONS, PARAMETERS].some((k) => isLower(i, k));
    const isMost = (/** @type {number} */ i) => this.cost.rows[i][BOUNDED] === 1 || numbers[i].some((n, k) => !amounts[n].exact && !isLower(i, k));
    this.atLeast = this.cost.uncounted.length > 0 || this.cost.row.some(isLeast);
    this.atMost = numbers.some((_, i) => this.values[i] !== null && isMost(i));
    this.show(legal);
  }

  /** The sums by operator, those with most multiply-accumulates first.
   * @param {Amount[]} amounts
   * @returns {Group[]} */
  sumGroups(amounts) {
    /** @type {Map<number, Group>} */
    const groups = new Map();
    const group = (/** @type {number} */ op) => {
      if (!groups.has(op)) groups.set(op, { op, nodes: 0, values: [0n, 0n, 0n, 0n, 0n] });
      return /** @type {Group} */ (groups.get(op));
    };
    for (const [op, rows] of this.counts) for (const [row, count] of rows) this.addRow(group(op), row, count, amounts);
    for (const [op, number] of this.cost.uncounted) group(op).values[PARAMETERS] += amounts[number].value || 0n;
    return [...groups.values()].sort((a, b) => compareDown(a.values, b.values) || a.op - b.op);
  }

  /** @param {Group} group
   * @param {number} row
   * @param {number} count
   * @param {Amount[]} amounts */
  addRow(group, row, count, amounts) {
    const values = this.values[row];
    if (values === null) {
      group.values[PARAMETERS] += BigInt(count) * (amounts[this.cost.rows[row][PARAMETERS]].value || 0n);
      return;
    }
    group.nodes += count;
    values.forEach((value, k) => (group.values[k] += BigInt(count) * value));
  }

  /** The multiply-accumulates of a node; null where they are not known.
   * @param {number} node
   * @returns {bigint | null} */
  macs(node) {
    const values = node < 0 ? null : this.values[this.cost.row[node]];
    return values ? values[MACS] : null;
  }

  /** @param {boolean} legal */
  show(legal) {
    const mark = this.atLeast ? "≥ " : this.atMost ? "≤ " : "";
    const total = this.total;
    setText(byId("total-macs"), legal ? mark + countText(total[MACS]) : "—");
    setText(byId("exact-macs"), legal ? groupDigits(total[MACS]) : "");
    setText(byId("total-parameters"), legal ? countText(total[PARAMETERS]) : "—");
    setText(byId("exact-parameters"), legal ? groupDigits(total[PARAMETERS]) : "");
    setText(byId("bar-macs"), byId("total-macs").textContent);
    const groups = legal ? this.groups : [];
    byId("by-operator").replaceChildren(...groups.map((group) => this.groupRow(group, total[MACS])));
    byId("by-node").replaceChildren(...(legal ? this.expensive() : []).map((node) => this.nodeRow(node, total[MACS])));
  }

  /** The nodes with most multiply-accumulates.
   * @returns {number[]} */
  expensive() {
    const nodes = this.cost.row.map((_, i) => i).filter((i) => this.macs(i));
    nodes.sort((a, b) => compareDown([this.macs(a) || 0n], [this.macs(b) || 0n]) || a - b);
    return nodes.slice(0, MAX_NODES);
  }

  /** @param {Group} group
   * @param {bigint} all */
  groupRow(group, all) {
    const { values } = group;
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, this.types[group.op]),
      element("td", { class: "number" }, groupDigits(BigInt(group.nodes))),
      numberCell(values[MACS], countText),
      element("td", { class: "number" }, shareText(values[MACS], all)),
      numberCell(values[OPERATIONS], countText, "minor"),
      numberCell(values[PARAMETERS], countText),
      numberCell(values[READ] + values[WRITTEN], bytesText, "minor"),
    );
  }

  /** @param {number} node
   * @param {bigint} all */
  nodeRow(node, all) {
    const macs = this.macs(node) || 0n;
    return element(
      "tr",
      {},
      element("td", { class: "name" }, this.texts[this.cost.name[node]]),
      element("td", {}, this.types[this.cost.op[node]]),
      numberCell(macs, countText),
      element("td", { class: "number" }, shareText(macs, all)),
    );
  }
}

/** The order of two lists of numbers, the larger first.
 * @param {bigint[]} a
 * @param {bigint[]} b */
function compareDown(a, b) {
  const k = a.findIndex((value, i) => value !== b[i]);
  return k < 0 ? 0 : a[k] < b[k] ? 1 : -1;
}

/** @param {bigint} value
 * @param {(value: bigint) => string} text
 * @param {string} style */
function numberCell(value, text, style = "") {
  return element("td", { class: `number ${style}`, title: groupDigits(value) }, text(value));
}

/** A part of a sum in percent; empty for nothing.
 * @param {bigint} part
 * @param {bigint} all */
function shareText(part, all) {
  return part ? `${(Number((part * 1000n) / all) / 10).toFixed(1)}%` : "";
}
