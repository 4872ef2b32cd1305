"""CSV without Polars: byte for byte as it writes the same tables."""

import math
import struct

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import airtcp
from airtcp import _core
from airtcp.core.as_csv import columns_of, csv_of
from airtcp.core.rows import Rows
from airtcp.core.runs import ControlReport, _columns_with_printed, _with_printed

TABLES = ("samples", "events", "frames", "agents", "rtts", "pings")


def both(columns: list[tuple[str, str, list[object]]]) -> tuple[str, str]:
    """Ours, and that of Polars."""
    table = _core.table(columns)
    return csv_of(columns_of(table)), pl.DataFrame(table).write_csv()


@given(st.lists(st.none() | st.floats(), min_size=1))
@example([0.0, -0.0, 1e-4, 9.999e-5, -1e-5, 1.5e-5, 1e-6, 1e15, 1e16, 1.5e17, 1e22, 5e-324])
@example([math.nan, math.inf, -math.inf, 0.1 + 0.2, 9007199254740993.0])
def test_numbers_are_as_polars_writes_them(values: list[float | None]) -> None:
    ours, theirs = both([("a", "float64", values)])  # type: ignore[list-item]
    assert ours == theirs


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1))
def test_bits_of_every_number_are_as_polars_writes_them(patterns: list[int]) -> None:
    values = [struct.unpack("d", struct.pack("Q", one))[0] for one in patterns]
    ours, theirs = both([("a", "float64", values)])
    assert ours == theirs


@given(st.lists(st.none() | st.text(st.characters(codec="utf-8"), max_size=6), min_size=1))
@example(["", 'q"x', "a,b", "a\nb", "a\rb", " lead", "'", ";", "\t", None, "NaN", '""'])
def test_texts_are_as_polars_writes_them(values: list[str | None]) -> None:
    for kind in ("string", "category"):
        if kind == "category" and len(set(values)) > 100:
            continue
        ours, theirs = both([("a", kind, values)])  # type: ignore[list-item]
        assert ours == theirs


def test_names_and_other_types_are_as_polars_writes_them() -> None:
    ours, theirs = both(
        [
            ("a,b", "bool", [True, False, None]),
            ('q"', "int64", [-(2**63), 2**63 - 1, None]),
            ("", "uint64", [0, 2**64 - 1, None]),
        ]
    )
    assert ours == theirs
    assert both([("a", "float64", []), ("b", "string", [])]) == ("a,b\n",) * 2
    rows = Rows([{"a": 1, "b": "x"}, {"b": None}], {"a": "float64", "b": "string"})
    assert rows.csv() == rows.frame().write_csv() == "a,b\n1.0,x\n,\n"


@pytest.mark.parametrize(
    ("scenario", "settings", "remedies"),
    [
        ("lossy-pipe", {"duration": "5 s"}, []),
        ("ping", {"duration": "10 s", "flows.kind": "ping"}, []),
        ("wlan-upload", {"duration": "2 s"}, ["delay-injection"]),
        ("arq-download", {"duration": "2 s"}, ["dynamic-arq"]),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_tables_of_runs_are_as_polars_writes_them(
    scenario: str, settings: dict[str, object], remedies: list[str]
) -> None:
    probes = [*airtcp.TIMELINE_PROBES, "ssthresh", "in_flight", "queue"]
    run = airtcp.run(
        scenario, settings=settings, remedies=remedies, probes=probes, air=True, rtts=True,
        pings=True,
    )  # fmt: skip
    for table in TABLES:
        assert csv_of(columns_of(run.arrow(table))) == getattr(run, table).write_csv(), table


def test_printed_lines_are_among_the_events() -> None:
    """Of a control in BPF, in order of time, after the events of the same instant."""
    columns: list[tuple[str, str, list[object]]] = [
        ("time_s", "float64", [0.1, 0.2, 0.2, 0.3]),
        ("flow", "uint32", [0, 0, 1, 0]),
        ("event", "category", ["established", "loss", "loss", "closed"]),
        ("offset", "uint64", [None, 1448, 2896, None]),
        ("detail", "string", [None, None, None, None]),
    ]
    control = ControlReport(
        flow=1,
        counters={},
        messages=[{"time_s": 0.2, "text": "cwnd, 3"}, {"time_s": 0.05, "text": "begin"}],
        instructions=0,
        zero_windows=0,
        zero_thresholds=0,
    )
    table = _core.table(columns)
    ours = csv_of(_columns_with_printed(table, [control]))
    assert ours == _with_printed(pl.DataFrame(table), [control]).write_csv()
    assert ours.splitlines()[1] == "0.05,1,printed,,begin"
    assert ours.splitlines()[5] == '0.2,1,printed,,"cwnd, 3"'
    assert csv_of(_columns_with_printed(table, [])) == pl.DataFrame(table).write_csv()


def test_tables_of_comparisons_are_as_polars_writes_them() -> None:
    found = airtcp.compare("lossy-pipe", ["sack", "bbr"], 3, {"duration": "3 s"}, harm=True)
    assert found.rows.csv() == found.table.write_csv()
    assert found.cell_rows.csv() == found.cells.write_csv()
