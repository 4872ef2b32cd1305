"""`airtcp measure` over an emulated link."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LINK = """
duration = "60 s"
link.rate = "20 Mbit/s"
link.delay = "20 ms"
link.queue.packets = 200
tcp.profile = "linux"
"""


def measured_over(server: str, words: str, folder: Path) -> tuple[dict[str, Any], bool]:
    """Measurements of `airtcp measure` on the link, with `server` at its other end.

    It is tried until the server listens. Needs namespaces and TUN devices.

    Returns:
        The measurements, and whether the machine kept the link's time: a busy one adds to every
        delay, carries less, which leaves the queue empty, or hands on many packets at once.
    """
    file, found, err = (folder / name for name in ("link.toml", "found.json", "err"))
    file.write_text(LINK)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "airtcp", "emulate", str(file)),
            *("--server", server),
            *("--", "sh", "-c"),
            f"until {sys.executable} -m airtcp measure {words} --no-compare --can all --json "
            f"> {found} 2> {err}; do grep -q refused {err} || exit 1; done",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + (err.read_text() if err.exists() else "")
    return json.loads(found.read_text()), "did not keep up" not in done.stderr
