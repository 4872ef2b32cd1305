"""Sweeps on many machines: the same cells as on one, also when a worker is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import airtcp
from airtcp.comparison.dask import Dask, packed, run_cells
from airtcp.comparison.grid import load_grid
from airtcp.comparison.grid_run import run_grid
from airtcp.comparison.store import Store

distributed = pytest.importorskip("distributed", reason="pip install 'airtcp[dask]'")

pytestmark = pytest.mark.filterwarnings("ignore")

SETTINGS = {"duration": "20 s"}


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


def test_a_killed_worker_costs_time_and_nothing_else(
    cluster, lossy_file: Path, tmp_path: Path
) -> None:
    here = airtcp.compare(lossy_file, ["sack", "tahoe"], 30, SETTINGS)
    with distributed.Client(cluster, set_as_default=False) as client:
        pids = list(client.run(os.getpid).values())
    killed = []

    def progress(done: int, cells: int) -> None:
        if done and not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    there = airtcp.compare(
        lossy_file,
        ["sack", "tahoe"],
        30,
        SETTINGS,
        out=tmp_path,
        progress=progress,
        dask=cluster.scheduler_address,
    )
    assert killed
    assert there == here
    # Results that Dask computed are found without it.
    kept = Store(tmp_path / "cells").find(cell.key for cell in here.finished)
    assert len(kept) == len(here.finished)


def test_what_one_machine_began_many_go_on_with(cluster, lossy_file: Path, tmp_path: Path) -> None:
    airtcp.compare(lossy_file, ["sack"], 5, SETTINGS, out=tmp_path)
    begun: list[int] = []
    airtcp.compare(
        lossy_file,
        ["sack"],
        8,
        SETTINGS,
        out=tmp_path,
        progress=lambda done, cells: begun.append(done),
        dask=cluster.scheduler_address,
    )
    assert begun[0] == 10
    assert begun[-1] == 16


def test_papers_are_judged_alike_on_many_machines(cluster, tmp_path: Path) -> None:
    chosen = ["performance-anomaly"]
    here = airtcp.papers.run(chosen, quick=True, readings=1)
    there = airtcp.papers.run(
        chosen, quick=True, readings=1, out=tmp_path, dask=cluster.scheduler_address
    )
    assert there.as_json() == here.as_json()
    # Cells that the cluster ran are not run again here.
    stored = set((tmp_path / "cells").iterdir())
    airtcp.papers.run(chosen, quick=True, readings=1, out=tmp_path)
    assert set((tmp_path / "cells").iterdir()) == stored


def test_no_result_passes_the_scheduler(
    cluster, lossy_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And tasks are few, however many cells there are."""
    scheduler = cluster.scheduler
    gathered: list[object] = []
    gather = scheduler.handlers["gather"]

    async def watched(*given: Any, **named: Any) -> Any:
        gathered.append(named)
        return await gather(*given, **named)

    monkeypatch.setitem(scheduler.handlers, "gather", watched)
    tasks: list[int] = []
    airtcp.compare(
        lossy_file,
        ["sack"],
        100,
        {"duration": "1 s"},
        progress=lambda *_: tasks.append(len(scheduler.tasks)),
        dask=cluster.scheduler_address,
    )
    assert not gathered
    # Two for each of two threads, and as many that are being forgotten.
    assert 0 < max(tasks) <= 8


SLOW_STUDY = """
import sys
from pathlib import Path
from airtcp.comparison.grid import load_grid
from airtcp.comparison.grid_run import run_grid

file, out, scheduler = sys.argv[1:]
report = lambda done, cells, words: print(done, flush=True)
run_grid(load_grid(Path(file)), out=Path(out), dask=scheduler, progress=report)
"""


def test_a_killed_client_loses_only_unwritten_cells(
    cluster, lossy_file: Path, tmp_path: Path
) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "killed"\nseeds = 150\nremedies = ["tahoe"]\n'
        f'[[link]]\nname = "lossy"\nscenario = "{lossy_file}"\n'
        '[[stack]]\nname = "SACK"\nsettings = { duration = "60 s", "tcp.profile" = "sack" }\n'
    )
    grid = load_grid(study)
    out = tmp_path / "out"
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_STUDY, study, out, cluster.scheduler_address],
        stdout=subprocess.PIPE,
    ) as client:
        assert client.stdout is not None
        for _ in client.stdout:
            if any((out / "cells").glob("*.parquet")):
                break
        client.kill()
    written = sum(pl.read_parquet(file).height for file in (out / "cells").glob("*.parquet"))
    begun: list[int] = []
    again = run_grid(
        grid,
        out=out,
        progress=lambda done, *_: begun.append(done),
        dask=cluster.scheduler_address,
    )
    assert begun[0] >= written > 0
    assert again == run_grid(grid)


def test_nobody_answers() -> None:
    with pytest.raises(airtcp.AirtcpError, match="no Dask scheduler answers at"):
        Dask("tcp://127.0.0.1:1", timeout_s=1)


def test_the_cells_of_a_task_are_small(lossy_file: Path) -> None:
    """The scheduler logs a thousand messages to a worker, each with the cells of its tasks."""
    scenarios = [
        airtcp.load_scenario(lossy_file, {"duration": "10 ms", "link.delay": f"{delay} us"})
        for delay in range(1, 11)
    ]
    work = packed((scenario, seed, None) for scenario in scenarios for seed in range(100))
    assert len(work) < 20_000
    few = packed((scenario, 1, None) for scenario in scenarios[:2])
    seconds, results = run_cells(few)
    assert seconds > 0
    assert [trouble for _, trouble in results] == ["", ""]
    assert len({summary for summary, _ in results}) == 2
