"""Rows of the view `heads` as `Head`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from perdure.model.statuses import Status
from perdure.model.values import decode_json
from perdure.ports.journal import Head

_STATUSES = {str(status): status for status in Status}


def head_of(row: Sequence[Any]) -> Head:
    """From a row, or from the JSON array of one."""
    result = row[20]
    return Head(
        run=row[0],
        namespace=row[1],
        definition=row[2],
        version=row[3],
        hash=row[4],
        program=row[5],
        status=_STATUSES[row[6]],
        seq=row[7],
        epoch=row[8],
        turn_id=row[9],
        owner=row[10],
        wake_at=row[11],
        inbox_seq=row[12],
        created_at=row[13],
        updated_at=row[14],
        closed_at=row[15],
        trigger=row[16],
        key=row[17],
        parent=row[18],
        attributes=decode_json(row[19]) if row[19] else {},
        result=result.encode() if isinstance(result, str) else result,
        pins=decode_json(row[21]) if row[21] else None,
    )


def heads_of(text: str) -> list[Head]:
    return [head_of(row) for row in decode_json(text)]
