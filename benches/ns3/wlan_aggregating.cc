/*
 * Traffic over 802.11n, ac or ax (HE SU) in ns-3. Prints one line of JSON.
 *
 *   wlan_aggregating --standard=n --mode=HtMcs7 --width=20 --stations=5 --traffic=tcp --direction=up
 *
 * Stations 1 m around an access point, behind it a wired host at 1 Gbit/s. A-MSDU is off, so are
 * queue discs: packets wait in the MAC's queue of 500. MPDUs with data are damaged independently
 * with probability --loss; ACKs of TCP and the frames of the MAC's own never are.
 * --traffic=ping sends echo requests to the first station while all others send --background
 * (tcp or udp) in --direction.
 *
 * Every frame is received at the same power, so that none survives a collision (--capture=1: by
 * distance, as ns-3 has it; the nearer of two senders is often understood). Two frames at the same
 * power are heard as energy and not as a frame: whoever hears them waits for AIFS, not for EIFS.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-apps-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t kMss = 1448;
constexpr uint32_t kDatagram = 1472;
constexpr uint32_t kBufferBytes = 8000000;
/** Larger MPDUs carry data: not an ACK of TCP, a beacon or a ping. */
constexpr uint32_t kDataBytes = 500;
/** As at 1 m: noise damages nothing. */
constexpr double kPowerDbm = -30;

struct Settings
{
    std::string standard = "n";
    std::string mode = "HtMcs7";
    uint32_t width = 20;
    uint32_t guard = 800;
    uint32_t stations = 1;
    std::string traffic = "tcp";
    std::string background = "tcp";
    std::string direction = "down";
    bool aggregation = true;
    bool requests = false;
    bool capture = false;
    uint32_t window = 64;
    double loss = 0;
    double delayMs = 10;
    /** Most segments in flight of a flow of TCP. */
    uint32_t segments = 5000;
    /** Offered by each station, UDP alone. */
    double rateMbps = 100;
    double seconds = 10;
    double warmUp = 0;
    uint32_t seed = 1;
};

/** Damages MPDUs with data. */
class DataDamage : public ErrorModel
{
  public:
    explicit DataDamage(double probability)
        : m_probability(probability)
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        return packet->GetSize() > kDataBytes && m_draw->GetValue() < m_probability;
    }

    void DoReset() override
    {
    }

    double m_probability;
    Ptr<UniformRandomVariable> m_draw = CreateObject<UniformRandomVariable>();
};

std::vector<double> g_roundTripsMs;

void
OnRoundTrip(Time time)
{
    g_roundTripsMs.push_back(time.GetSeconds() * 1e3);
}

Settings
Parse(int argc, char* argv[])
{
    Settings own;
    CommandLine command;
    command.AddValue("standard", "n, ac or ax", own.standard);
    command.AddValue("mode", "mode of data frames", own.mode);
    command.AddValue("width", "channel width in MHz", own.width);
    command.AddValue("guard", "guard interval of ax in ns", own.guard);
    command.AddValue("stations", "number of mobiles", own.stations);
    command.AddValue("traffic", "tcp, udp or ping", own.traffic);
    command.AddValue("background", "beside ping: tcp or udp", own.background);
    command.AddValue("direction", "up or down", own.direction);
    command.AddValue("aggregation", "whether A-MPDUs are sent", own.aggregation);
    command.AddValue("requests", "whether a missed block ACK is asked for", own.requests);
    command.AddValue("capture", "whether a nearer sender's frame survives a collision", own.capture);
    command.AddValue("window", "block ACK window of ax: 64 or 256", own.window);
    command.AddValue("loss", "share of data MPDUs that are damaged", own.loss);
    command.AddValue("delay", "one-way delay of the wire in ms", own.delayMs);
    command.AddValue("segments", "most segments in flight of a flow", own.segments);
    command.AddValue("rate", "Mbit/s that a station offers by UDP", own.rateMbps);
    command.AddValue("seconds", "measured time", own.seconds);
    command.AddValue("warm-up", "time before that, in seconds", own.warmUp);
    command.AddValue("seed", "run number of the random streams", own.seed);
    command.Parse(argc, argv);
    return own;
}

void
SetDefaults(const Settings& settings)
{
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(settings.seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    // A sender can have in flight what its buffer holds.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(settings.segments * kMss));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(kBufferBytes));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(100)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
    // By default larger A-MPDUs than 65535 bytes are preceded by RTS and CTS.
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(4692480));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("500p"));
    // By default packets that have waited for half a second are dropped.
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100)));
    if (settings.aggregation)
    {
        // A block ACK does not reset the count of failures: with a limit of 7, every seventh that is
        // missed has a whole A-MPDU dropped.
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(1000000));
        Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(1000000));
    }
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck",
                       BooleanValue(settings.requests));
    Config::SetDefault("ns3::HeConfiguration::MpduBufferSize", UintegerValue(settings.window));
    Config::SetDefault("ns3::HeConfiguration::GuardInterval",
                       TimeValue(NanoSeconds(settings.guard)));
    // Few of them: airtcp has none.
    Config::SetDefault("ns3::ApWifiMac::BeaconInterval", TimeValue(MicroSeconds(1024000)));
}

/** The mobiles' devices, and the access point's behind them. */
NetDeviceContainer
InstallRadio(const Settings& settings, NodeContainer mobiles, Ptr<Node> accessPoint)
{
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    if (settings.capture)
    {
        channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel");
    }
    else
    {
        channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(kPowerDbm));
    }
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings",
            StringValue("{0, " + std::to_string(settings.width) + ", BAND_5GHZ, 0}"));
    WifiHelper wifi;
    const std::map<std::string, WifiStandard> standards{{"n", WIFI_STANDARD_80211n},
                                                        {"ac", WIFI_STANDARD_80211ac},
                                                        {"ax", WIFI_STANDARD_80211ax}};
    const std::map<std::string, uint32_t> mostBytes{{"n", 65535}, {"ac", 1048575}, {"ax", 4194303}};
    wifi.SetStandard(standards.at(settings.standard));
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(settings.mode),
                                 "ControlMode", StringValue("OfdmRate24Mbps"));
    const UintegerValue most(settings.aggregation ? mostBytes.at(settings.standard) : 0);
    WifiMacHelper mac;
    const Ssid ssid("aggregating");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid),
                "BE_MaxAmpduSize", most, "BE_MaxAmsduSize", UintegerValue(0));
    NetDeviceContainer radio = wifi.Install(phy, mac, mobiles);
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid),
                "BE_MaxAmpduSize", most, "BE_MaxAmsduSize", UintegerValue(0));
    radio.Add(wifi.Install(phy, mac, accessPoint));
    if (settings.loss > 0)
    {
        for (uint32_t i = 0; i < radio.GetN(); ++i)
        {
            DynamicCast<WifiNetDevice>(radio.Get(i))
                ->GetPhy()
                ->SetPostReceptionErrorModel(CreateObject<DataDamage>(settings.loss));
        }
    }
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < mobiles.GetN(); ++i)
    {
        const double angle = 2 * M_PI * i / mobiles.GetN();
        places->Add(Vector(std::cos(angle), std::sin(angle), 0));
    }
    places->Add(Vector(0, 0, 0));
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(mobiles);
    mobility.Install(accessPoint);
    return radio;
}

/** A flow from one host to another, of which a sink is kept. */
void
AddFlow(const Settings& settings,
        const std::string& kind,
        Ptr<Node> from,
        Ptr<Node> to,
        uint16_t port,
        double start,
        ApplicationContainer& sinks)
{
    const InetSocketAddress end(to->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal(), port);
    const std::string protocol =
        kind == "tcp" ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    PacketSinkHelper sink(protocol, InetSocketAddress(Ipv4Address::GetAny(), port));
    sinks.Add(sink.Install(to));
    ApplicationContainer source;
    if (kind == "tcp")
    {
        BulkSendHelper bulk(protocol, end);
        bulk.SetAttribute("SendSize", UintegerValue(kMss));
        source = bulk.Install(from);
    }
    else
    {
        OnOffHelper steady(protocol, end);
        steady.SetConstantRate(DataRate(static_cast<uint64_t>(settings.rateMbps * 1e6)),
                               kDatagram);
        source = steady.Install(from);
    }
    source.Start(Seconds(start));
}

uint64_t
ReceivedBytes(const ApplicationContainer& sinks)
{
    uint64_t bytes = 0;
    for (uint32_t flow = 0; flow < sinks.GetN(); ++flow)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(flow))->GetTotalRx();
    }
    return bytes;
}

} // namespace

int
main(int argc, char* argv[])
{
    const Settings settings = Parse(argc, argv);
    SetDefaults(settings);
    NodeContainer mobiles;
    mobiles.Create(settings.stations);
    NodeContainer wired;
    wired.Create(2);
    const NetDeviceContainer radio = InstallRadio(settings, mobiles, wired.Get(0));
    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    line.SetChannelAttribute("Delay", TimeValue(Seconds(settings.delayMs / 1e3)));
    line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    const NetDeviceContainer ends = line.Install(wired.Get(1), wired.Get(0));
    InternetStackHelper stack;
    stack.Install(mobiles);
    stack.Install(wired);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    addresses.Assign(radio);
    addresses.SetBase("10.2.0.0", "255.255.0.0");
    addresses.Assign(ends);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    NeighborCacheHelper().PopulateNeighborCache();
    TrafficControlHelper().Uninstall(radio);
    TrafficControlHelper().Uninstall(ends);

    // After the association, which waits for a beacon.
    constexpr double kStart = 3;
    const bool pings = settings.traffic == "ping";
    const std::string kind = pings ? settings.background : settings.traffic;
    ApplicationContainer sinks;
    for (uint32_t i = pings ? 1 : 0; i < settings.stations; ++i)
    {
        Ptr<Node> mobile = mobiles.Get(i);
        Ptr<Node> host = wired.Get(1);
        const bool up = settings.direction == "up";
        AddFlow(settings, kind, up ? mobile : host, up ? host : mobile, 5000 + i,
                kStart + 0.05 * i / settings.stations, sinks);
    }
    if (pings)
    {
        V4PingHelper ping(mobiles.Get(0)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal());
        ping.SetAttribute("Interval", TimeValue(MilliSeconds(20)));
        ping.SetAttribute("Size", UintegerValue(56));
        ApplicationContainer source = ping.Install(wired.Get(1));
        source.Get(0)->TraceConnectWithoutContext("Rtt", MakeCallback(&OnRoundTrip));
        source.Start(Seconds(kStart + settings.warmUp));
    }
    uint64_t before = 0;
    const double begins = kStart + settings.warmUp;
    Simulator::Schedule(Seconds(begins), [&] { before = ReceivedBytes(sinks); });
    Simulator::Stop(Seconds(begins + settings.seconds));
    const std::clock_t began = std::clock();
    Simulator::Run();
    const double cpu = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;

    const uint64_t all = ReceivedBytes(sinks);
    std::printf("{\"peer\": \"ns-3.37\", \"standard\": \"%s\", \"mode\": \"%s\", \"width\": %u, "
                "\"guard\": %u, \"stations\": %u, \"traffic\": \"%s\", \"background\": \"%s\", "
                "\"direction\": \"%s\", \"aggregation\": %s, \"requests\": %s, "
                "\"capture\": %s, \"window\": %u, "
                "\"loss\": %g, \"segments\": %u, \"delay_ms\": %g, \"warm_up_s\": %g, \"simulated_s\": %g, "
                "\"seed\": %u, \"delivered_packets\": %llu, \"cpu_s\": %.3f, "
                "\"goodput_bps\": %.0f",
                settings.standard.c_str(), settings.mode.c_str(), settings.width, settings.guard,
                settings.stations, settings.traffic.c_str(), pings ? kind.c_str() : "",
                settings.direction.c_str(), settings.aggregation ? "true" : "false",
                settings.requests ? "true" : "false", settings.capture ? "true" : "false",
                settings.window, settings.loss, settings.segments, settings.delayMs,
                settings.warmUp, settings.seconds, settings.seed,
                static_cast<unsigned long long>(all / (kind == "tcp" ? kMss : kDatagram)), cpu,
                8.0 * (all - before) / settings.seconds);
    if (!g_roundTripsMs.empty())
    {
        double sum = 0;
        for (double each : g_roundTripsMs)
        {
            sum += each;
        }
        std::sort(g_roundTripsMs.begin(), g_roundTripsMs.end());
        std::printf(", \"pings\": %zu, \"rtt_mean_ms\": %.4f, \"rtt_p50_ms\": %.4f",
                    g_roundTripsMs.size(), sum / g_roundTripsMs.size(),
                    g_roundTripsMs[g_roundTripsMs.size() / 2]);
    }
    std::printf("}\n");
    Simulator::Destroy();
    return 0;
}
