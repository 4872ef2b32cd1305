"""Sweeps: axes keep their types, and the figure has them."""

import pytest

import airtcp

SETTINGS = {"duration": "2 s"}


def test_axes_of_numbers_are_numbers() -> None:
    axes = {"link.loss.rate": [0.0, 0.02], "link.queue.packets": [20, 50], "link.delay": ["5 ms"]}
    table = airtcp.sweep("lossy-pipe", axes, ["sack", "bbr"], 2, SETTINGS)
    assert table["link.loss.rate"].unique().to_list() == [0.0, 0.02]
    assert sorted(table["link.queue.packets"].unique().to_list()) == [20, 50]
    assert table["link.delay"].unique().to_list() == ["5 ms"]
    figure = airtcp.plot_sweep(table)
    first, second = figure.axes
    assert (first.get_title(loc="left"), second.get_title(loc="left")) == (
        "link.queue.packets = 20, link.delay = 5 ms",
        "link.queue.packets = 50, link.delay = 5 ms",
    )
    assert second.get_xlabel() == "link.loss.rate"
    row = table.filter(remedy="bbr")[-1]
    drawn = next(bar for bar in second.containers if bar.get_label() == "bbr")
    x, y = drawn.lines[0].get_data()  # type: ignore[attr-defined]
    assert (x[-1], y[-1]) == (0.02, row["difference_percent"][0])


def test_an_axis_of_texts_keeps_its_order() -> None:
    table = airtcp.sweep("lossy-pipe", {"link.delay": ["50 ms", "5 ms"]}, "bbr", 2, SETTINGS)
    (axes,) = airtcp.plot_sweep(table).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["50 ms", "5 ms"]
    with pytest.raises(airtcp.ScenarioError, match="expected one of link"):
        airtcp.plot_sweep(table, "link.rate")
