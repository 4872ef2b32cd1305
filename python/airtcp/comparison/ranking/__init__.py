"""One ranking for every answer: deployable remedies, decided effects, and their order.

`compare`, `diagnose`, the demonstration, the lab and the papers build `Candidate`s from their runs
and call `rank`, so that no two of them can name different winners for the same runs.

- `aims`: the intended use of the link, and its deciding metric.
- `askers`: the question "what may you change?", and the spots on the path that the answer reaches.
- `direction`: which end of a link is the mobile's, if a scenario defines it.
- `machines`: the number of machines in the asker's position.
- `deployable`: the spots that a remedy needs.
- `state`, `harm`: shown, excluded or undecided, for an effect and for its cost to others.
- `candidate`, `order`: a remedy with its effect, and the order.
- `elsewhere`: the best at the places that the asker cannot change.
"""

from airtcp.comparison.ranking.aims import Aim
from airtcp.comparison.ranking.askers import Asker, Reach, reach
from airtcp.comparison.ranking.candidate import Candidate
from airtcp.comparison.ranking.direction import Direction, direction
from airtcp.comparison.ranking.elsewhere import Elsewhere
from airtcp.comparison.ranking.machines import machines
from airtcp.comparison.ranking.order import Ranking, rank
from airtcp.comparison.ranking.state import SMALLEST_PERCENT, State

__all__ = [
    "SMALLEST_PERCENT",
    "Aim",
    "Asker",
    "Candidate",
    "Direction",
    "Elsewhere",
    "Ranking",
    "Reach",
    "State",
    "direction",
    "machines",
    "rank",
    "reach",
]
