"""Integer expressions over symbols: interned canonical forms, intervals, evaluation and text."""

from shapeinf.expr.dimension import Dim, Dimension, Scope
from shapeinf.expr.division import ceildiv, exact_quotient
from shapeinf.expr.evaluation import evaluate, substitute
from shapeinf.expr.extremum import maximum, minimum
from shapeinf.expr.interval import Interval, interval
from shapeinf.expr.parsing import parse_dim, parse_dim_lenient
from shapeinf.expr.printing import axis_label, dim_label, format_dim, quote_name

__all__ = [
    "Dim",
    "Dimension",
    "Interval",
    "Scope",
    "axis_label",
    "ceildiv",
    "dim_label",
    "evaluate",
    "exact_quotient",
    "format_dim",
    "interval",
    "maximum",
    "minimum",
    "parse_dim",
    "parse_dim_lenient",
    "quote_name",
    "substitute",
]
