"""Queries, segments and selectors, by the grammar of RFC 9535, sections 2.1 to 2.5."""

from __future__ import annotations

from perdure.expressions.jsonpath.filters import Filters
from perdure.expressions.jsonpath.syntax import Filter, Index, Name, Query, Segment, Selector, Slice, Wildcard

_SELECTOR = "a selector: 'name', 0, 1:2, * or ?"


class Parser(Filters):
    """Reads one query."""

    def parse(self) -> Query:
        if not self.sees("$"):
            self.unexpected("$, with which every query begins")
        found = self.query()
        if self.at < len(self.source):
            at = self.at
            if self.blanks() and self.at == len(self.source):
                self.fail("no blanks stand behind a query", at, self.at)
            self.unexpected("a segment: .name, .*, [ or ..")
        return found

    def query(self) -> Query:
        """`$` or `@`, at which we are, and what follows."""
        start = self.at
        self.count(start)
        self.at += 1
        segments: list[Segment] = []
        end = self.at
        while True:
            self.blanks()
            segment = self._segment()
            if segment is None:
                self.at = end  # blanks behind a query belong to what it stands in
                break
            segments.append(segment)
            end = self.at
        found = Query(self.source[start] == "$", segments, start, end)
        if found.absolute:
            self.absolute.append(found)
        return found

    def _segment(self) -> Segment | None:
        start = self.at
        if self.sees("[") or self.sees("."):
            self.count(start)
        if self.sees("["):
            selectors, plain = self._brackets()
            return Segment(selectors, False, plain, start, self.at)
        if not self.took("."):
            return None
        descendant = self.took(".")
        if self.took("*"):
            return Segment([Wildcard()], descendant, False, start, self.at)
        if descendant and self.sees("["):
            selectors, _ = self._brackets()
            return Segment(selectors, True, False, start, self.at)
        key = self.name()
        if key is None:
            expected = "a name, * or [" if descendant else "a name or *"
            remedy = "names with other characters are written ['…']; an index is written [0]"
            self.unexpected(f"{expected} behind the dot", remedy)
        return Segment([Name(key)], descendant, True, start, self.at)

    def _brackets(self) -> tuple[list[Selector], bool]:
        """`[selector, …]`, and whether there are no blanks in it."""
        self.deeper()
        self.at += 1
        blanks = self.blanks()
        selectors = [self._selector()]
        blanks = self.blanks() or blanks
        while self.took(","):
            self.blanks()
            selectors.append(self._selector())
            self.blanks()
        if not self.took("]"):
            if isinstance(selectors[-1], Filter):
                self.unexpected("an operator, a comma or ]", self.foreign())
            self.unexpected("a comma or ]")
        self.depth -= 1
        return selectors, not blanks

    def _selector(self) -> Selector:
        self.count(self.at)
        sign = self.source[self.at : self.at + 1]
        if sign and sign in "'\"":
            return Name(self.text())
        if self.took("*"):
            return Wildcard()
        if self.took("?"):
            before = self.parts
            self.blanks()
            test = self.logical()
            return Filter(test, self.parts - before)
        start = self.integer()
        if start is None and not self.sees(":"):
            remedy = "a name in brackets needs quotes" if sign.isalpha() else None
            self.unexpected(_SELECTOR, remedy)
        end = self.at
        self.blanks()
        if not self.took(":"):
            self.at = end
            return Index(start or 0)
        return self._slice(start)

    def _slice(self, start: int | None) -> Slice:
        """The rest of a slice, behind its first colon."""
        self.blanks()
        end = self.integer()
        before = self.at
        self.blanks()
        step = None
        if self.took(":"):
            before = self.at
            self.blanks()
            step = self.integer()
        if step is None:
            self.at = before
        return Slice(start, end, step)
