"""Mistakes of users: each answer names the option or file, the value, and what to do instead.

A row is a command line as somebody types it, and words of its answer. Commands run in a folder
with the files of `files`; nothing is simulated, since every mistake shows before that.
"""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import app

ROOT = Path(__file__).resolve().parents[2]
PING = ROOT / "recordings" / "wifi-spikes.ping"
REMEDY = re.compile(
    r"expected|`airtcp|give |check |unpack|download|leave it out|did you mean|--help|run it with"
    r"|convert|record it|choose|lists them"
)

DIAGNOSE = {
    "": ("a capture or a ping log is missing", "--advise"),
    "nothere.pcap": ("nothere.pcap: cannot be read", "check that the file exists"),
    "lossy-pipe": ("is a scenario that comes with airtcp", "`airtcp compare lossy-pipe`"),
    "scenario.toml": ("is a scenario of airtcp", "`airtcp compare FILE`"),
    "empty.pcap": ("empty.pcap: is empty", "expected a capture"),
    "folder": ("folder: is a folder", "expected a capture"),
    "noise.bin": ("noise.bin: the file begins with 01 00 02 00", "expected pcap"),
    "picture.png": ("a picture", "give the recording"),
    "a.zip": ("a ZIP archive", "unpack it first"),
    "slow.pcap.bz2": ("bzip2", "bunzip2 -k FILE"),
    "slow.pcap.xz": ("xz", "unxz -k FILE"),
    "slow.pcap.zst": ("Zstandard", "unzstd FILE"),
    "page.pcap": ("is a web page", "give the file"),
    "note.txt": ("no round-trip time in it", "check that the right file is named"),
    "a.json": ("is JSON of no known program, with a", "CSV with a column rtt_ms"),
    "silent.ping": ("no round-trip time in it", "that any probe was answered"),
    "https://example.org/a.pcap": ("https://example.org/a.pcap: is a web address", "curl -LO"),
    "my.ping slow.pcap": ("my.ping: expected a capture", "give one log at a time"),
    "slow.pcap my.ping": ("my.ping: expected a capture", "give one log at a time"),
    "slow.pcap slow.pcap slow.pcap": ("expected one capture or log", "two captures to compare"),
    "slow.pcap -i lo": ("expected one capture or log", "-i DEV"),
    "my.ping --rate 20": ("--rate 20:", '"20 Mbit/s"'),
    "my.ping --rate '20 MB/s'": ("--rate 20 MB/s:", "in bits"),
    "my.ping --rate 0": ("--rate 0:", '"20 Mbit/s"'),
    "my.ping --rate=-5Mbit/s": ("--rate -5Mbit/s:", '"20 Mbit/s"'),
    "my.ping --rate fast": ("--rate fast:", '"20 Mbit/s"'),
    "my.ping --rate ''": ('--rate "":', '"20 Mbit/s"'),
    "my.ping --interval 0s": ("--interval 0s:", '"0.2s"'),
    "my.ping --interval often": ("--interval often:", '"0.2s"'),
    "my.ping --can laptop": ("--can laptop:", "my-machine, server, access-point"),
    "my.ping --can my-machine,router": ("--can router:", "my-machine, server, access-point"),
    "my.ping --sender cubic": ("--sender is for captures", "a current Linux one is taken"),
    "my.ping --flow 1": ("--flow is for captures", "leave it out"),
    "my.ping --view sender": ("--view is for captures", "leave it out"),
    "my.ping --seeds 1": ("--seeds 1:", "2 or more"),
    "slow.pcap --sender cubik": ("--sender cubik:", "cubic, reno, bbr"),
    "slow.pcap --flow 99": ("flow = 99", "a number of the table of flows, which has 1"),
    "slow.pcap --flow 0": ("'--flow': 0", "x>=1"),
    "slow.pcap --view client": ('view = "client"', "sender, receiver or middle"),
    "slow.pcap --for 60s": ("--for 60s:", "with -i how long to capture"),
    "slow.pcap --for speed": ("--for speed:", "bulk, latency, calls, balance"),
    "slow.pcap --out note.txt": ("--out note.txt: is a file", "expected a folder"),
    "slow.pcap --out /proc/x": ("--out /proc/x: cannot be written", "expected a folder"),
    "slow.pcap --max-cpu 0": ("'--max-cpu': 0.0", "x>=1.0"),
    "slow.pcap --remedy bbr": ("no such option: --remedy", "--help"),
    "note.txt --sockets": ("note.txt: holds no connection", "`ss -ti`"),
    "nothere.txt --sockets": ("nothere.txt: cannot be read", "check that the file exists"),
    "-i nosuch0 --for 60s": ("-i nosuch0:", ""),
    "-i lo --for soon": ("--for soon:", '"60s"'),
}
COMPARE = {
    "": ("missing argument 'FILE'", "--help"),
    "nothere.toml": ("nothere.toml", "check that it exists"),
    "lossy-pip": ('"lossy-pip"', 'did you mean "lossy-pipe"?'),
    "folder": ('"folder" is a folder', "expected one of its files"),
    "slow.pcap": ("is a capture of packets", "`airtcp diagnose FILE`"),
    "picture.png": ("is a picture", "give the recording"),
    "note.txt": ("line 1", "`airtcp import --formats` lists"),
    "empty.pcap": ("is empty", "expected TOML"),
    "my.ping": ("a ping shows no rate", '--set "link.rate=20 Mbit/s"'),
    "my.ping --set link.rate=20": ("link.rate = 20", "units bit/s, kbit/s, Mbit/s, Gbit/s"),
    "lossy-pipe bbr": ("unexpected extra argument(s) (bbr)", "--help"),
    "lossy-pipe --remedy bbrr": ('unknown remedy "bbrr"', 'did you mean "bbr"?'),
    "lossy-pipe --remedy ''": ('remedy ""', "`airtcp list remedies`"),
    "lossy-pipe --remedy send-buffer:bytes=64kb": ("bytes = 64kb", "expected a whole number"),
    "lossy-pipe --set link.rte=20": ("link.rte = 20", 'did you mean "rate"?'),
    "lossy-pipe --set link.rate": ('setting "link.rate"', "expected key=value"),
    "lossy-pipe --set link.loss.rate=5": ("link.loss.rate = 5", "between 0 and 1"),
    "lossy-pipe --set link.delay=20": ("link.delay = 20", '"15 ms"'),
    "lossy-pipe --seeds ten": ("'--seeds': 'ten'", "no whole number"),
    "lossy-pipe --can laptop": ("--can laptop", "my-machine, server, access-point"),
    "lossy-pipe --for speed": ("'--for': 'speed'", "'bulk', 'latency', 'calls', 'balance'"),
    "lossy-pipe --out note.txt": ("--out note.txt: is a file", "expected a folder"),
}
DEMO = {
    "--link nothere.ping": ("--link nothere.ping: cannot be read", "check that the file exists"),
    "--link folder": ("--link folder: is a folder", "give one of its files"),
    "--link empty.pcap": ("--link empty.pcap: is empty", "record it again"),
    "--link slow.pcap": ("--link slow.pcap: is a capture", "`airtcp diagnose FILE`"),
    "--link picture.png": ("--link picture.png: is a picture", "give the recording"),
    "--link note.txt": ("--link note.txt: ", "expected the output of"),
    "--link my.ping --rate 20": ("--rate 20:", '"20 Mbit/s"'),
    "--link my.ping --can laptop": ("--can laptop:", "my-machine, server, access-point"),
    "--link my.ping --out note.txt": ("--out note.txt: is a file", "expected a folder"),
    "my.ping": ("unexpected extra argument(s) (my.ping)", "--help"),
}
ALL = [
    pytest.param(command, line, words, id=f"{command} {line}")
    for command, rows in (("diagnose", DIAGNOSE), ("compare", COMPARE), ("demo", DEMO))
    for line, words in rows.items()
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a capture, a ping log, and files that are neither."""
    folder = tmp_path_factory.mktemp("mistakes")
    content = {
        "my.ping": PING.read_bytes(),
        "empty.pcap": b"",
        "noise.bin": bytes((1, 0, 2, 0)) * 100,
        "picture.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        "a.zip": b"PK\x03\x04\x14\0\0\0",
        "slow.pcap.bz2": b"BZh91AY&SY\0\0",
        "slow.pcap.xz": b"\xfd7zXZ\0\0\x04",
        "slow.pcap.zst": b"\x28\xb5\x2f\xfd\x04\x88",
        "page.pcap": b"<!DOCTYPE html>\n<html><body>404</body></html>\n",
        "note.txt": b"hello\nthis is a note\n",
        "a.json": b'{"a": 1}\n',
        "silent.ping": b"PING a (192.0.2.1) 56(84) bytes of data.\n",
        "scenario.toml": b'name = "mine"\nduration = "1 s"\n\n[link]\nrate = "1 Mbit/s"\n',
    }
    for name, data in content.items():
        (folder / name).write_bytes(data)
    (folder / "folder").mkdir()
    airtcp.run("lossy-pipe", settings={"duration": "2 s"}, pcap=folder / "slow.pcap")
    return folder


@pytest.mark.parametrize(("command", "line", "words"), ALL)
def test_a_mistake_is_named_with_its_remedy(
    command: str, line: str, words: tuple[str, ...], files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    done = CliRunner().invoke(app, f"{command} {line}".strip())
    assert done.exit_code == 2, done.output
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.stdout == ""
    said = " ".join(done.stderr.split())
    for word in words:
        assert word in said
    assert REMEDY.search(said), said


def test_an_interval_that_a_log_does_not_need_is_named(files: Path) -> None:
    from airtcp.core.recordings.log import read_ping

    words = read_ping(files / "my.ping", 0.2).clock_words
    assert words.endswith("--interval was not used.")
    assert read_ping(files / "my.ping").clock_words == ""
