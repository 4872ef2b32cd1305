/*
 * Queue disciplines of ns-3 before a link of 10 Mbit/s. Prints one line of JSON.
 *
 *   disciplines --discipline=codel --traffic=udp --rate=12 --seed=1
 *
 * With udp a source sends datagrams at an even rate above the link's, and a sparse one a small
 * datagram every 100 ms: what is dropped depends on the discipline alone. With tcp one bulk transfer
 * (NewReno, SACK) takes the place of the first. The link keeps one packet beside the discipline, as
 * a device does that is just sending it.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t kDatagram = 1472; // with 8 bytes of UDP and 20 of IPv4: 1500
constexpr uint32_t kSparse = 172;    // as a call's: 200 bytes
constexpr uint32_t kMss = 1448;
constexpr double kSparseStart = 2;
const char* const kQueue = "10000p";

struct Settings
{
    std::string discipline = "codel";
    std::string traffic = "udp";
    double rate_mbps = 12;
    double delay_ms = 10;
    double seconds = 30;
    uint32_t seed = 1;
};

/** The types of ns-3 and their attributes: those of the RFCs, and a queue that never overflows. */
void
Put(const Settings& settings, TrafficControlHelper& control)
{
    if (settings.discipline == "codel")
    {
        control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue(kQueue));
    }
    else if (settings.discipline == "fq-codel")
    {
        // A turn of a largest packet of this device, as Linux has its MTU with its header.
        control.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", StringValue(kQueue));
    }
    else if (settings.discipline == "pie")
    {
        control.SetRootQueueDisc("ns3::PieQueueDisc",
                                 "MaxSize",
                                 StringValue(kQueue),
                                 "MeanPktSize",
                                 UintegerValue(1500),
                                 "UseDequeueRateEstimator",
                                 BooleanValue(false),
                                 "UseCapDropAdjustment",
                                 BooleanValue(true));
    }
    else if (settings.discipline == "cobalt")
    {
        // Linux has BLUE drop only after a queue has overflowed, and not after 400 ms of waiting.
        control.SetRootQueueDisc("ns3::CobaltQueueDisc",
                                 "MaxSize",
                                 StringValue(kQueue),
                                 "BlueThreshold",
                                 TimeValue(Seconds(1000)));
    }
    else
    {
        NS_FATAL_ERROR("discipline: expected codel, fq-codel, pie or cobalt");
    }
}

/** Times in the discipline: of packets as large as they come, and of the sparse source's. */
struct Waits
{
    std::map<uint64_t, Time> since;
    std::vector<double> large_ms;
    std::vector<double> sparse_ms;

    void Entered(Ptr<const QueueDiscItem> item)
    {
        since[item->GetPacket()->GetUid()] = Simulator::Now();
    }

    void Left(Ptr<const QueueDiscItem> item)
    {
        const auto found = since.find(item->GetPacket()->GetUid());
        if (found == since.end())
        {
            return;
        }
        const double waited_ms = (Simulator::Now() - found->second).GetSeconds() * 1e3;
        (item->GetSize() < 1000 ? sparse_ms : large_ms).push_back(waited_ms);
        since.erase(found);
    }
};

double
Mean(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) /
           std::max<size_t>(values.size(), 1);
}

/** By nearest rank. */
double
Median(std::vector<double> values)
{
    if (values.empty())
    {
        return 0;
    }
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) / 2];
}

Settings
Read(int argc, char* argv[])
{
    Settings settings;
    CommandLine command;
    command.AddValue("discipline", "codel, fq-codel, pie or cobalt", settings.discipline);
    command.AddValue("traffic", "udp or tcp", settings.traffic);
    command.AddValue("rate", "of the datagrams, in Mbit/s with IP headers", settings.rate_mbps);
    command.AddValue("delay", "of the link one way, in ms", settings.delay_ms);
    command.AddValue("seconds", "simulated time", settings.seconds);
    command.AddValue("seed", "run number of the random streams", settings.seed);
    command.Parse(argc, argv);
    return settings;
}

void
ConfigureTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8000000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
}

void
SendDatagrams(Ptr<Node> from, Ipv4Address to, uint16_t port, uint32_t bytes, double bps, double at)
{
    OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(to, port));
    source.SetConstantRate(DataRate(static_cast<uint64_t>(bps)), bytes);
    source.Install(from).Start(Seconds(at));
}

} // namespace

int
main(int argc, char* argv[])
{
    const Settings settings = Read(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(settings.seed);
    ConfigureTcp();

    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper pipe;
    // The link's own header of two bytes is sent as well: 1502 bytes at this rate take as long as
    // 1500 at 10 Mbit/s.
    pipe.SetDeviceAttribute("DataRate", DataRateValue(DataRate(10013333)));
    pipe.SetChannelAttribute("Delay", TimeValue(MicroSeconds(1000 * settings.delay_ms)));
    pipe.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    NetDeviceContainer devices = pipe.Install(nodes);
    InternetStackHelper().Install(nodes);
    TrafficControlHelper control;
    Put(settings, control);
    QueueDiscContainer disciplines = control.Install(devices.Get(0));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    const Ipv4Address to = interfaces.GetAddress(1);

    Waits waits;
    Ptr<QueueDisc> discipline = disciplines.Get(0);
    discipline->TraceConnectWithoutContext("Enqueue", MakeCallback(&Waits::Entered, &waits));
    discipline->TraceConnectWithoutContext("Dequeue", MakeCallback(&Waits::Left, &waits));

    const bool is_tcp = settings.traffic == "tcp";
    const std::string factory = is_tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer sinks = sink.Install(nodes.Get(1));
    PacketSinkHelper sparse("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001));
    sparse.Install(nodes.Get(1));
    if (is_tcp)
    {
        BulkSendHelper source(factory, InetSocketAddress(to, 5000));
        source.SetAttribute("SendSize", UintegerValue(kMss));
        source.Install(nodes.Get(0)).Start(Seconds(0));
    }
    else
    {
        // The rate of the application's bytes, so that 1500 come at the rate asked for.
        const double bps = settings.rate_mbps * 1e6 * kDatagram / 1500;
        SendDatagrams(nodes.Get(0), to, 5000, kDatagram, bps, 0);
    }
    SendDatagrams(nodes.Get(0), to, 5001, kSparse, 8 * kSparse / 0.1, kSparseStart);

    Simulator::Stop(Seconds(settings.seconds));
    Simulator::Run();

    const QueueDisc::Stats& stats = discipline->GetStats();
    const uint64_t bytes = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    std::printf("{\"peer\": \"ns-3\", \"discipline\": \"%s\", \"traffic\": \"%s\", "
                "\"rate_mbps\": %g, \"delay_ms\": %g, \"simulated_s\": %g, \"seed\": %u, "
                "\"dropped\": %u, \"wait_ms\": %.4f, \"wait_p50_ms\": %.4f, "
                "\"sparse_wait_p50_ms\": %.4f, "
                "\"goodput_bps\": %.0f}\n",
                settings.discipline.c_str(),
                settings.traffic.c_str(),
                is_tcp ? 0 : settings.rate_mbps,
                settings.delay_ms,
                settings.seconds,
                settings.seed,
                stats.nTotalDroppedPackets,
                Mean(waits.large_ms),
                Median(waits.large_ms),
                Median(waits.sparse_ms),
                8.0 * bytes / settings.seconds);
    Simulator::Destroy();
    return 0;
}
