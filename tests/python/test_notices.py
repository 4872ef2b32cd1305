"""Licence texts of linked crates: each has one, and a wheel carries it."""

import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))
import index_page as index  # noqa: E402
import notices as terms  # noqa: E402

sys.path.remove(str(ROOT / "packaging"))


@pytest.fixture(scope="module")
def crates() -> list[terms.Crate]:
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu", "--features", "airtcp-net/bpf"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return terms.linked(json.loads(told.stdout))


def test_every_linked_crate_has_its_text(crates: list[terms.Crate]) -> None:
    text = terms.notices(crates)
    assert len(crates) > 50
    for crate in crates:
        assert f"{crate.name} {crate.version}" in text
        assert all(one in text for one in crate.texts())


def test_crates_of_ours_tools_of_the_build_and_macros_are_not_linked(
    crates: list[terms.Crate],
) -> None:
    names = {crate.name for crate in crates}
    assert {"libm", "rustix", "pyo3"} <= names
    assert not {name for name in names if name.startswith("airtcp")}
    assert not {"proptest", "criterion", "cc", "syn", "serde_derive"} & names


def test_a_crate_without_a_text_is_told(crates: list[terms.Crate], tmp_path: Path) -> None:
    bare = replace(crates[0], name="bare", licence="BSD-3-Clause", folder=tmp_path)
    with pytest.raises(terms.MissingTextError, match=r"bare .*BSD-3-Clause.*expected a LICENSE"):
        terms.notices([bare])
    mit = replace(bare, licence="MIT OR Apache-2.0", authors=("A. Nother",))
    (text,) = mit.texts()
    assert text.startswith("Copyright (c) A. Nother")
    assert "without restriction" in text
    assert terms.standard_library("1.90.0").texts()


def test_the_list_names_every_crate_with_its_licence(crates: list[terms.Crate]) -> None:
    listed = json.loads(terms.sbom(crates, "1.2.3"))
    assert listed["metadata"]["component"]["version"] == "1.2.3"
    purls = [one["purl"] for one in listed["components"]]
    assert purls == [crate.purl for crate in crates]
    assert all(one["licenses"][0]["expression"] for one in listed["components"])


def test_a_wheel_lists_the_texts_in_its_metadata(tmp_path: Path) -> None:
    wheel = tmp_path / "airtcp-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("airtcp-1.dist-info/METADATA", "Metadata-Version: 2.4\nName: airtcp\n\n")
        archive.writestr("airtcp-1.dist-info/RECORD", "airtcp-1.dist-info/METADATA,,\n")
    added = {"licenses/NOTICES": b"the texts", "sboms/a.json": b"{}"}
    index.put_into(wheel, "The page.", None, added)
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read("airtcp-1.dist-info/METADATA").decode()
        record = archive.read("airtcp-1.dist-info/RECORD").decode().splitlines()
        assert archive.read("airtcp-1.dist-info/licenses/NOTICES") == b"the texts"
    assert metadata == "Metadata-Version: 2.4\nName: airtcp\nLicense-File: NOTICES\n\nThe page."
    assert [line.partition(",")[0].partition("/")[2] for line in record] == [
        "METADATA",
        "licenses/NOTICES",
        "sboms/a.json",
    ]
    assert all("sha256=" in line for line in record)
