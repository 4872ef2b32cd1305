"""Output files of `airtcp run`: the requested ones, their requirements, and their content."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp._core import Scenario, ScenarioError
from airtcp.core.as_csv import csv_of
from airtcp.core.extras import required
from airtcp.core.files import writable_file, write_whole
from airtcp.core.runs import Run, run
from airtcp.pages.plot import TIMELINE_PROBES
from airtcp.pages.plot.pictures import PICTURES
from airtcp.pages.plot.print_width import WIDTHS

if TYPE_CHECKING:
    import polars as pl

_PLOT_FORMATS = (".png", ".svg", ".pdf", ".tex")
_TABLE_FORMATS = (".csv", ".parquet")
_TABLES = ("samples", "events", "frames", "agents")
_FORMATS = {
    "plot": _PLOT_FORMATS,
    **dict.fromkeys(_TABLES, _TABLE_FORMATS),
    "rtt_log": (".csv",),
    "flent": (".gz",),
    "irtt": (".json", ".gz", ".csv"),
}
"""Endings of the files' names, by option."""


@dataclass(frozen=True)
class RunFiles:
    """The files of a run; None for files not requested.

    `pictures` are kinds and files. `pcap`, `qlog` and `replay` are written by the core.
    """

    samples: Path | None
    events: Path | None
    frames: Path | None
    agents: Path | None
    rtt_log: Path | None
    flent: Path | None
    irtt: Path | None
    plot: Path | None
    pictures: list[tuple[str, Path]]
    width: float | None
    """Inches, for figures in print."""
    pcap: Path | None
    qlog: Path | None
    replay: Path | None

    def run(
        self, scenario: Scenario, seed: int, probes: list[str], progress: Callable[[float], object]
    ) -> Run:
        """Runs a scenario, recording the named probes and whatever the files need."""
        return run(
            scenario,
            seed,
            probes=self._probes(probes),
            events=self._needs_events,
            air=self._needs_air,
            rtts=bool(self.rtt_log or self.flent),
            pings=bool(self.irtt),
            pcap=self.pcap,
            qlog=self.qlog,
            replay=self.replay,
            progress=progress,
        )

    def check(self, probes: list[str]) -> None:
        """Checks names and folders before anything runs.

        Raises:
            ModuleNotFoundError: A library that a file takes is not installed.
            ScenarioError: A file cannot be written or has an unknown extension, or there are no
                samples to write.
        """
        drawn = self._drawn()
        if drawn:
            # For LaTeX a timeline is written without them.
            if any(kind != "timeline" or path.suffix != ".tex" for kind, path in drawn):
                required("matplotlib", "polars")
        elif self.width is not None:
            raise ScenarioError("--figure-width: name a figure, such as --plot flow.pdf")
        if any(path.suffix == ".parquet" for _, path in self._tables()):
            required("polars")
        for name, suffixes in _FORMATS.items():
            _check_name(getattr(self, name), f"--{name.replace('_', '-')}", suffixes)
        for kind, path in self.pictures:
            _check_name(path, f"--picture {kind}=", _PLOT_FORMATS)
        for option, file in {"--pcap": self.pcap, "--qlog": self.qlog}.items():
            if file:
                writable_file(file, option)
        if self.samples and not probes and not self.plot:
            raise ScenarioError(
                f"--samples {self.samples}: name what to sample, such as --probe cwnd"
            )

    def _probes(self, named: list[str]) -> list[str]:
        """The requested probes, and the probes that figures need, without duplicates."""
        needed = (name for kind, _ in self.pictures for name in PICTURES[kind].probes)
        timeline = TIMELINE_PROBES if self.plot else ()
        of_flent = ("delivered_bytes",) if self.flent else ()
        return list(dict.fromkeys([*named, *timeline, *needed, *of_flent]))

    @property
    def _needs_events(self) -> bool:
        """Whether events are written, or marked by a figure."""
        return bool(self.events or self.plot) or any(
            kind == "timeline" for kind, _ in self.pictures
        )

    @property
    def _needs_air(self) -> bool:
        """Whether frames on the air and actions of agents are recorded."""
        return bool(self.frames or self.agents) or any(
            PICTURES[kind].air for kind, _ in self.pictures
        )

    def write(self, finished: Run) -> None:
        """Draws the figures, then writes the tables."""
        for kind, path in self._drawn():
            _draw(finished, kind, path, self.width)
        for name, path in self._tables():
            if path.suffix == ".csv":
                write_whole(path, finished.csv(name).encode())
            else:
                _write_parquet(getattr(finished, name), path)
        if self.rtt_log:
            write_whole(self.rtt_log, _rtt_log(finished).encode())
        if self.flent:
            from airtcp.pages.flent import flent_file

            write_whole(self.flent, flent_file(finished))
        if self.irtt:
            from airtcp.pages.irtt import irtt_file

            try:
                content = irtt_file(finished, self.irtt.suffix)
            except ValueError as reason:
                raise ScenarioError(f"--irtt {self.irtt}: {reason}") from reason
            write_whole(self.irtt, content)

    def _tables(self) -> list[tuple[str, Path]]:
        """The name and the file of every table."""
        files = [(name, getattr(self, name)) for name in _TABLES]
        return [(name, path) for name, path in files if path]

    def _drawn(self) -> list[tuple[str, Path]]:
        """The kind and the file of every picture."""
        return [*([("timeline", self.plot)] if self.plot else []), *self.pictures]

    def written(self) -> Iterator[Path]:
        """Every file that was written."""
        played_back = self.replay / "scenario.toml" if self.replay else None
        tables = (self.samples, self.events, self.frames, self.agents, self.rtt_log)
        drawn = (path for _, path in self.pictures)
        others = (self.flent, self.irtt)
        yield from filter(
            None, (*tables, *others, self.pcap, self.qlog, played_back, self.plot, *drawn)
        )


def parse_pictures(texts: list[str]) -> list[tuple[str, Path]]:
    """The kinds and files of `--picture KIND=FILE`.

    Raises:
        ScenarioError: No such kind, or no file.
    """
    pictures = []
    for text in texts:
        kind, _, name = text.partition("=")
        if kind not in PICTURES or not name:
            raise ScenarioError(
                f"--picture {text}: expected KIND=FILE, KIND one of {', '.join(PICTURES)}"
            )
        pictures.append((kind, Path(name)))
    return pictures


def _check_name(path: Path | None, option: str, suffixes: tuple[str, ...]) -> None:
    if path is None:
        return
    if path.suffix not in suffixes:
        raise ScenarioError(f"{option} {path}: expected a name ending in {' or '.join(suffixes)}")
    writable_file(path, option)


def _draw(finished: Run, kind: str, path: Path, width: float | None) -> None:
    from airtcp.pages.run import latex_picture, printed_picture

    form = path.suffix.removeprefix(".")
    try:
        if form == "tex":
            content = latex_picture(finished, kind, WIDTHS["column"] if width is None else width)
        elif width is not None:
            content = printed_picture(finished, kind, form, width)
        else:
            buffer = BytesIO()
            finished.picture(kind).savefig(buffer, format=form)
            content = buffer.getvalue()
    except ValueError as reason:
        raise ScenarioError(f"--picture {kind}={path}: {reason}") from reason
    write_whole(path, content)


def _rtt_log(finished: Run) -> str:
    """The round trips of the first flow, without its number."""
    columns = finished.columns("rtts")
    (flows,) = (values for name, _, values in columns if name == "flow")
    kept = [row for row, flow in enumerate(flows) if flow == 0]
    return csv_of(
        (name, kind, [values[row] for row in kept])
        for name, kind, values in columns
        if name != "flow"
    )


def _write_parquet(table: "pl.DataFrame", path: Path) -> None:
    content = BytesIO()
    table.write_parquet(content)
    write_whole(path, content.getvalue())
