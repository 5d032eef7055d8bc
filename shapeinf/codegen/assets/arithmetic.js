// Exact integers of any size. A value is `null` after a division by zero, and `undefined` where a size is not set.

/** Stands for every larger number, so that no program takes long. */
const HUGE = 1n << 4096n;

/** A result, or `HUGE` for a larger one.
 * @param {bigint} value */
function limit(value) {
  return -HUGE < value && value < HUGE ? value : HUGE;
}

/** The sum, unless an operand has no value.
 * @param {bigint | null | undefined} a
 * @param {bigint | null | undefined} b */
function add(a, b) {
  if (typeof a !== "bigint" || typeof b !== "bigint") return a === undefined || b === undefined ? undefined : null;
  return a === HUGE || b === HUGE ? HUGE : limit(a + b);
}

/** The product, unless an operand has no value.
 * @param {bigint | null | undefined} a
 * @param {bigint | null | undefined} b */
function multiply(a, b) {
  if (typeof a !== "bigint" || typeof b !== "bigint") return a === undefined || b === undefined ? undefined : null;
  return a === HUGE || b === HUGE ? HUGE : limit(a * b);
}

/** The quotient, rounded down, unless an operand has no value.
 * @param {bigint | null | undefined} a
 * @param {bigint | null | undefined} b */
function floordiv(a, b) {
  if (typeof a !== "bigint" || typeof b !== "bigint") return a === undefined || b === undefined ? undefined : null;
  if (b === 0n) return null;
  if (a === HUGE || b === HUGE) return HUGE;
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

/** The larger number, unless an operand has no value.
 * @param {bigint | null | undefined} a
 * @param {bigint | null | undefined} b */
function maximum(a, b) {
  if (typeof a !== "bigint" || typeof b !== "bigint") return a === undefined || b === undefined ? undefined : null;
  return a > b ? a : b;
}
