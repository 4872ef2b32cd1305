/*
 * Measurements of lte_cell: transport blocks and HARQ's retransmissions, and the one-way delays of
 * packets, each with a tag of the time at which it was sent.
 */
#pragma once

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/lte-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace ns3;

namespace
{

/** Longer than an ACK with options. */
constexpr uint32_t kLeastDataBytes = 90;

/** Transport blocks in the direction of the data. */
struct BlockCounts
{
    uint64_t first = 0;
    uint64_t firstFailed = 0;
    uint64_t repeated = 0;
    uint64_t repeatedFailed = 0;
};

BlockCounts g_blocks;
double g_begins = 0;

void
OnBlock(const PhyReceptionStatParameters block)
{
    if (Simulator::Now().GetSeconds() < g_begins)
    {
        return;
    }
    const bool isFirst = block.m_rv == 0;
    (isFirst ? g_blocks.first : g_blocks.repeated) += 1;
    (isFirst ? g_blocks.firstFailed : g_blocks.repeatedFailed) += block.m_correctness == 0;
}

/** The time at which the sender's network layer had a packet. */
class SentTag : public Tag
{
  public:
    static TypeId
    GetTypeId()
    {
        static TypeId id = TypeId("SentTag").SetParent<Tag>().AddConstructor<SentTag>();
        return id;
    }

    TypeId
    GetInstanceTypeId() const override
    {
        return GetTypeId();
    }

    uint32_t
    GetSerializedSize() const override
    {
        return sizeof(m_ns);
    }

    void
    Serialize(TagBuffer i) const override
    {
        i.WriteU64(m_ns);
    }

    void
    Deserialize(TagBuffer i) override
    {
        m_ns = i.ReadU64();
    }

    void
    Print(std::ostream& os) const override
    {
        os << m_ns;
    }

    uint64_t m_ns = 0;
};

std::vector<double> g_delaysMs;

void
OnSent(const Ipv4Header&, Ptr<const Packet> packet, uint32_t)
{
    SentTag tag;
    tag.m_ns = Simulator::Now().GetNanoSeconds();
    packet->AddByteTag(tag);
}

void
OnArrived(const Ipv4Header& header, Ptr<const Packet> packet, uint32_t)
{
    SentTag tag;
    if (header.GetPayloadSize() > kLeastDataBytes && packet->FindFirstMatchingByteTag(tag))
    {
        g_delaysMs.push_back((Simulator::Now().GetNanoSeconds() - tag.m_ns) / 1e6);
    }
}

void
Watch(NodeContainer senders, NodeContainer receivers, NetDeviceContainer radios)
{
    for (auto node = senders.Begin(); node != senders.End(); ++node)
    {
        (*node)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("SendOutgoing",
                                                                         MakeCallback(&OnSent));
    }
    for (auto node = receivers.Begin(); node != receivers.End(); ++node)
    {
        (*node)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "LocalDeliver", MakeCallback(&OnArrived));
    }
    for (auto device = radios.Begin(); device != radios.End(); ++device)
    {
        if (Ptr<LteUeNetDevice> user = DynamicCast<LteUeNetDevice>(*device))
        {
            user->GetPhy()->GetDlSpectrumPhy()->TraceConnectWithoutContext(
                "DlPhyReception", MakeCallback(&OnBlock));
        }
        else
        {
            DynamicCast<LteEnbNetDevice>(*device)
                ->GetPhy()
                ->GetUlSpectrumPhy()
                ->TraceConnectWithoutContext("UlPhyReception", MakeCallback(&OnBlock));
        }
    }
}

/** Prints these quantiles of a list, in milliseconds. */
void
PrintQuantiles(const char* name, std::vector<double>& list)
{
    std::sort(list.begin(), list.end());
    std::printf(", \"%s\": {", name);
    const char* before = "";
    for (const int percent : {1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99})
    {
        const auto place = static_cast<std::size_t>(percent / 100.0 * (list.size() - 1));
        std::printf("%s\"%d\": %.2f", before, percent, list[place]);
        before = ", ";
    }
    std::printf("}");
}

} // namespace
