"""Results as Arrow streams: taken by Polars, pandas, DuckDB and pyarrow, where installed."""

import math
from pathlib import Path

import pytest

import airtcp
from airtcp import _core
from airtcp.core.rows import Rows

TYPES = {"name": "string", "count": "uint64", "share": "float64", "offset": "int64"}
ROWS = [
    {"name": "é", "count": 2**64 - 1, "share": 1, "offset": -(2**63)},
    {"name": None, "share": math.nan},
]


def test_rows_keep_their_values_and_types() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(Rows(ROWS, TYPES))
    assert frame.schema == {
        "name": polars.String,
        "count": polars.UInt64,
        "share": polars.Float64,
        "offset": polars.Int64,
    }
    assert frame["name"].to_list() == ["é", None]
    assert frame["count"].to_list() == [2**64 - 1, None]
    assert frame["offset"].to_list() == [-(2**63), None]
    assert frame["share"][0] == 1.0
    assert math.isnan(frame["share"][1])
    assert Rows([], TYPES).frame().shape == (0, 4)


def test_records_have_every_column() -> None:
    first, second = Rows(ROWS, TYPES).records()
    assert first == {"name": "é", "count": 2**64 - 1, "share": 1.0, "offset": -(2**63)}
    assert isinstance(first["share"], float)
    assert list(second) == list(TYPES)


def test_a_value_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError):
        _core.table([("count", "uint64", ["three"])])
    with pytest.raises(OverflowError):
        _core.table([("count", "uint32", [2**32])])
    with pytest.raises(ValueError, match="expected bool, category, float64"):
        _core.table([("count", "decimal", [])])
    with pytest.raises(ValueError, match="row count"):
        _core.table([("a", "int64", [1]), ("b", "int64", [])])


@pytest.mark.parametrize("reader", ["polars", "pyarrow", "pandas", "duckdb"])
def test_a_comparison_is_read_by(reader: str, lossy_file: Path) -> None:
    library = pytest.importorskip(reader)
    comparison = airtcp.compare(lossy_file, ["sack"], seeds=2, settings={"duration": "2 s"})
    run = airtcp.run(lossy_file, settings={"duration": "2 s"})
    names = [row["remedy"] for row in comparison.rows.records()]
    for result, column, expected in (
        (comparison, "remedy", names),
        (run.arrow("events"), "time_s", run.events["time_s"].to_list()),
    ):
        if reader == "polars":
            found = library.DataFrame(result)[column].to_list()
        elif reader == "pyarrow":
            found = library.table(result)[column].to_pylist()
        elif reader == "pandas":
            found = library.DataFrame.from_arrow(result)[column].to_list()
        else:
            stream = result  # noqa: F841 — DuckDB takes it by its name
            found = [one for (one,) in library.sql(f"select {column} from stream").fetchall()]
        assert found == expected
    with pytest.raises(ValueError, match="expected one of samples, events"):
        run.arrow("packet")
