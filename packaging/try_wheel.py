"""Checks that a wheel is whole, installs it in a fresh environment elsewhere, and uses it there.

    python packaging/try_wheel.py dist/airtcp-*.whl

The commands of README.md and docs/start/tutorial.md are run there, with a recording shipped with
airtcp in place of the reader's. Not run: commands that need minutes of a network (`ping`), change
the machine (`deploy`), serve until stopped (`lab`, `proxy`, `gateway`), or take a file of the
reader (`FILE`, `slow.pcap`). Commands on real packets run where namespaces are allowed; a machine
that is too busy for it is no fault of the wheel. The output has a line for each command, including
skipped ones.
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from contents import problems
from trials import FailedError, walk

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/start/tutorial.md")
BESIDES = (
    "airtcp papers rto-factor --quick --readings 0",
    "airtcp new mine.toml --from ping && airtcp run mine.toml --seed 2",
    "airtcp study classifiers --seeds 1 --out study",
    "airtcp list remedies bbr",
    "python -m airtcp --version",
)
"""Commands that the pages do not name and a wheel could lack."""
_NAMED = re.compile(r"`(airtcp [^`]+)`")
_OF_THE_READER = re.compile(
    r"\b(FILE|REMEDY|NAME|HOST|PATH|R|COMMAND|DIR)\b|slow\.pcap|test\.json|web\.service|…"
)
_A_NAME = re.compile(r"airtcp (compare|diagnose|emulate|new|run|script|study|verify)")
_CHANGES = re.compile(r"airtcp (deploy|undeploy|gateway|proxy|lab|serve|send)\b(?!.*--dry-run)")
_MINUTES = re.compile(r"airtcp (papers$|study then-and-now|demo)")
_REAL_PACKETS = re.compile(r"airtcp (emulate|verify|deploy)\b")


def commands(page: str) -> list[str]:
    """The airtcp commands of a page in Markdown: in blocks and in lines, each once."""
    blocks = re.findall(r"^```(?:sh)?\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    in_blocks = "\n".join(blocks).replace("\\\n", " ").splitlines()
    lines = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    in_lines = [" ".join(one.split()) for one in _NAMED.findall(lines)]
    found = [" ".join(line.partition(" #")[0].split()) for line in [*in_blocks, *in_lines]]
    return list(dict.fromkeys(line for line in found if line.startswith("airtcp ")))


def why_not(command: str, *, real_packets: bool) -> str | None:
    """Why a command is not run here; None if it is."""
    if _CHANGES.search(command):
        return "changes the machine, or serves until it is stopped"
    if _A_NAME.fullmatch(command):
        return "is the name of a command"
    if _OF_THE_READER.search(command):
        return "stands for something of the reader's"
    if _MINUTES.search(command):
        return "takes minutes"
    if _REAL_PACKETS.search(command) and not real_packets:
        return "namespaces are not allowed here"
    return None


def allows_namespaces() -> bool:
    """Whether this machine lets a user have a network namespace."""
    command = ["unshare", "--user", "--map-root-user", "--net", "true"]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def main() -> None:
    """Ends with the first thing that is wrong."""
    (wheel,) = (Path(name).resolve() for name in sys.argv[1:])
    if found := problems(wheel):
        raise SystemExit("\n".join(f"{wheel.name}: {one}" for one in found))
    print(f"{wheel.name}: whole, {wheel.stat().st_size / 1e6:.1f} MB")
    pages = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
    real_packets = allows_namespaces()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        venv.create(here / "venv", with_pip=True)
        programs = here / "venv" / "bin"
        for install in (["install", "--quiet", f"{wheel}[plot]"], ["check"]):
            subprocess.run([programs / "pip", *install], check=True, cwd=here)
        recording = (ROOT / "recordings" / "wifi-spikes.ping").read_bytes()
        environment = {"PATH": f"{programs}:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder}

        def run(command: str) -> subprocess.CompletedProcess[str]:
            # Each in a separate folder, so that commands with the same output file do not collide.
            own = Path(tempfile.mkdtemp(dir=here))
            (own / "my.ping").write_bytes(recording)
            return subprocess.run(
                command, shell=True, cwd=own, env=environment, capture_output=True, text=True
            )

        tried = []
        for command in [*commands(pages), *BESIDES]:
            if reason := why_not(command, real_packets=real_packets):
                print(f"   left  {command}: {reason}", flush=True)
            else:
                tried.append(command)
        try:
            walk(tried, run, lambda step: print(step, flush=True))
        except FailedError as error:
            raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
