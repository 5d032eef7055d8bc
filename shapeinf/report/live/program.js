// What the page reads from the values of its shape program, which `evaluate` computes.

/** A number; `null` after a division by zero; `undefined` where a size that depends on data is not set.
 * @typedef {bigint | null | undefined} Value */

/** @typedef {{text: string, node: string, reason: string, assumed: boolean, fields: number[],
 *             clauses: [number, number][]}} Requirement */

/** Whether one of the clauses of a requirement holds: an expression is 0, or at least 0.
 * @param {Requirement} requirement
 * @param {Value[]} outputs */
function holds(requirement, outputs) {
  return requirement.clauses.some(([output, zero]) => {
    const value = outputs[output];
    return value !== null && value !== undefined && (zero ? value === 0n : value >= 0n);
  });
}

/** The requirements that do not hold, of those whose sizes are all set.
 * @param {Requirement[]} requirements
 * @param {Value[]} outputs
 * @param {Value[]} sizes
 * @returns {Requirement[]} */
function violations(requirements, outputs, sizes) {
  return requirements.filter(
    (requirement) => requirement.fields.every((field) => sizes[field] !== undefined) && !holds(requirement, outputs),
  );
}

/** An amount of the page: `exact` is whether the value is exact, rather than an upper bound.
 * @typedef {{value: Value, exact: boolean}} Amount */

/** The amounts of the page by number, from pairs of outputs: the formula, and its bound.
 * @param {number[]} pairs
 * @param {Value[]} outputs
 * @returns {Amount[]} */
function readAmounts(pairs, outputs) {
  const amounts = [];
  for (let i = 0; i < pairs.length; i += 2) {
    const formula = pairs[i] < 0 ? undefined : outputs[pairs[i]];
    const bound = pairs[i + 1] < 0 ? undefined : outputs[pairs[i + 1]];
    amounts.push(formula === undefined ? { value: bound, exact: false } : { value: formula, exact: true });
  }
  return amounts;
}

/** @typedef {{bytes: number[], birth: number[], death: number[], unbounded: number[], name: number[],
 *             type: number[]}} Buffers */

/** The bytes in use at each program point.
 * @param {Buffers} buffers
 * @param {number} points
 * @param {Amount[]} amounts
 * @returns {bigint[]} */
function totals(buffers, points, amounts) {
  const changes = new Array(points + 1).fill(0n);
  buffers.bytes.forEach((number, i) => {
    const size = amounts[number].value;
    if (!size || buffers.birth[i] >= buffers.death[i]) return;
    changes[buffers.birth[i]] += size;
    changes[buffers.death[i]] -= size;
  });
  let total = 0n;
  return changes.slice(0, points).map((change) => (total += change));
}

/** The index of the first largest number; 0 for none.
 * @param {bigint[]} numbers */
function indexOfLargest(numbers) {
  let best = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
  return best;
}

/** All texts of the page, from what each shares with the one before it.
 * @param {{shared: number[], rest: string[]}} table
 * @returns {string[]} */
function readTexts(table) {
  let last = "";
  return table.rest.map((rest, i) => (last = last.slice(0, table.shared[i]) + rest));
}
