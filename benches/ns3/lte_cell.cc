/*
 * TCP or datagrams over a cell of LTE in ns-3. Prints one line of JSON.
 *
 *   lte_cell --users=5 --blocks=100 --mode=am --traffic=tcp --direction=down
 *   lte_cell --users=1 --blocks=6 --snr=15 --fading=gains.txt
 *
 * Users 50 m around a base station, so that every block arrives: compared are transport blocks,
 * schedulers, RLC and the times of both ways, and not error models. Or, with --snr, users whose
 * resource blocks have this mean ratio of signal to noise in both directions, and with --fading a
 * gain that changes each millisecond: a line a millisecond, a column for each subband of each
 * user. Behind the gateway is a host at 1 Gbit/s.
 *
 * Settings that ns-3 would else have in a way no network has: RLC is acknowledged (am) or not (um),
 * where ns-3 saturates it; its queue has no limit, where ns-3's holds 10 240 bytes; a status goes
 * each --prohibit ms at most, since it takes a whole transmission from the data (10 ms would cost a
 * tenth of the downlink). With --snr the control channels are free of errors, as airtcp's are, and a
 * user sends with constant power.
 */
#include "lte_cell_fading.h"
#include "lte_cell_watch.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-apps-module.h"
#include "ns3/internet-module.h"
#include "ns3/lte-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t kMss = 1448;
constexpr uint32_t kDatagram = 1472;
/** A datagram of light traffic, and the µs from one to the next: no multiple of a slot, so that
 * every phase is met. */
constexpr uint32_t kProbe = 100;
constexpr uint32_t kProbeUs = 20100;
/** Loss of every path with --snr, in dB. */
constexpr double kPathLossDb = 100;
constexpr double kResourceBlockHz = 180e3;
constexpr uint32_t kBufferBytes = 8000000;
constexpr double kDistanceM = 50;
/** After the users are connected. */
constexpr double kStart = 1;

struct Settings
{
    uint32_t users = 1;
    uint32_t blocks = 100;
    std::string mode = "am";
    std::string traffic = "tcp";
    std::string direction = "down";
    std::string scheduler = "ns3::PfFfMacScheduler";
    /** Most segments in flight of a flow. */
    uint32_t segments = 600;
    /** Offered to each user, datagrams alone. */
    double rateMbps = 100;
    double prohibitMs = 100;
    /** Mean ratio of signal to noise in dB; 0 for users nearby. */
    double snrDb = 0;
    std::string fading;
    uint32_t subbands = 1;
    double delayMs = 10;
    double warmUp = 1;
    double seconds = 5;
    uint32_t seed = 1;
};

Settings
Parse(int argc, char* argv[])
{
    Settings own;
    CommandLine command;
    command.AddValue("users", "users of the cell, each with a flow", own.users);
    command.AddValue("blocks", "resource blocks: 6, 15, 25, 50, 75, 100", own.blocks);
    command.AddValue("mode", "of RLC: am or um", own.mode);
    command.AddValue("traffic", "tcp, udp, light or ping", own.traffic);
    command.AddValue("direction", "down or up", own.direction);
    command.AddValue("scheduler", "type of the MAC's scheduler", own.scheduler);
    command.AddValue("segments", "most segments in flight of a flow", own.segments);
    command.AddValue("rate", "Mbit/s offered to each user (udp)", own.rateMbps);
    command.AddValue("prohibit", "ms from one status to the next", own.prohibitMs);
    command.AddValue("snr", "mean dB of signal to noise, both directions", own.snrDb);
    command.AddValue("fading", "file of gains, a line a ms", own.fading);
    command.AddValue("subbands", "columns of that file for each user", own.subbands);
    command.AddValue("delay", "ms one way between gateway and host", own.delayMs);
    command.AddValue("warm-up", "seconds before goodput counts", own.warmUp);
    command.AddValue("seconds", "seconds in which it counts", own.seconds);
    command.AddValue("seed", "run number of the random streams", own.seed);
    command.Parse(argc, argv);
    return own;
}

void
SetDefaults(const Settings& own)
{
    RngSeedManager::SetRun(own.seed);
    const bool acknowledged = own.mode == "am";
    Config::SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping",
                       EnumValue(acknowledged ? LteEnbRrc::RLC_AM_ALWAYS
                                              : LteEnbRrc::RLC_UM_ALWAYS));
    Config::SetDefault("ns3::LteRlcAm::MaxTxBufferSize", UintegerValue(0));
    Config::SetDefault("ns3::LteRlcUm::MaxTxBufferSize", UintegerValue(kBufferBytes));
    Config::SetDefault("ns3::LteRlcAm::StatusProhibitTimer",
                       TimeValue(Seconds(own.prohibitMs / 1e3)));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    // The sender limits its window. If the receiver does, this ns-3 lets it shrink by data behind a
    // gap, and crashes in TcpRateLinux::SkbSent when it has to send no byte.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(own.segments * kMss));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(kBufferBytes));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(100)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
}

void
Place(NodeContainer users, Ptr<Node> base)
{
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < users.GetN(); ++i)
    {
        const double angle = 2 * M_PI * i / users.GetN();
        places->Add(Vector(kDistanceM * std::cos(angle), kDistanceM * std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(base);
    mobility.Install(users);
}

/** Powers by which each resource block meets its mean ratio of signal to noise. */
void
SetSignal(const Settings& own, Ptr<LteHelper> lte)
{
    const double thermalDbm = -174 + 10 * std::log10(own.blocks * kResourceBlockHz);
    const double userNoiseDb = 9;
    const double baseNoiseDb = 5;
    const double sent = own.snrDb + kPathLossDb + thermalDbm;
    lte->SetAttribute("PathlossModel", StringValue("ns3::FixedRssLossModel"));
    lte->SetPathlossModelAttribute("Rss", DoubleValue(-kPathLossDb));
    Config::SetDefault("ns3::LteEnbPhy::TxPower", DoubleValue(sent + userNoiseDb));
    Config::SetDefault("ns3::LteEnbPhy::NoiseFigure", DoubleValue(baseNoiseDb));
    Config::SetDefault("ns3::LteUePhy::TxPower", DoubleValue(sent + baseNoiseDb));
    Config::SetDefault("ns3::LteUePhy::NoiseFigure", DoubleValue(userNoiseDb));
    Config::SetDefault("ns3::LteUePhy::EnableUplinkPowerControl", BooleanValue(false));
    Config::SetDefault("ns3::LteUePhy::EnableRlfDetection", BooleanValue(false));
    Config::SetDefault("ns3::LteSpectrumPhy::CtrlErrorModelEnabled", BooleanValue(false));
    // The shortest period that is enough for five users.
    Config::SetDefault("ns3::LteEnbRrc::SrsPeriodicity", UintegerValue(10));
    if (!own.fading.empty())
    {
        RecordedFading::Read(own.fading, own.subbands, kStart);
        lte->SetFadingModel("RecordedFading");
    }
}

/** A flow from one node to another, of which a sink is kept. */
void
AddFlow(const Settings& own,
        Ptr<Node> from,
        Ptr<Node> to,
        Ipv4Address address,
        uint16_t port,
        double start,
        ApplicationContainer& sinks)
{
    const InetSocketAddress end(address, port);
    const std::string protocol =
        own.traffic == "tcp" ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), port));
    sinks.Add(sink.Install(to));
    ApplicationContainer source;
    if (own.traffic == "tcp")
    {
        BulkSendHelper bulk(protocol, end);
        bulk.SetAttribute("SendSize", UintegerValue(kMss));
        source = bulk.Install(from);
    }
    else if (own.traffic == "light")
    {
        UdpClientHelper client(address, port);
        client.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
        client.SetAttribute("Interval", TimeValue(MicroSeconds(kProbeUs)));
        client.SetAttribute("PacketSize", UintegerValue(kProbe));
        source = client.Install(from);
    }
    else
    {
        OnOffHelper steady(protocol, end);
        steady.SetConstantRate(DataRate(static_cast<uint64_t>(own.rateMbps * 1e6)), kDatagram);
        source = steady.Install(from);
    }
    source.Start(Seconds(start));
}

std::vector<uint64_t>
ReceivedBytes(const ApplicationContainer& sinks)
{
    std::vector<uint64_t> bytes;
    for (uint32_t flow = 0; flow < sinks.GetN(); ++flow)
    {
        bytes.push_back(DynamicCast<PacketSink>(sinks.Get(flow))->GetTotalRx());
    }
    return bytes;
}

std::vector<double> g_roundTripsMs;

void
OnRoundTrip(Time time)
{
    g_roundTripsMs.push_back(time.GetSeconds() * 1e3);
}

} // namespace

int
main(int argc, char* argv[])
{
    const Settings own = Parse(argc, argv);
    SetDefaults(own);
    Ptr<LteHelper> lte = CreateObject<LteHelper>();
    Ptr<PointToPointEpcHelper> core = CreateObject<PointToPointEpcHelper>();
    lte->SetEpcHelper(core);
    lte->SetSchedulerType(own.scheduler);
    if (own.snrDb != 0)
    {
        SetSignal(own, lte);
    }
    lte->SetEnbDeviceAttribute("DlBandwidth", UintegerValue(own.blocks));
    lte->SetEnbDeviceAttribute("UlBandwidth", UintegerValue(own.blocks));

    Ptr<Node> gateway = core->GetPgwNode();
    NodeContainer host(CreateObject<Node>());
    InternetStackHelper stack;
    stack.Install(host);
    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    line.SetChannelAttribute("Delay", TimeValue(Seconds(own.delayMs / 1e3)));
    line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    const NetDeviceContainer ends = line.Install(gateway, host.Get(0));
    Ipv4AddressHelper addresses("1.0.0.0", "255.0.0.0");
    const Ipv4InterfaceContainer wired = addresses.Assign(ends);
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(host.Get(0)->GetObject<Ipv4>())
        ->AddNetworkRouteTo("7.0.0.0", "255.0.0.0", 1);

    NodeContainer base(CreateObject<Node>());
    NodeContainer users;
    users.Create(own.users);
    Place(users, base.Get(0));
    const NetDeviceContainer stations = lte->InstallEnbDevice(base);
    const NetDeviceContainer mobiles = lte->InstallUeDevice(users);
    stack.Install(users);
    const Ipv4InterfaceContainer ours = core->AssignUeIpv4Address(mobiles);
    for (uint32_t i = 0; i < own.users; ++i)
    {
        routing.GetStaticRouting(users.Get(i)->GetObject<Ipv4>())
            ->SetDefaultRoute(core->GetUeDefaultGatewayAddress(), 1);
    }
    lte->Attach(mobiles, stations.Get(0));
    for (uint32_t i = 0; i < own.users; ++i)
    {
        RecordedFading::Add(users.Get(i));
    }

    ApplicationContainer sinks;
    const bool up = own.direction == "up";
    g_begins = kStart + own.warmUp;
    Watch(up ? users : host, up ? host : users, up ? stations : mobiles);
    for (uint32_t i = 0; own.traffic != "ping" && i < own.users; ++i)
    {
        Ptr<Node> user = users.Get(i);
        AddFlow(own, up ? user : host.Get(0), up ? host.Get(0) : user,
                up ? wired.GetAddress(1) : ours.GetAddress(i), 5000 + i,
                kStart + 0.05 * i / own.users, sinks);
    }
    if (own.traffic == "ping")
    {
        V4PingHelper ping(ours.GetAddress(0));
        ping.SetAttribute("Interval", TimeValue(MicroSeconds(kProbeUs)));
        ping.SetAttribute("Size", UintegerValue(56));
        ApplicationContainer source = ping.Install(host.Get(0));
        source.Get(0)->TraceConnectWithoutContext("Rtt", MakeCallback(&OnRoundTrip));
        source.Start(Seconds(g_begins));
    }
    std::vector<uint64_t> before;
    std::clock_t began = std::clock();
    Simulator::Schedule(Seconds(g_begins), [&] {
        before = ReceivedBytes(sinks);
        began = std::clock();
    });
    Simulator::Stop(Seconds(g_begins + own.seconds));
    Simulator::Run();
    const double cpu = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;

    const std::vector<uint64_t> after = ReceivedBytes(sinks);
    std::printf("{\"users\": %u, \"blocks\": %u, \"mode\": \"%s\", \"traffic\": \"%s\", "
                "\"direction\": \"%s\", \"segments\": %u, \"prohibit\": %g, \"delay\": %g, "
                "\"warm_up_s\": %g, \"simulated_s\": %g, \"seed\": %u, \"snr\": %g, "
                "\"walking\": %s, \"cpu_s\": %.2f",
                own.users, own.blocks, own.mode.c_str(), own.traffic.c_str(),
                own.direction.c_str(), own.segments, own.prohibitMs, own.delayMs, own.warmUp,
                own.seconds, own.seed, own.snrDb,
                own.fading.empty() ? "false" : "true", cpu);
    uint64_t all = 0;
    uint64_t least = UINT64_MAX;
    for (std::size_t flow = 0; flow < after.size(); ++flow)
    {
        const uint64_t bytes = after[flow] - before[flow];
        all += bytes;
        least = std::min(least, bytes);
    }
    if (!after.empty())
    {
        std::printf(", \"goodput_bps\": %.0f, \"least_bps\": %.0f", 8 * all / own.seconds,
                    8 * least / own.seconds);
    }
    if (g_blocks.first > 0)
    {
        std::printf(", \"blocks_sent\": %lu, \"blocks_failed\": %lu, \"blocks_repeated\": %lu, "
                    "\"repeated_failed\": %lu",
                    g_blocks.first, g_blocks.firstFailed, g_blocks.repeated,
                    g_blocks.repeatedFailed);
    }
    if (!g_delaysMs.empty() && own.traffic != "ping")
    {
        std::printf(", \"packets\": %zu", g_delaysMs.size());
        PrintQuantiles("delay_ms", g_delaysMs);
    }
    if (!g_roundTripsMs.empty())
    {
        std::printf(", \"pings\": %zu", g_roundTripsMs.size());
        PrintQuantiles("rtt_ms", g_roundTripsMs);
    }
    std::printf("}\n");
    Simulator::Destroy();
    return 0;
}
