"""The released build gives the digests that the debug build gives.

The Rust tests check their build, with all its checks on, against the same file.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import airtcp

PINNED: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "digests.json").read_text())


@pytest.mark.parametrize("pinned", PINNED, ids=lambda pinned: f"seed-{pinned['seed']}")
def test_the_build_that_users_run_gives_the_pinned_digest(pinned: dict[str, Any]) -> None:
    summary = airtcp.run(pinned["scenario"], seed=pinned["seed"]).summary
    assert summary["digest"] == pinned["digest"]
