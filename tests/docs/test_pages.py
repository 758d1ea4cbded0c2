"""What the documents show is executed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def test_the_readmes_example_fits_on_a_screen() -> None:
    (code,) = blocks(ROOT / "README.md", "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 30


BLOCK = re.compile(r"(?:<!-- (file: (\S+)|prints|by hand) -->\n)?```(\w+)\n(.*?)```", re.DOTALL)
WALKS = [page for page in PAGES if "<!-- file:" in page.read_text() and "<!-- requests -->" not in page.read_text()]


@pytest.mark.parametrize("page", WALKS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_reader_who_follows_the_page_gets_through(page: Path, tmp_path: Path) -> None:
    """Blocks with a file name are written to that file; shell blocks are run, in the order of the page. A block that
    says what is printed is compared with what the one before it printed; in it, … stands for anything."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    printed = ""
    for mark, name, language, text in BLOCK.findall(page.read_text()):
        if name:
            (tmp_path / name).write_text(text)
        elif mark == "prints":
            pattern = ".*?".join(re.escape(part) for part in text.split("…"))
            assert re.fullmatch(pattern, printed, re.DOTALL), f"not what the page says:\n{printed}\nbut:\n{text}"
        elif language == "sh" and mark != "by hand":
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", text],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            printed = done.stdout
            assert done.returncode == 0, text + done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [link for link in links if not link.startswith(("http", "mailto:")) and not (page.parent / link).exists()]
    assert not missing


def anchors(page: Path) -> set[str]:
    """The places of a page that a link can name: headings, as they are turned into names, and named ones."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings} | set(
        re.findall(r'<a id="([^"]+)">', text)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_anchor_is_there(page: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#\s]*)#([^)\s]+)\)", page.read_text())
    missing = [f"{link}#{name}" for link, name in links if name not in anchors((page.parent / link) if link else page)]
    assert not missing


def test_the_makefile_has_the_commands_of_the_readme() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize(
    "tool", [*sorted(path.name for path in (ROOT / "tools").glob("*_page.py")), "node_reference.py"]
)
def test_pages_that_are_made_are_up_to_date(tool: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / tool, "--check"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
