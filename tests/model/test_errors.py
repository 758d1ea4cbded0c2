"""What an error says where nothing but its text is seen."""

from __future__ import annotations

import traceback
from typing import Any

from perdure.errors import DocumentInvalid


def problems(count: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"code": "NODE_TYPE_UNKNOWN", "pointer": f"/nodes/{n}/type", "message": f"no type {n}", **more}
        for n in range(count)
    ]


def test_an_invalid_document_names_its_mistakes_in_a_traceback() -> None:
    error = DocumentInvalid("the document has 2 problems", problems(2))
    said = "".join(traceback.format_exception_only(error))
    assert said == (
        "perdure.errors.DocumentInvalid: the document has 2 problems:\n"
        "  /nodes/0/type: no type 0 [NODE_TYPE_UNKNOWN]\n"
        "  /nodes/1/type: no type 1 [NODE_TYPE_UNKNOWN]\n"
    )


def test_of_many_mistakes_five_are_named_and_the_rest_is_counted() -> None:
    assert str(DocumentInvalid("many", problems(5))).count("NODE_TYPE_UNKNOWN") == 5
    said = str(DocumentInvalid("many", problems(12)))
    assert said.count("NODE_TYPE_UNKNOWN") == 5
    assert said.endswith("\n  and 7 more")


def test_warnings_do_not_push_the_mistakes_out_of_sight() -> None:
    mistake = {"code": "FIELD_TYPE", "pointer": "", "message": "no object", "severity": "error"}
    said = str(DocumentInvalid("a mistake", [*problems(9, severity="warning"), mistake]))
    assert said == "a mistake:\n  /: no object [FIELD_TYPE]"


def test_the_message_that_stands_beside_the_list_stays_one_sentence() -> None:
    error = DocumentInvalid("the document has 1 problem", problems(1))
    assert error.message == error.as_dict()["message"] == "the document has 1 problem"
    assert error.as_dict()["problems"] == problems(1)
