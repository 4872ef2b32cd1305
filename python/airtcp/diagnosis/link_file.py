"""The diagnosis of a file with a link's rate: its facts, and the helpful remedies."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from airtcp.comparison.ranking.askers import parse_askers
from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.imported import ImportedLink, import_link

if TYPE_CHECKING:
    from airtcp.comparison.compared import Comparison
    from airtcp.comparison.sequential import Rounds


@dataclass(frozen=True)
class DiagnosedLink:
    """A link out of a file, and the remedies over it."""

    imported: ImportedLink
    comparison: "Comparison"

    @cached_property
    def sentences(self) -> list[str]:
        """Description of the file, the remedies that help, and its known and unknown facts."""
        from airtcp.comparison.answer import answer

        first, *others = self.imported.said
        return [first, *answer(self.comparison), *others]

    @property
    def deployment(self) -> list[str]:
        """The winner's deployment on a real system; empty without a winner."""
        from airtcp.comparison.deployment import deployment

        return deployment(self.comparison)


def diagnosed_link(
    path: Path,
    can: str = "all",
    progress: Callable[[float, str], object] | None = None,
    *,
    rate: str | None = None,
    rounds: "Rounds | None" = None,
) -> DiagnosedLink:
    """Imports a file and tries every remedy on its link.

    Args:
        path: the file.
        can: what the asker may change, as in `--can`.
        progress: called with the share that is done, and the current step.
        rate: the link's rate, where the asker knows it.
        rounds: seeds and processor time of the comparison.

    Raises:
        ScenarioError: the file makes no link, or the asker is unknown.
        RunError: a simulation could not be finished.
    """
    parse_askers(can)
    imported = import_link([path], Choices(rate=rate))
    from airtcp.comparison.compare import run_comparison
    from airtcp.diagnosis.ping_answer import ROUNDS

    def told(done: int, cells: int) -> None:
        if progress is not None:
            progress(done / max(cells, 1), "trying remedies")

    with TemporaryDirectory(prefix="airtcp-") as held:
        compared = run_comparison(
            imported.link.write(Path(held)),
            can=can,
            rounds=rounds or ROUNDS,
            harm=True,
            progress=told,
        )
    return DiagnosedLink(imported, compared)
