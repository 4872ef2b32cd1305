"""Colours: told apart, kept, and legible in light and in dark."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import airtcp
import airtcp.pages
from airtcp.core.catalogue import BASELINE
from airtcp.pages.plot.matrix import effect_colour
from airtcp.pages.plot.style import INK, REMEDY_COLOURS, VARIABLES, remedy_colours
from airtcp.pages.plot.verdicts import LOOKS, look_of

names = st.lists(st.text(min_size=1), unique=True, max_size=6).map(lambda some: [BASELINE, *some])


@given(names)
def test_up_to_six_remedies_have_different_colours(remedies: list[str]) -> None:
    colours = remedy_colours(remedies)
    assert len(set(colours.values())) == len(set(remedies))


def test_a_remedy_keeps_its_colour_whatever_is_beside_it() -> None:
    assert remedy_colours(["sack"])["sack"] == remedy_colours([BASELINE, "sack"])["sack"]
    assert remedy_colours(["sack"])["sack"] in REMEDY_COLOURS


def _luminance(colour: str) -> float:
    """Relative luminance of sRGB (WCAG 2.2, definitions)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours (WCAG 2.2, definitions)."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _page_variables() -> dict[str, tuple[str, str]]:
    """The colours that the pages' style sheet adds to the figures', light and dark."""
    style = Path(airtcp.pages.__file__).parent / "templates" / "style.css.j2"
    found: dict[str, list[str]] = {}
    for name, colour in re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", style.read_text()):
        found.setdefault(name, []).append(colour)
    return {name: (light, dark) for name, (light, dark) in found.items()}


def test_the_measure_of_contrast_is_the_standards() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    # The standard's own example of what just passes: "#767676 on white is 4.54:1".
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("place", [0, 1], ids=["light", "dark"])
def test_text_is_legible(place: int) -> None:
    page = _page_variables()
    grounds = [VARIABLES["background"][place], page["stripe"][place]]
    texts = [VARIABLES[name][place] for name in ("foreground", "soft")] + [page["accent"][place]]
    for ground in grounds:
        for text in texts:
            assert contrast(text, ground) >= 4.5, (text, ground)


@pytest.mark.parametrize("place", [0, 1], ids=["light", "dark"])
def test_lines_are_seen(place: int) -> None:
    background = VARIABLES["background"][place]
    for name, values in VARIABLES.items():
        if name not in {"background", "line"}:
            assert contrast(values[place], background) >= 3.0, name


@pytest.mark.parametrize("verdict", LOOKS)
def test_words_on_verdicts_are_legible(verdict: str) -> None:
    look = look_of(verdict)
    assert contrast(look.text, look.surface) >= 4.5
    assert look_of(f"{verdict}, larger") == look


def test_numbers_on_effects_are_legible() -> None:
    for percent in (-90.0, -40.0, -12.0, -1.0, 1.0, 12.0, 40.0, 90.0):
        assert contrast(INK, effect_colour(percent)) >= 4.5, percent


def test_what_does_not_change_with_the_theme_is_no_variable() -> None:
    """A colour that is a variable would change in dark; words on verdicts do not."""
    light = {values[0] for values in VARIABLES.values()}
    fixed = {INK, *(c for look in LOOKS.values() for c in (look.text, look.surface))}
    assert not light & fixed
    assert len(light) == len(VARIABLES)


@pytest.mark.parametrize("place", [0, 1], ids=["light", "dark"])
def test_words_of_the_lab_are_legible(place: int) -> None:
    """Also those in the colours of the two sides, and the alarm's."""
    style = Path(airtcp.__file__).parent / "lab" / "static" / "style.css"
    found: dict[str, list[str]] = {}
    for name, colour in re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", style.read_text()):
        found.setdefault(name, []).append(colour)
    assert {"foreground", "soft", "accent", "a", "b", "alarm"} <= found.keys()
    for ground in ("background", "stripe"):
        for text in ("foreground", "soft", "accent", "a", "b", "alarm"):
            colours = found[text][place], found[ground][place]
            assert contrast(*colours) >= 4.5, (text, ground, colours)
