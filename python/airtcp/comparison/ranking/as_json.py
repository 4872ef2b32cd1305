"""A ranking as a JSON object: the same for every command."""

from airtcp.comparison.ranking.candidate import Candidate
from airtcp.comparison.ranking.order import Ranking


def ranking_json(ranking: Ranking) -> dict[str, object]:
    """The best for the asker, the undecided, and the best at each other place."""
    return {
        "can": [asker.value for asker in ranking.reach.askers],
        "direction": ranking.reach.direction.value,
        "best": None if ranking.best is None else _candidate(ranking.best),
        "nothing_helps": ranking.nothing_helps,
        "undecided": [_candidate(one) for one in ranking.undecided],
        "elsewhere": [
            {"place": other.place, **_candidate(other.best)} for other in ranking.elsewhere
        ],
    }


def _candidate(one: Candidate) -> dict[str, object]:
    return {
        "remedy": one.remedy,
        "gain": one.gain,
        "interval": None if one.interval is None else list(one.interval),
        "state": one.state.value,
        "seeds_to_decide": one.seeds_to_decide,
        "floods": one.floods,
        "harm_percent": one.harm,
        "harm_state": None if one.harm_state is None else one.harm_state.value,
    }
