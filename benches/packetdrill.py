"""Plays packetdrill's public scripts by packetdrill itself against airtcp's endpoint.

    python benches/packetdrill.py PACKETDRILL                # prints how each script ends
    python benches/packetdrill.py PACKETDRILL --write        # and writes the table into the page

PACKETDRILL is the folder of google/packetdrill, with the program built in
gtests/net/packetdrill (./configure && make). The endpoint is a shared object
(crates/packetdrill) and its time is virtual; scripts set sysctls in a network namespace of each
script. For comparison the same scripts run in the reader of ``airtcp script``, over the same socket
calls with one segment a packet. Needs root, or user namespaces.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements" / "packetdrill.json"
PAGE = ROOT / "docs" / "measurements" / "validation.md"
BEGIN, END = "<!-- packetdrill: begin -->", "<!-- packetdrill: end -->"
LOCAL, REMOTE = "192.168.0.1", "192.0.2.1"
#: The kernel's scripts allow for a clock of 4 ms and a machine under load.
TOLERANCE_USECS = 14000
SECONDS = 20
#: Defines that ``run_all.py`` passes to every script.
DEFINES = {
    "TFO_COOKIE": "3021b9d889017eeb",
    "CODE": "host_unreachable",
    "CMSG_LEVEL_IP": "SOL_IP",
    "CMSG_TYPE_RECVERR": "IP_RECVERR",
}
#: The device that scripts name in their commands; no packet of theirs passes it.
DEVICE = (
    "ip link set lo up; ip tuntap add dev tun0 mode tun; ip addr add {local}/16 dev tun0; "
    "ip link set tun0 up; ip route add {remote} via 192.168.0.2; "
    "sysctl -q net.ipv4.tcp_congestion_control=cubic; "
)
#: Causes of failure, by the script's output: the first match counts.
CAUSES = [
    ("Fast Open", r"fastopen|FASTOPEN|\bFO\b"),
    ("zero copy and its notices", r"ZEROCOPY|MSG_ERRQUEUE"),
    ("time stamps of the socket", r"TIMESTAMPING|SO_EE_ORIGIN"),
    ("signatures (RFC 2385)", r"md5|MD5"),
    ("pipes and files", r"splice|sendfile|pipe\("),
    ("marks of the end of a record", r"MSG_EOR"),
    ("Linux's buffer accounting", r"notsent|NOTSENT|SO_SNDBUF|epoll_out|wmem"),
    ("routes with attributes", r"ip (-6 )?route change"),
]


def scripts(folder: Path) -> list[Path]:
    """The public suite."""
    return sorted((folder / "gtests/net/tcp").rglob("*.pkt"))


def played(folder: Path, script: Path, shared: Path) -> tuple[bool, str]:
    """Whether packetdrill passes a script, and its message if not."""
    program = folder / "gtests/net/packetdrill/packetdrill"
    command = [
        str(program),
        f"--so_filename={shared}",
        f"--so_flags={LOCAL}",
        f"--tolerance_usecs={TOLERANCE_USECS}",
        "--ip_version=ipv4",
        f"--local_ip={LOCAL}",
        f"--gateway_ip={LOCAL}",
        "--netmask_ip=255.255.0.0",
        f"--remote_ip={REMOTE}",
        "--send_omit_free",
        *[f"--define={name}={value}" for name, value in DEFINES.items()],
        script.name,
    ]
    own = dict(re.findall(r"^--(local_ip|remote_ip)=(\S+)", script.read_text(), re.MULTILINE))
    if own:
        # The script's addresses count, and packetdrill takes them from its command line.
        drop = tuple(f"--{name}=" for name in own)
        command = [word for word in command if not word.startswith((*drop, "--so_flags="))]
        command.insert(2, f"--so_flags={own.get('local_ip', LOCAL)}")
    if script.name.endswith("v6.pkt"):
        # In IPv6's words of the suite.
        drop = ("--ip_version", "--local", "--gateway", "--netmask", "--remote", "--so_flags")
        command = [word for word in command if not word.startswith(drop)]
        command[1:1] = [
            "--so_flags=fd3d:0a0b:17d6::1",
            "--ip_version=ipv6",
            "--mtu=1520",
            "--local_ip=fd3d:0a0b:17d6::1",
            "--gateway_ip=fd3d:0a0b:17d6:8888::1",
            "--remote_ip=fd3d:fa7b:d17d::1",
        ]
    prepare = DEVICE.format(local=LOCAL, remote=REMOTE)
    inside = prepare + 'export LD_PRELOAD="$0"; exec "$@"'
    unshare = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
    try:
        done = subprocess.run(
            [*unshare, "sh", "-c", inside, str(shared), *command],
            cwd=script.parent,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"no end within {SECONDS} s"
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return done.returncode == 0, " ".join(said[-1:]) or f"status {done.returncode}"


def own(folder: Path) -> set[str]:
    """The scripts that ``airtcp script``'s reader passes."""
    command = ["cargo", "test", "--quiet", "--profile", "local", "--package", "airtcp-script"]
    command += ["--test", "public_suite", "--", "--ignored", "--nocapture"]
    suite = folder / "gtests/net/tcp"
    environment = {
        **os.environ,
        "AIRTCP_PACKETDRILL": str(suite),
        "AIRTCP_TOLERANCE_USECS": str(TOLERANCE_USECS),
    }
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return set(re.findall(r"^PASSED (\S+)", done.stdout, re.MULTILINE))


def built() -> Path:
    """The shared object, built."""
    command = ["cargo", "build", "--quiet", "--profile", "local"]
    subprocess.run([*command, "--package", "airtcp-packetdrill"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "local" / "libairtcp_packetdrill.so"


def cause(script: Path) -> str:
    """The feature that a failing script needs."""
    # Not by the name of a folder above the suite.
    text = f"{'/'.join(script.parts[-3:])}\n{script.read_text()}"
    return next((name for name, words in CAUSES if re.search(words, text)), "other behaviour")


def table(run: dict[str, dict[str, object]]) -> str:
    """The page's part."""
    both = [bool(one["packetdrill"]) for one in run.values()]
    reader = [bool(one["script"]) for one in run.values()]
    either = [a or b for a, b in zip(both, reader, strict=True)]
    lines = [
        "| played by | against | scripts passed |",
        "|---|---|---:|",
        f"| packetdrill | the endpoint, as a shared object | {sum(both)} of {len(run)} |",
        f"| `airtcp script` | the endpoint, segment by segment | {sum(reader)} of {len(run)} |",
        f"| either | | {sum(either)} of {len(run)} |",
        "",
        "What neither passes is about:",
        "",
        "| | scripts |",
        "|---|---:|",
    ]
    failed = [one for one in run.values() if not (one["packetdrill"] or one["script"])]
    causes = Counter(str(one["about"]) for one in failed)
    lines += [f"| {name} | {count} |" for name, count in causes.most_common()]
    others = [
        name for name, one in run.items() if one in failed and one["about"] == "other behaviour"
    ]
    if others:
        lines += ["", f"Other behaviour: {', '.join(f'`{name}`' for name in others)}."]
    return "\n".join(lines)


def main() -> None:
    """Plays, prints, and writes the table with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packetdrill", type=Path, help="the folder of google/packetdrill")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--only", default="", help="scripts whose path holds this")
    arguments = parser.parse_args()
    folder = arguments.packetdrill.resolve()
    if not (folder / "gtests/net/packetdrill/packetdrill").exists():
        parser.error(f"{folder}: expected gtests/net/packetdrill/packetdrill: run make there")
    shared = built()
    passed = set() if arguments.only else own(folder)
    run: dict[str, dict[str, object]] = {}
    for script in scripts(folder):
        name = str(script.relative_to(folder / "gtests/net/tcp"))
        if arguments.only not in name:
            continue
        ok, said = played(folder, script, shared)
        print("passed" if ok else "FAILED", name, "" if ok else said, file=sys.stderr, flush=True)
        run[name] = {
            "packetdrill": ok,
            "script": name in passed,
            "about": cause(script),
            "said": "" if ok else said.replace(str(folder), ""),
        }
    text = table(run)
    print(text)
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        page = PAGE.read_text("utf-8")
        head, rest = page.split(BEGIN)
        _, tail = rest.split(END)
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
