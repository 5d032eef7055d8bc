"""A C99 header (C++ too): arena, offsets, and the peak and the bytes of every tensor as functions of the dims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shapeinf.expr import Dim, format_dim
from shapeinf.memory.exports.c_functions import Functions
from shapeinf.memory.exports.c_names import comment, identifiers, literal, prefix_of, string
from shapeinf.memory.exports.subject import MemoryExport
from shapeinf.memory.timeline import Buffer

_INTRODUCTION = """\
/* The memory of {model}; made by shapeinf.
 *
 * Sizes are in bytes. A function gives a size, or what is wrong, which is below 0:
 *   {P}_OVERFLOW   a number on the way does not fit 64 bits
 *   {P}_ILLEGAL    the model does not run with these dims
 *   {P}_UNDEFINED  a division by zero
 * Define {P}_PORTABLE_MATH to do without builtins of the compiler.
 */
#ifndef {P}_MEMORY_H
#define {P}_MEMORY_H

#include <stdint.h>

#define {P}_OVERFLOW (-INT64_C(1))
#define {P}_ILLEGAL (-INT64_C(2))
#define {P}_UNDEFINED (-INT64_C(3))
"""


def c_header(subject: MemoryExport, prefix: str | None = None) -> str:
    """The text of the header; `prefix` is what all names begin with, made of the model's name unless given."""
    return "\n".join(_Writer(subject, prefix_of(subject.name if prefix is None else prefix)).parts())


class _Writer:
    """Writes one header."""

    def __init__(self, subject: MemoryExport, prefix: str) -> None:
        self.subject = subject
        self.prefix = prefix
        self.macro = prefix.upper()
        labels = subject.binder.labels
        names = identifiers(labels[symbol] for symbol in subject.dims)
        self.functions = Functions(prefix, [(s, f"dim_{names[labels[s]]}") for s in subject.dims])
        self.buffers = _by_name(subject.timeline.buffers)
        self.names = identifiers([*self.buffers, *subject.slots])

    def parts(self) -> Iterator[str]:
        """The parts of the header, in order."""
        yield _INTRODUCTION.format(model=comment(self.subject.name or "a model"), P=self.macro)
        if self.subject.plan is not None:
            yield "\n".join([*self.plan(), ""])
        yield self.functions.math()
        dims = self.subject.dims
        yield "/* 0 where the model can run with these dims, as far as is known. */"
        yield self.functions.check(self.subject.binder.requirements.about(dims, dims)[0])
        for text in self.subject.binder.requirements.unchecked(dims):
            yield f"/* not checked: {comment(text)} */\n"
        yield from self.peak()
        yield from self.sizes()
        yield f"#endif /* {self.macro}_MEMORY_H */\n"

    def plan(self) -> Iterator[str]:
        """The arena, and the place of each buffer in it."""
        plan = self.subject.plan
        assert plan is not None
        yield f"#define {self.macro}_ARENA_BYTES {_fixed(plan.arena)}"
        yield f"#define {self.macro}_ALIGNMENT {_fixed(plan.alignment)}"
        yield ""
        for one in plan.unplaced:
            yield f"/* not in the arena: {comment(one.name)}: {comment(one.cause)} */"
        for slot in plan.slots:
            yield f"/* {comment(slot.name)}: in use from moment {slot.lower} until before moment {slot.upper} */"
            yield f"#define {self.macro}_OFFSET_{self.names[slot.name]} {_fixed(slot.offset)}"
            yield f"#define {self.macro}_SIZE_{self.names[slot.name]} {_fixed(slot.size)}"
        yield ""
        yield "/* X(identifier, name, offset, size, first moment, moment after the last) for each buffer. */"
        rows = [
            f"X({self.names[s.name]}, {string(s.name)}, {_fixed(s.offset)}, {_fixed(s.size)}, {s.lower}, {s.upper})"
            for s in plan.slots
        ]
        yield " \\\n    ".join([f"#define {self.macro}_SLOTS(X)", *rows])

    def peak(self) -> Iterator[str]:
        """The most in use at one moment."""
        peak = self.subject.peak
        found: list[Dim] = []
        unbounded = len(peak.unbounded)
        for term in peak.terms:
            upper = self.subject.without_data.upper(term.size)
            if upper is None:
                unbounded += 1
            else:
                found.append(upper)
        yield f"#define {self.macro}_PEAK_IS_AT_LEAST {int(unbounded > 0)}"
        for one in peak.unbounded:
            yield f"/* not counted in the peak: {comment(str(one))} */"
        quality = "" if peak.exact else "; sizes that depend on data are counted with their bounds, if they have some"
        yield f"/* The most bytes that what nodes make takes at one moment{quality}. */"
        yield self.functions.largest("peak", found)

    def sizes(self) -> Iterator[str]:
        """The bytes of each buffer; buffers of the same size share the function that computes it."""
        known: dict[Dim, str] = {}
        for name, buffer in self.buffers.items():
            size = self.subject.at_most(buffer)
            if size is None:
                yield f"/* no function for {comment(name)}: {comment(self.subject.why_unbounded(buffer))} */\n"
                continue
            if size not in known:
                known[size] = f"size_{len(known)}"
                yield f"/* {comment(format_dim(size, labels=self.subject.binder.labels))} */"
                yield self.functions.expression(known[size], size)
            bound = "" if self.subject.exact(buffer) else ", at most"
            held = [value for value in buffer.values if value != buffer.name][:8]
            also = f"; it also holds {', '.join(held)}" if held else ""
            yield f"/* The bytes of {comment(name + also)}{bound}. */"
            yield self.functions.call(f"bytes_{self.names[name]}", known[size])


def _by_name(buffers: Iterable[Buffer]) -> dict[str, Buffer]:
    """Buffers by name: where several have one name, all but the first get a number."""
    found: dict[str, Buffer] = {}
    for buffer in buffers:
        name, number = buffer.name, 2
        while name in found:
            name, number = f"{buffer.name} #{number}", number + 1
        found[name] = buffer
    return found


def _fixed(value: int) -> str:
    found = literal(value)
    assert found is not None, "plans have limits that are far below"
    return found
