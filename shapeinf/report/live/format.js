// Numbers as text. Only the text is rounded, never a value.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
/** The digits of a size, as on the command line. */
const MAX_DIGITS = 18;
const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];

/** A number with separators.
 * @param {bigint} value */
function groupDigits(value) {
  return value === HUGE ? "more than 2^4096" : String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number past all units, with three digits: `1.59e28`.
 * @param {bigint} value */
function powerText(value) {
  const digits = String(value);
  return `${digits[0]}.${digits.slice(1, 3)}e${digits.length - 1}`;
}

/** A number in the largest unit that leaves at least 1, with three digits.
 * @param {bigint} value
 * @param {bigint} base
 * @param {string[]} units */
function scaledText(value, base, units) {
  if (value === HUGE) return groupDigits(value);
  let unit = 0;
  let divisor = 1n;
  while (unit + 1 < units.length && value >= divisor * base) {
    divisor *= base;
    unit += 1;
  }
  const amount = Number((value * 1000n) / divisor) / 1000;
  if (amount >= 1e6) return `${powerText(value)} ${units[0]}`.trim();
  const digits = amount >= 100 || unit === 0 ? amount.toFixed(0) : String(Number(amount.toPrecision(3)));
  return `${digits} ${units[unit]}`.trim();
}

/** @param {bigint} value */
const bytesText = (value) => scaledText(value, 1024n, UNITS);

/** @param {bigint} value */
const countText = (value) => scaledText(value, 1000n, PREFIXES);

/** An amount as text: `none` where there is no number, marked where it is an upper bound.
 * @param {Amount} amount
 * @param {(value: bigint) => string} text */
function amountText(amount, text, none = "unknown") {
  if (amount.value === undefined) return none;
  if (amount.value === null) return "undefined";
  return (amount.exact ? "" : "≤ ") + text(amount.value);
}

/** The error in the text of a field; empty for none.
 * @param {string} text
 * @returns {string} */
function numberError(text) {
  if (!/^\d+$/.test(text)) return "A size is a whole number of at least 0.";
  return text.replace(/^0+/, "").length > MAX_DIGITS ? "A size is less than 10^18." : "";
}
