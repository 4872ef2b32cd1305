"""Installs a wheel into a fresh environment, elsewhere, and does there what README.md says.

python packaging/try_wheel.py dist/airtcp-*.whl
"""

import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What a reader is told to type; those which need a network, a kernel or minutes are left to them.
_SKIPPED = re.compile(r"make |ping -D|airtcp (emulate|verify|deploy|undeploy|papers)\b|pip install")


def commands(readme: str) -> list[str]:
    """The commands in the code blocks of a text, continued lines joined."""
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    stripped = [line.partition("#")[0].strip().removeprefix(".venv/bin/") for line in lines]
    return [line for line in stripped if line.startswith("airtcp") and not _SKIPPED.search(line)]


def main() -> None:
    """Fails with the first command that does."""
    (wheel,) = sys.argv[1:]
    todo = commands((ROOT / "README.md").read_text(encoding="utf-8"))
    assert todo, "README.md names no command"
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        venv.create(here / "venv", with_pip=True)
        programs = here / "venv" / "bin"
        install = [programs / "pip", "install", "--quiet", Path(wheel).resolve()]
        subprocess.run(install, check=True, cwd=here)
        (here / "my.ping").write_bytes((ROOT / "recordings" / "wifi-spikes.ping").read_bytes())
        todo += ["airtcp scenarios", "airtcp papers rto-factor --quick --readings 0"]
        for command in todo:
            begun = time.monotonic()
            subprocess.run(
                command,
                shell=True,
                check=True,
                cwd=here,
                env={"PATH": f"{programs}:/usr/bin:/bin", "HOME": folder},
                stdout=subprocess.DEVNULL,
            )
            print(f"{time.monotonic() - begun:5.1f} s  {command}", flush=True)


if __name__ == "__main__":
    main()
