"""The types of a module of ECMAScript, for TypeScript."""

from __future__ import annotations

from shapeinf.codegen.names import js_string
from shapeinf.codegen.shape_module import ShapeModule

_TYPES = """\
// The types of the module with the same name.

export type Size = bigint | number;

export interface Sizes {{
{fields}}}

export interface Violation {{
  readonly condition: string;
  readonly node: string;
  readonly operator: string;
  readonly message: string;
  /** The condition with the sizes and the node that requires it. */
  readonly text: string;
}}

export class OverflowError extends RangeError {{}}

export class IllegalSizesError extends RangeError {{
  readonly violations: readonly Violation[];
}}

/** The dims of the inputs, each with its least and its largest size; null for no bound. */
export const dims: readonly (readonly [string, bigint | null, bigint | null])[];

/** The digest of the graph. */
export const digest: string;

/** The violated conditions of the contract. */
export function check(sizes: Sizes): Violation[];
"""

_SHAPE_TYPES = """\

export interface Tensor {{
  readonly name: string;
  /** The element type; null for an unknown one. */
  readonly type: string | null;
  /** The sizes of the axes, null for one that depends on data; null for an unknown rank. */
  readonly dims: readonly (bigint | null)[] | null;
  /** Upper bounds of the axes; null for an axis without one. */
  readonly maxDims: readonly (bigint | null)[] | null;
  readonly bytes: bigint | null;
  readonly maxBytes: bigint | null;
}}

export interface Shapes {{
  readonly tensors: {{
{tensors}  }};
  /** The outputs in order; null for a value that is not a tensor. */
  readonly outputs: readonly (Tensor | null)[];
  /** The most bytes of computed values in use at one program point. */
  readonly peak: bigint;
  /** Whether the peak leaves out buffers without a bound. */
  readonly peakAtLeast: boolean;
}}

export function computeShapes(sizes: Sizes): Shapes;
"""


def typescript_types(module: ShapeModule) -> str:
    """The declarations of the module for TypeScript, which a file `.d.mts` with its name holds."""
    text = _TYPES.format(fields="".join(f"  readonly {js_string(p.name)}: Size;\n" for p in module.parameters))
    if module.shapes is None:
        return text
    names = dict.fromkeys(tensor.name for tensor in module.shapes.tensors)
    return text + _SHAPE_TYPES.format(tensors="".join(f"    readonly {js_string(name)}: Tensor;\n" for name in names))
