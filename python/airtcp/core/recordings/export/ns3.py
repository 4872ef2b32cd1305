"""A function of C++ for ns-3 that joins two nodes by the link."""

from airtcp.core.recordings.export.pipe import Direction, Pipe, said_of_queue
from airtcp.core.recordings.recording import DOWN, UP

_STEP_S = 0.1
_UNLIMITED_BPS = 1e9

_HEADER = """// {name}: joins the mobile and the network by this link.
// #include "link.h"; auto devices = InstallLink(network, mobile);
#pragma once
#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

namespace airtcp {{

inline void
FollowRates(ns3::Ptr<ns3::PointToPointNetDevice> device, const std::vector<double>& bps,
            std::size_t at)
{{
    device->SetDataRate(ns3::DataRate(static_cast<uint64_t>(bps[at])));
    const auto next = (at + 1) % bps.size();
    ns3::Simulator::Schedule(ns3::Seconds({step}), &FollowRates, device, bps, next);
}}

inline void
Configure(ns3::Ptr<ns3::NetDevice> from, ns3::Ptr<ns3::NetDevice> to, uint64_t bps,
          const std::string& queue, double loss, const std::vector<double>& rates)
{{
    auto device = ns3::DynamicCast<ns3::PointToPointNetDevice>(from);
    device->SetDataRate(ns3::DataRate(bps));
    auto fifo = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
    fifo->SetMaxSize(ns3::QueueSize(queue));
    device->SetQueue(fifo);
    if (loss > 0)
    {{
        auto errors = ns3::CreateObject<ns3::RateErrorModel>();
        errors->SetUnit(ns3::RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        ns3::DynamicCast<ns3::PointToPointNetDevice>(to)->SetReceiveErrorModel(errors);
    }}
    if (!rates.empty())
    {{
        FollowRates(device, rates, 0);
    }}
}}

inline ns3::NetDeviceContainer
InstallLink(ns3::Ptr<ns3::Node> network, ns3::Ptr<ns3::Node> mobile)
{{
    ns3::PointToPointHelper helper;
    helper.SetChannelAttribute("Delay", ns3::StringValue("{delay}ms"));
    auto devices = helper.Install(network, mobile);
    Configure(devices.Get(0), devices.Get(1), {down});
    Configure(devices.Get(1), devices.Get(0), {up});
    return devices;
}}

}} // namespace airtcp
"""


def exported(pipe: Pipe) -> tuple[dict[str, bytes], list[str]]:
    """Files by name, and notes."""
    notes = list(pipe.notes)
    up, down = pipe.ways[UP], pipe.ways[DOWN]
    delay_s = (up.delay_s + down.delay_s) / 2
    if abs(up.delay_s - down.delay_s) > 5e-4:
        notes.append("A point-to-point channel has one delay for both ways: their mean.")
    for way, one in pipe.ways.items():
        notes += said_of_queue(way, one, ())
        if one.trace is not None:
            notes.append(
                f"The rate of the direction {way} changes each {_STEP_S:g} s, to the mean of that "
                "time; an outage is 1 bit/s, which holds the packet under way for as long."
            )
        if one.delays:
            notes.append(
                f"Delays of the direction {way} change with time: the channel has their median."
            )
        if one.loss_model.get("model", "iid") != "iid":
            notes.append(f"Losses of the direction {way} come in bursts: ns-3 is given their mean.")
    notes.append(
        "ns-3's TCP differs: set TcpSocket::SegmentSize, its buffers and its congestion control."
    )
    text = _HEADER.format(
        name=pipe.name,
        step=f"{_STEP_S:g}",
        delay=f"{1e3 * delay_s:.6g}",
        down=_arguments(down),
        up=_arguments(up),
    )
    return {"link.h": text.encode()}, notes


def _arguments(one: Direction) -> str:
    bps = round(one.mean_bps or _UNLIMITED_BPS)
    queue = f"{one.queue_packets}p" if one.queue_packets is not None else f"{one.queue_bytes}B"
    rates = ", ".join(str(max(1, round(bps))) for bps in one.rates(_STEP_S))
    return f'{bps}ULL, "{queue}", {one.loss:.6g}, {{{rates}}}'
