"""What one expression or template may cost, and the meter that is read *before* the work is done.

Three things are limited when text is compiled (its length, its nodes, its nesting), and two while it runs:

- `steps`: turns of comprehensions and of Mustache sections. A turn with a large body counts as several.
- `work`: everything that functions and operators touch or build. A list item costs one unit, sixteen characters of text
  cost one unit, so the default allows a million items or sixteen million characters *in sum*, however they are nested.
  What is slower than that has a price to match: a unit stands for about a twentieth of a microsecond.

The meter of one evaluation is a plain list `[steps left, work left]`: an expression creates one on every evaluation,
and a list display costs a fifth of what an object costs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from perdure.errors import ExpressionLimit

Meter = list[int]

#: Integers are exact and never longer than this; more than a thousand digits are an attack or a mistake.
INTEGER_BITS = 4_096
INTEGER_DIGITS = 1_233


#: What one step is worth in units of work, for whoever adds the two up.
STEP = 40
#: A template, or all that is evaluated for one node, may cost as much as so many of the most expensive expressions.
EXPRESSIONS = 10


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one expression or template. Immutable, and cheap as a key of the compile caches."""

    source: int = 8_192  # characters of one expression
    nodes: int = 1_000  # of its syntax tree
    depth: int = 64  # of brackets, conditionals, unary signs; also of the JSON value that holds templates
    steps: int = 10_000
    work: int = 1_000_000
    result: int = 10 * 1024 * 1024  # bytes of JSON that a built result may encode to
    output: int = 64 * 1024  # characters of text that one `Template.resolve` may write
    placeholders: int = 1_000  # in all strings of one template
    sections: int = 8  # nesting of Mustache sections
    partials: int = 16  # nesting of Mustache partials while rendering
    found: int = 100_000  # values that one JSONPath may find
    pattern: int = 1_000  # characters that a regular expression speaks about, repetitions counted out
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        sizes = tuple(getattr(self, each.name) for each in fields(self) if each.compare)
        object.__setattr__(self, "_hash", hash(sizes))

    def __hash__(self) -> int:
        return self._hash

    def meter(self) -> Meter:
        return [self.steps, self.work]

    def wide_meter(self) -> Meter:
        """For several expressions that belong together."""
        return [self.steps * EXPRESSIONS, self.work * EXPRESSIONS]


DEFAULT_LIMITS = Limits()


def spend(meter: Meter, units: int) -> None:
    """Pay for work that is about to be done."""
    meter[1] -= units
    if meter[1] < 0:
        raise _too_much(units, "items")


def spend_text(meter: Meter, characters: int) -> None:
    """Pay for reading or building `characters` of text."""
    meter[1] -= characters >> 4
    if meter[1] < 0:
        raise _too_much(characters, "characters")


def spend_steps(meter: Meter, steps: int) -> None:
    """Pay for turns of a comprehension or section before the first one."""
    meter[0] -= steps
    if meter[0] < 0:
        raise _too_much(steps, "steps")


def spend_product(meter: Meter, number: int) -> None:
    """Pay for a product, quotient or power that is, or was taken of, a long integer: it grows with the square."""
    bits = number.bit_length()
    spend(meter, 2 + (bits * bits >> 17))


def spend_digits(meter: Meter, number: int) -> None:
    """Pay for writing an integer in decimal: the same, but four times as slow."""
    bits = number.bit_length()
    if bits > 64:
        spend(meter, bits * bits >> 15)


def left(meter: Meter) -> int:
    """What the meter still allows, in units of work."""
    return meter[0] * STEP + meter[1]


def _too_much(count: int, unit: str) -> ExpressionLimit:
    """The last straw is counted only if it is one that a reader can see."""
    return ExpressionLimit("this is too much work for one expression" + (f" ({count:,} {unit})" if count > 999 else ""))


def checked(number: float) -> float:
    """A number as the result of arithmetic: an integer of bounded length, or a finite float."""
    if type(number) is int:
        if number.bit_length() > INTEGER_BITS:
            raise ExpressionLimit(f"the number would have more than {INTEGER_BITS:,} bits")
    elif number - number != 0:  # true of NaN and the infinities only
        raise OverflowError("the result is not a finite number")
    return number
