
function readNumber(registers, register, what) {
  if (register === null) return null;
  const value = registers[register];
  if (value === null) throw new RangeError(`a division by zero in ${what}`);
  if (value < LEAST || value > MOST) throw new OverflowError(`${what} does not fit 64 bits`);
  return value;
}

function readTensor(registers, { name, type, axes, size }) {
  const read = (k) => axes && axes.map((pair) => readNumber(registers, pair[k], `a dim of ${name}`));
  const [bytes, maxBytes] = size.map((register) => readNumber(registers, register, `the bytes of ${name}`));
  return { name, type, dims: read(0), maxDims: read(1), bytes, maxBytes };
}

export function computeShapes(sizes) {
  const s = readSizes(sizes);
  const registers = evaluate(s, parts.length);
  const violated = violations([...conditions, ...requirements], registers, s);
  if (violated.length) throw new IllegalSizesError(violated);
  const list = tensors.map((tensor) => readTensor(registers, tensor));
  const byName = Object.create(null);
  for (const tensor of list) byName[tensor.name] = tensor;
  return {
    tensors: byName,
    outputs: outputs.map((number) => (number === null ? null : list[number])),
    peak: readNumber(registers, peak, "the peak of memory"),
    peakAtLeast,
  };
}
