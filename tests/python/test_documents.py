"""Files named in the documentation exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("fuzz/*.md")])
FOLDERS = "benches|crates|docs|fuzz|papers|python|recordings|scenarios|studies|tests"
# A path in backquotes, from the repository's root; a pattern matches one file at least.
NAMED = re.compile(rf"`((?:{FOLDERS})/[\w./*-]+)`")


def named(document: Path) -> set[str]:
    return set(NAMED.findall(document.read_text(encoding="utf-8")))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_named_exists(document: Path) -> None:
    missing = sorted(path for path in named(document) if not any(ROOT.glob(path.rstrip("/"))))
    assert not missing, f"{document.name} names files that do not exist: {missing}"


def test_the_sites_groups_are_those_of_the_index() -> None:
    """A page's folder is its group, in mkdocs.yml and in docs/README.md alike."""
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:")[1]
    groups = re.findall(r"- (\w+):\s*\[([^]]*)\]", site)
    of_site = {group: set("".join(pages.split()).split(",")) for group, pages in groups}
    assert list(of_site) == ["Start", "Guides", "Reference", "Measurements", "Contributing"]
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8").split("\n## ")[1:]
    of_index = {
        part.split("\n")[0]: set(re.findall(r"^\| \[[\w-]+\.md\]\(([\w/-]+\.md)\)", part, re.M))
        for part in index
    }
    assert of_site == of_index
    docs = ROOT / "docs"
    for group, pages in of_site.items():
        folder = docs / group.lower()
        assert pages == {str(path.relative_to(docs)) for path in folder.glob("**/*.md")}
    assert [path.name for path in docs.glob("*.md")] == ["README.md"]
