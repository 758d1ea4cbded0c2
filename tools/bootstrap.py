"""Creates a virtual environment and installs this project into it, with nothing but a Python that has venv.

    python3 tools/bootstrap.py [--dev] DIRECTORY

Versions come from requirements/constraints.txt. The installation itself is done by uv, which the environment gets
first, because it takes a fifth of the time; where uv cannot be had or cannot reach an index (it does not read pip's
configuration), pip does the same work. At the end a stamp file in the environment tells make that it is up to date.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

OLDEST = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "requirements" / "constraints.txt"


def main() -> None:
    parser = argparse.ArgumentParser(description="create the environment and install the project")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--dev", action="store_true", help="with everything that checks and tests need")
    options = parser.parse_args()

    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        sys.exit(
            f"Perdure needs Python {OLDEST[0]}.{OLDEST[1]} or newer, this is {found}: make PYTHON=/path/to/python3 …"
        )

    environment: Path = options.directory.absolute()
    python = environment / "bin" / "python"
    if not works(python):
        create(environment)
    install(python, dev=options.dev)
    (environment / ".installed").touch()
    if options.dev:
        (environment / ".installed-dev").touch()


def works(python: Path) -> bool:
    """An environment made by a Python that has since gone or grown too old is made again."""
    check = f"import sys, pip; sys.exit(sys.version_info < {OLDEST})"
    return python.exists() and subprocess.run([python, "-c", check], capture_output=True, check=False).returncode == 0


def create(environment: Path) -> None:
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=False)
    if made.returncode:
        sys.exit("python3 -m venv failed. On Debian and Ubuntu: apt-get install python3-venv")


def install(python: Path, *, dev: bool) -> None:
    wanted = ["-c", CONSTRAINTS, "-e", ROOT, *(["--group", f"{ROOT / 'pyproject.toml'}:dev"] if dev else [])]
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    uv = [python, "-m", "uv", "pip", "install", "--quiet", "--python", python]
    if run(pip, ["-c", CONSTRAINTS, "uv"]) and run(uv, wanted):
        return
    print("uv could not install the project here, trying pip", file=sys.stderr)
    if run(pip, ["--upgrade", "pip>=25.1"]) and run(pip, wanted):  # 25.1 is the first pip that knows --group
        return
    sys.exit("installing the project failed")


def run(command: list[object], arguments: list[object]) -> bool:
    # A virtual environment or index settings of the caller stay visible; only what would redirect the target goes.
    inherited = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    return subprocess.run([*map(str, command), *map(str, arguments)], env=inherited, check=False).returncode == 0


if __name__ == "__main__":
    main()
