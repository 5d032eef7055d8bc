"""Integer expressions over symbols: interned canonical forms, intervals, evaluation and text.

Each file imports only files before it in this list:

- `atoms`: symbols, rounded quotients and maxima.
- `dimension`: `Dimension` and `Scope`, with sums and products.
- `factors`: products of two sums, in their expanded form.
- `interval`, `usual_bounds`: bounds, also those of products.
- `division`, `nests`, `extremum`: canonical quotients, maxima and minima; all need bounds.
- `equations`, `evaluation`: equations `e == 0`; substitution and values.
- `ratios`: exact quotients in the texts of other tools.
- `parsing`: from text.
- `notations`, `printing`: to text, also in the notations of other tools.
- `file_texts`: from the texts in files, where a text may be a name.
- `periods`: by which numbers dims are linear on congruence classes.
- `straight_line`, `exact_runs`, `many_bindings`: programs for many dims, and their values at one and at many bindings.

Three operators of a `Dimension` need a later file: `//`, text, and a sum past the caps. `division`, `printing` and
`interval` set them in `dimension.ALGEBRA`.
"""

from shapeinf.expr.dimension import Dimension, DimSize, Scope
from shapeinf.expr.division import ceildiv, constant_divisor, exact_quotient
from shapeinf.expr.evaluation import evaluate, substitute
from shapeinf.expr.extremum import maximum, minimum
from shapeinf.expr.file_texts import is_unread_arithmetic, parse_dim_lenient, parse_known_dim
from shapeinf.expr.interval import Interval, interval
from shapeinf.expr.parsing import parse_dim
from shapeinf.expr.printing import axis_label, dim_label, format_dim, format_dim_as, format_start, quote_name
from shapeinf.expr.usual_bounds import usual_interval

__all__ = [
    "DimSize",
    "Dimension",
    "Interval",
    "Scope",
    "axis_label",
    "ceildiv",
    "constant_divisor",
    "dim_label",
    "evaluate",
    "exact_quotient",
    "format_dim",
    "format_dim_as",
    "format_start",
    "interval",
    "is_unread_arithmetic",
    "maximum",
    "minimum",
    "parse_dim",
    "parse_dim_lenient",
    "parse_known_dim",
    "quote_name",
    "substitute",
    "usual_interval",
]
