"""Every pattern document passes the checks that a document passes when it is saved, without a warning."""

from __future__ import annotations

import pytest

from perdure.nodes.catalogue import CATALOGUE
from perdure.programs.flow.validate import validate_flow
from tests.patterns.harness import Pattern, patterns


@pytest.mark.parametrize("pattern", patterns(), ids=str)
def test_the_document_is_without_fault(pattern: Pattern) -> None:
    flow, problems = validate_flow(pattern.document, CATALOGUE)
    assert [str(problem) for problem in problems] == []
    assert flow is not None
