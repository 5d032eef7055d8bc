"""Dimensions (interned symbolic integers), their intervals, what is known about them, and their text."""

from shapeinf.algebra.dimension import Dim, Dimension, Scope
from shapeinf.algebra.division import ceildiv, exact_quotient
from shapeinf.algebra.evaluation import evaluate, substitute
from shapeinf.algebra.extremum import maximum, minimum
from shapeinf.algebra.facts import Facts
from shapeinf.algebra.interval import Interval, interval
from shapeinf.algebra.parsing import DimSyntaxError, parse_dim, parse_dim_lenient
from shapeinf.algebra.printing import format_dim, label, quote_name

__all__ = [
    "Dim",
    "DimSyntaxError",
    "Dimension",
    "Facts",
    "Interval",
    "Scope",
    "ceildiv",
    "evaluate",
    "exact_quotient",
    "format_dim",
    "interval",
    "label",
    "maximum",
    "minimum",
    "parse_dim",
    "parse_dim_lenient",
    "quote_name",
    "substitute",
]
