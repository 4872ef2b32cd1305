"""Records a case in a kernel in virtual time: never late, and the same every time.

The guest has this interpreter, and the library modules that `traffic.py` imports.
"""

import json
import shlex
import subprocess
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from cases import Case

from airtcp._core import ScenarioError
from airtcp.kernel.emulate import Emulation, emulate
from airtcp.kernel.guests.cache import KernelError

TRAFFIC = Path(__file__).with_name("traffic.py")
PYTHON = Path(sys.executable).resolve()
_COUNTERS = "/tmp/kernel.json"


def recorded(kernel: str, work: Path, case: Case, seed: int) -> dict[str, Any] | None:
    """Runs the emulator in a guest; returns its summary, or None if it failed."""
    # No more than the traffic reads: words that are programs here come along with the guest.
    asked = json.dumps({"sender": asdict(case.sender), "seconds": case.seconds})
    parts = ("send", "receive") if case.download else ("receive", "send")
    ends = [
        f"{PYTHON} -S -B {TRAFFIC} {shlex.quote(asked)} {_COUNTERS} {role} {part}"
        for role, part in zip(("listen", "connect"), parts, strict=True)
    ]
    emulation = Emulation(
        kernel=kernel,
        scenario=str(work / "scenario.toml"),
        record=work,
        bring=[str(PYTHON), *library()],
        server=ends[0],
        command=["sh", "-c", f"{ends[1]} && cat {_COUNTERS}"],
    )
    for key, value in case.settings.items():
        shown = str(work / value) if key in ("link.trace.up", "link.recorded.path") else value
        emulation.options += ["--set", f"{key}={shown}"]
    emulation.options += ["--seed", str(seed), "--server", ends[0]]
    try:
        done = emulate(emulation)
    except (KernelError, ScenarioError) as error:
        print(f"{case.name}: {error}", file=sys.stderr)
        return None
    if done.status:
        print(done.err.strip(), file=sys.stderr)
        return None
    (work / "kernel.json").write_text(done.out)
    summary: dict[str, Any] = json.loads((work / "summary.json").read_text())
    return summary


@cache
def library() -> list[str]:
    """The files that the traffic's imports read."""
    show = (
        f"import sys; sys.path.insert(0, {str(TRAFFIC.parent)!r}); import traffic, encodings.utf_8;"
        "files = [getattr(one, '__file__', None) for one in sys.modules.values()];"
        "print('\\n'.join(sorted({one for one in files if one})))"
    )
    listed = subprocess.run(
        [PYTHON, "-S", "-B", "-c", show], capture_output=True, text=True, check=True
    )
    return listed.stdout.splitlines()
