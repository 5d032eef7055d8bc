const LEAST = -(1n << 63n);
const MOST = (1n << 63n) - 1n;

// A number that does not fit 64 bits.
export class OverflowError extends RangeError {}

// Sizes with which the graph does not run, or which its formulas do not cover; `violations` has the conditions.
export class IllegalSizesError extends RangeError {
  constructor(violations) {
    super(violations.map((violation) => violation.text).join("\n"));
    this.violations = violations;
  }
}

function readSize(sizes, [name, least, most]) {
  const size = Object.prototype.hasOwnProperty.call(sizes, name) ? sizes[name] : undefined;
  if (typeof size !== "bigint" && !Number.isSafeInteger(size)) {
    const wrong = size === undefined ? "is missing" : `must be an integer, not ${typeof size} ${String(size)}`;
    throw new TypeError(`the size of ${name} ${wrong}`);
  }
  const value = BigInt(size);
  if ((least !== null && value < least) || (most !== null && value > most)) {
    throw new RangeError(`${name} = ${value} is outside of ${least ?? ""}..${most ?? ""}`);
  }
  if (value < LEAST || value > MOST) throw new OverflowError(`${name} = ${value} does not fit 64 bits`);
  return value;
}

function readSizes(sizes) {
  if (sizes === null || typeof sizes !== "object") throw new TypeError("expected an object with the size of each dim");
  for (const name of Object.keys(sizes)) {
    if (!dims.some((dim) => dim[0] === name)) throw new TypeError(`the model has no dim ${name}`);
  }
  return dims.map((dim) => readSize(sizes, dim));
}

function holds(condition, registers) {
  const values = condition.tests.map(([register, zero]) => [registers[register], zero]);
  if (values.some(([value, zero]) => value !== null && value !== HUGE && (zero ? value === 0n : value >= 0n))) return true;
  if (values.some(([value]) => value === HUGE)) throw new OverflowError(`a number in ${condition.condition} is too large`);
  if (values.some(([value]) => value === null)) throw new RangeError(`a division by zero in ${condition.condition}`);
  return false;
}

function violation({ condition, node, operator, message }, s) {
  const at = dims.map(([name], i) => `${name}=${s[i]}`).join(", ");
  const by = node ? `, required by ${`${operator} '${node}'`.trim()}` : "";
  return { condition, node, operator, message, text: `${condition} does not hold at ${at}${by}: ${message}` };
}

function violations(all, registers, s) {
  return all.filter((condition) => !holds(condition, registers)).map((condition) => violation(condition, s));
}

export function check(sizes) {
  const s = readSizes(sizes);
  return violations(conditions, evaluate(s, checked), s);
}
