#!/usr/bin/env python3
"""Measures a study of many cells on Dask: peak memory of each process, and time for a cell.

    benches/study_memory.py                        10 000 and 100 000 cells
    benches/study_memory.py --cells 1000000        as many as given
    benches/study_memory.py --write                and the table in docs/measurements/performance.md

A scheduler, a worker with two threads and a client run as processes of this machine. A cell is a
simulation of a millisecond, so that the study around it is measured. The memory of each process is
its peak resident set. The smallest study is run again with its worker killed after a third of the
cells and its client after two thirds; it has to give the same table.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import scale_page

MARK = "study-memory"
CELLS = (10_000, 100_000)
STACKS = ("sack", "newreno", "linux", "linux-bbr")
REMEDIES = ("tahoe", "rto-factor:factor=4", "min-rto:min=1s", "go-back-n")
SEEDS = 100
CELLS_A_LINK = len(STACKS) * (1 + len(REMEDIES)) * SEEDS
STUDY = 'name = "many cells"\nseeds = {seeds}\nremedies = {remedies}\n{stacks}\n{links}\n'
STACK = '[[stack]]\nname = "{name}"\nsettings = {{ "tcp.profile" = "{name}" }}\n'
LINK = """[[link]]
name = "{number} us"
scenario = "lossy-pipe"
settings = {{ duration = "1 ms", "link.delay" = "{number} us" }}
"""
SCHEDULER = ("-m", "distributed.cli.dask_scheduler", "--no-dashboard", "--port", "0")
WORKER = ("-m", "distributed.cli.dask_worker", "--no-nanny", "--no-dashboard", "--nthreads", "2")


@dataclass(frozen=True)
class Measured:
    """A study that was run to its end."""

    cells: int
    scheduler_mb: float
    worker_mb: float
    client_mb: float
    worker_ms: float
    """Processor time for a cell in the worker, in milliseconds."""
    client_ms: float


@dataclass(frozen=True)
class Resumed:
    """A study of which the worker and the client were killed."""

    cells: int
    finished: int
    """Cells that the client had reported when it was killed."""
    found: int
    """How many of these the next client did not run again."""


def study(cells: int) -> str:
    """The file of a study with this number of cells, rounded down to full links."""
    return STUDY.format(
        seeds=SEEDS,
        remedies=list(REMEDIES),
        stacks="\n".join(STACK.format(name=name) for name in STACKS),
        links="\n".join(LINK.format(number=1 + number) for number in range(cells // CELLS_A_LINK)),
    )


class Process:
    """One of the three; its standard error goes to a file of the folder."""

    def __init__(self, folder: Path, name: str, *words: str) -> None:
        with (folder / f"{name}.log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                text=True,
            )
        assert self.process.stdout is not None
        self.out: IO[str] = self.process.stdout

    @property
    def peak_mb(self) -> float:
        """The peak resident set, in megabytes."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text("utf-8").splitlines()
        (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM"))
        return int(peak) / 1024

    @property
    def cpu_s(self) -> float:
        """Processor time so far, in seconds."""
        fields = (
            Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """Ends it at once."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Cluster:
    """A scheduler and a worker."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address_file = folder / "scheduler.json"
        words = (*SCHEDULER, "--scheduler-file", str(self.address_file))
        self.scheduler = Process(folder, "scheduler", *words)
        self.worker = self._worker()

    def _worker(self) -> Process:
        # The worker waits for the scheduler's file.
        words = (*WORKER, "--scheduler-file", str(self.address_file))
        return Process(self.folder, "worker", *words)

    def replace_worker(self) -> None:
        """Kills the worker, and starts another."""
        self.worker.kill()
        self.worker = self._worker()

    def client(self, out: Path) -> Process:
        """A client that runs the study of the folder."""
        words = ("--client", str(self.folder / "study.toml"), str(out), str(self.address_file))
        return Process(self.folder, "client", __file__, *words)


@contextmanager
def cluster(cells: int) -> Iterator[Cluster]:
    """A cluster, and the study's file in its folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "study.toml").write_text(study(cells), "utf-8")
        made = Cluster(folder)
        try:
            yield made
        finally:
            made.worker.kill()
            made.scheduler.kill()


def run_client(study_file: Path, out: Path, address_file: Path) -> None:
    """The client: prints the finished cells after each hundredth, and then the table's digest."""
    import json
    import time

    from airtcp.comparison.grid import load_grid
    from airtcp.comparison.grid_run import run_grid

    while not address_file.exists():
        time.sleep(0.1)
    address = json.loads(address_file.read_text("utf-8"))["address"]
    shown = -1

    def progress(finished: int, cells: int, _: str) -> None:
        nonlocal shown
        if 100 * finished // cells > shown:
            shown = 100 * finished // cells
            print(finished, flush=True)

    result = run_grid(load_grid(study_file), out=out, dask=address, progress=progress)
    csv = result.table().write_csv()
    print(hashlib.sha256(csv.encode()).hexdigest(), flush=True)
    # The measuring program reads this process's memory, and then ends it.
    sys.stdin.readline()


def digest_of(client: Process) -> str:
    """Waits for the client's last line."""
    for line in client.out:
        if not line.strip().isdigit():
            return line.strip()
    sys.exit("the client failed; run it with --client STUDY OUT SCHEDULER-FILE")


def measured(cells: int) -> tuple[Measured, str]:
    """Runs a study undisturbed; returns its figures, and the digest of its table."""
    with cluster(cells) as made:
        client = made.client(made.folder / "out")
        digest = digest_of(client)
        each = 1000.0 / cells
        found = Measured(
            cells,
            made.scheduler.peak_mb,
            made.worker.peak_mb,
            client.peak_mb,
            each * made.worker.cpu_s,
            each * client.cpu_s,
        )
        client.kill()
        return found, digest


def resumed(cells: int, digest: str) -> Resumed:
    """Runs a study whose worker and client are killed; its table has to have this digest."""
    with cluster(cells) as made:
        out = made.folder / "out"
        client = made.client(out)
        is_replaced = False
        finished = 0
        for line in client.out:
            finished = int(line)
            if finished > cells / 3 and not is_replaced:
                made.replace_worker()
                is_replaced = True
            if finished > 2 * cells / 3:
                break
        client.kill()
        again = made.client(out)
        found = int(next(again.out))
        last = digest_of(again)
        again.kill()
        if last != digest:
            sys.exit(f"{cells} cells: resumed, the table is another one")
        return Resumed(cells, finished, found)


def table(figures: dict[str, object]) -> str:
    """The page's table of the figures."""
    rows = [Measured(**one) for one in figures["measured"]]
    after = Resumed(**figures["resumed"])
    return "\n".join(
        [
            "| cells | scheduler | worker | client | worker, a cell | client, a cell |",
            "|---:|---:|---:|---:|---:|---:|",
            *(
                f"| {one.cells:,} | {one.scheduler_mb:.0f} MB | {one.worker_mb:.0f} MB "
                f"| {one.client_mb:.0f} MB | {one.worker_ms:.2f} ms | {one.client_ms:.2f} ms |"
                for one in rows
            ),
            "",
            f"With the worker of {after.cells:,} cells killed after a third, and the client after "
            f"{after.finished:,}: the next client found {after.found:,} of these and gave the same "
            "table.",
        ]
    )


def main(given: Sequence[str] | None = None) -> None:
    """Measures, prints, and writes with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=CELLS, help="sizes of the studies")
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--client", type=Path, nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args(given)
    if arguments.client:
        run_client(*arguments.client)
        return
    smallest, digest = measured(min(arguments.cells))
    others = [measured(cells)[0] for cells in sorted(arguments.cells)[1:]]
    figures = {
        "measured": [asdict(one) for one in (smallest, *others)],
        "resumed": asdict(resumed(smallest.cells, digest)),
        "processor": scale_page.processor(),
    }
    text = table(figures)
    print(text)
    if arguments.write:
        scale_page.write(MARK, figures, text)


if __name__ == "__main__":
    main()
