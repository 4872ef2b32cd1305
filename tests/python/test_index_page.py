"""The page of a package index, and the wheel that carries it."""

import base64
import hashlib
import importlib.util
import re
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location("index_page", ROOT / "packaging" / "index_page.py")
assert _SPEC is not None
assert _SPEC.loader is not None
index_page = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(index_page)

README = (ROOT / "README.md").read_text(encoding="utf-8")
RELATIVE = re.compile(r"\]\((?!https?://|#)")


@pytest.mark.parametrize("repository", [None, "https://example.org/airtcp/"])
def test_no_link_leads_into_a_checkout(repository: str | None) -> None:
    assert RELATIVE.search(README)
    page = index_page.index_page(README, repository)
    assert not RELATIVE.search(page)
    assert "The tutorial" in page
    if repository:
        assert "(https://example.org/airtcp/blob/main/docs/start/tutorial.md)" in page
        assert "(https://example.org/airtcp/raw/main/docs/images/demo.png)" in page


def test_a_wheel_takes_it_and_stays_whole(tmp_path: Path) -> None:
    wheel = tmp_path / "airtcp-1-py3-none-any.whl"
    files = {
        "airtcp/__init__.py": b"",
        "airtcp-1.dist-info/METADATA": b"Metadata-Version: 2.4\nName: airtcp\n\nold [a](b.md)",
        "airtcp-1.dist-info/RECORD": b"airtcp/__init__.py,sha256=x,0\n"
        b"airtcp-1.dist-info/METADATA,sha256=old,7\nairtcp-1.dist-info/RECORD,,\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    index_page.put_into(wheel, "new page\n", "https://example.org/airtcp")
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        metadata = archive.read("airtcp-1.dist-info/METADATA")
        record = archive.read("airtcp-1.dist-info/RECORD").decode().splitlines()
    assert metadata.endswith(b"\n\nnew page\n")
    assert b"Project-URL: Source, https://example.org/airtcp" in metadata
    digest = base64.urlsafe_b64encode(hashlib.sha256(metadata).digest()).rstrip(b"=").decode()
    assert f"airtcp-1.dist-info/METADATA,sha256={digest},{len(metadata)}" in record
    assert record[0] == "airtcp/__init__.py,sha256=x,0"
