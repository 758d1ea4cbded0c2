"""Writes docs/reference/view.schema.json: the JSON Schema of what people are shown.

python tools/view_page.py            writes it
python tools/view_page.py --check    fails if it is out of date
"""

from __future__ import annotations

import json
import sys

import made

from perdure.model.views import VIEW_SCHEMA

PAGE = made.REFERENCE / "view.schema.json"


def main() -> int:
    content = json.dumps(VIEW_SCHEMA, indent=2) + "\n"
    if PAGE.exists() and PAGE.read_text() == content:
        return 0
    if "--check" in sys.argv:
        sys.stderr.write(f"{PAGE.name} is out of date: python tools/view_page.py\n")
        return 1
    PAGE.write_text(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
