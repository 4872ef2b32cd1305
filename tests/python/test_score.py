"""The score of diagnoses on recorded kernels: which causes of a needless retransmission count."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

CAPTURES = Path(__file__).resolve().parents[1] / "captures"
sys.path.insert(0, str(CAPTURES))
try:
    from cases import cases
    from score import needless_cause_is_right
    from truth import Truth
finally:
    sys.path.remove(str(CAPTURES))

TABLE = """way,tcp,flow,bytes,arrived_ns,fate
{data},true,1,1500,1000,delivered
{acks},true,1,40,2000,{fate}
{acks},true,{other},40,3000,lost
{acks},false,1,40,3500,lost
{data},true,1,1500,4000,delivered
{acks},true,1,40,5000,lost
{data},true,1,1500,6000,delivered
"""


@pytest.mark.parametrize("download", [True, False])
@pytest.mark.parametrize(("fate", "lost"), [("delivered", 0), ("lost", 1), ("dropped", 1)])
def test_acks_lost_between_two_transmissions_are_counted(
    tmp_path: Path, fate: str, lost: int, download: bool
) -> None:
    data, acks = ("down", "up") if download else ("up", "down")
    text = TABLE.format(data=data, acks=acks, fate=fate, other=2)
    (tmp_path / "packets.csv").write_text(text, "utf-8")
    truth = Truth(replace(cases()[0], download=download), tmp_path)
    assert [truth.lost_acks(0, 1), truth.lost_acks(0, 2)] == [lost, lost + 1]
    assert truth.lost_acks(0, 3) == 0


def test_lost_acks_explain_a_needless_retransmission_where_acks_were_lost() -> None:
    label = {"cause": "lost-acks"}
    assert needless_cause_is_right("losses", label, has_lost_acks=True)
    assert not needless_cause_is_right("losses", label, has_lost_acks=False)
    assert not needless_cause_is_right("losses", {"cause": "reordering"}, has_lost_acks=True)
