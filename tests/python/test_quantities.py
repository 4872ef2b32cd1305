"""Numbers as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airtcp.core.quantities import (
    bit_rate_scale,
    format_bit_rate,
    format_bytes,
    format_count,
    format_percent,
)


@pytest.mark.parametrize(
    ("bps", "text"),
    [
        (0, "0 bit/s"),
        (999, "999 bit/s"),
        (999_600, "1.00 Mbit/s"),
        (7_532_000, "7.53 Mbit/s"),
        (75_320_000, "75.3 Mbit/s"),
        (753_200_000, "753 Mbit/s"),
        (10e9, "10.0 Gbit/s"),
    ],
)
def test_bit_rates(bps: float, text: str) -> None:
    assert format_bit_rate(bps) == text


def test_signs_are_typographic() -> None:
    assert format_bit_rate(-331_000, sign=True) == "\N{MINUS SIGN}331 kbit/s"
    assert format_percent(13.14, sign=True) == "+13.1 %"
    assert format_percent(-6.72, sign=True) == "\N{MINUS SIGN}6.7 %"


@pytest.mark.parametrize(
    ("count", "text"),
    [(41, "41"), (41.5, "41.5"), (12345, "12\N{NARROW NO-BREAK SPACE}345"), (0.04, "0")],
)
def test_counts(count: float, text: str) -> None:
    assert format_count(count) == text


def test_bytes() -> None:
    assert format_bytes(94_123_456) == "94.1 MB"


@given(st.floats(1, 1e12))
def test_a_rate_keeps_three_digits(bps: float) -> None:
    divisor, unit = bit_rate_scale(bps)
    number, printed_unit = format_bit_rate(bps).split()
    assert printed_unit == unit
    assert float(number) * divisor == pytest.approx(bps, rel=0.0051)
