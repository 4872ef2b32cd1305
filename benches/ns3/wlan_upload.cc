/*
 * An upload over 802.11b (scenarios/wlan-upload.toml without losses) in ns-3. Prints one line of JSON.
 *
 *   wlan_upload --stations=5 --seconds=10 --seed=1
 *   wlan_upload --attempts=4 --damaged=10 --flight=1
 *
 * Stations 1 m around an access point, behind it a wired host at 100 Mbit/s and 15 ms. Of every 100
 * data frames that the access point hears, the last --damaged are lost. With --flight a loss halves
 * what is sent and not acknowledged, as RFC 6675 has it, where ns-3 halves what it takes to be in the
 * network still (docs/reference/beside.md).
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

using namespace ns3;

namespace
{

constexpr uint32_t kMss = 1448;
constexpr uint32_t kBufferBytes = 8000000;
// Smaller packets are acknowledgments and management frames.
constexpr uint32_t kLeastDataBytes = 1000;

// Damages the last data frames of every hundred.
class BlockLoss : public ErrorModel
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId type = TypeId("ns3::BlockLoss").SetParent<ErrorModel>();
        return type;
    }

    explicit BlockLoss(uint32_t damaged)
        : m_damaged(damaged)
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        return packet->GetSize() >= kLeastDataBytes && m_heard++ % 100 >= 100 - m_damaged;
    }

    void DoReset() override
    {
        m_heard = 0;
    }

    uint32_t m_damaged;
    uint32_t m_heard = 0;
};

// RFC 6675 §5, step 4.2, and RFC 5681, equation 4: half of what is sent and not cumulatively
// acknowledged, less the three segments of limited transmit.
class FlightSizeReno : public TcpNewReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId type = TypeId("ns3::FlightSizeReno")
                                 .SetParent<TcpNewReno>()
                                 .AddConstructor<FlightSizeReno>();
        return type;
    }

    std::string GetName() const override
    {
        return "FlightSizeReno";
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<FlightSizeReno>(this);
    }

    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override
    {
        const uint32_t flight = state->m_highTxMark.Get() - state->m_lastAckedSeq;
        const uint32_t limited = std::min(flight, 3 * state->m_segmentSize);
        return std::max(2 * state->m_segmentSize, (flight - limited) / 2);
    }
};

NS_OBJECT_ENSURE_REGISTERED(BlockLoss);
NS_OBJECT_ENSURE_REGISTERED(FlightSizeReno);

void
ConfigureTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(kBufferBytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(kBufferBytes));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(100)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("100p"));
}

void
PlaceAround(NodeContainer mobiles, Ptr<Node> accessPoint)
{
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < mobiles.GetN(); ++i)
    {
        const double angle = 2 * M_PI * i / mobiles.GetN();
        places->Add(Vector(std::cos(angle), std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(accessPoint);
    mobility.Install(mobiles);
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t stations = 1;
    uint32_t seed = 1;
    uint32_t attempts = 7;
    uint32_t damaged = 0;
    bool flight = false;
    double seconds = 10;
    CommandLine command;
    command.AddValue("stations", "number of mobiles", stations);
    command.AddValue("seed", "run number of the random streams", seed);
    command.AddValue("seconds", "simulated time", seconds);
    command.AddValue("attempts", "transmissions of a frame, the first included", attempts);
    command.AddValue("damaged", "data frames of every hundred that are lost", damaged);
    command.AddValue("flight", "whether a loss halves the flight size of RFC 6675", flight);
    command.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    ConfigureTcp();
    if (flight)
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                           TypeIdValue(FlightSizeReno::GetTypeId()));
    }
    // A frame no longer than the threshold of RTS counts its attempts by this limit, and not by that
    // of long frames.
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(attempts));

    NodeContainer mobiles;
    mobiles.Create(stations);
    NodeContainer wired;
    wired.Create(2);
    Ptr<Node> accessPoint = wired.Get(0);

    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("DsssRate11Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"));
    WifiMacHelper mac;
    Ssid ssid("upload");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid));
    NetDeviceContainer radio = wifi.Install(phy, mac, mobiles);
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid));
    radio.Add(wifi.Install(phy, mac, accessPoint));
    PlaceAround(mobiles, accessPoint);
    if (damaged > 0)
    {
        Ptr<WifiNetDevice> hears = DynamicCast<WifiNetDevice>(radio.Get(stations));
        hears->GetPhy()->SetPostReceptionErrorModel(CreateObject<BlockLoss>(damaged));
    }

    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    line.SetChannelAttribute("Delay", StringValue("15ms"));
    NetDeviceContainer ends = line.Install(wired);

    InternetStackHelper stack;
    stack.Install(mobiles);
    stack.Install(wired);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    addresses.Assign(radio);
    addresses.SetBase("10.2.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(ends);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    TrafficControlHelper().Uninstall(radio);

    ApplicationContainer sinks;
    for (uint32_t flow = 0; flow < stations; ++flow)
    {
        const uint16_t port = 5000 + flow;
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(wired.Get(1)));
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(interfaces.GetAddress(1), port));
        source.SetAttribute("SendSize", UintegerValue(kMss));
        ApplicationContainer application = source.Install(mobiles.Get(flow));
        // After the association.
        application.Start(Seconds(1 + 0.05 * flow / stations));
    }

    Simulator::Stop(Seconds(1 + seconds));
    const auto began = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;

    uint64_t bytes = 0;
    for (uint32_t flow = 0; flow < sinks.GetN(); ++flow)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(flow))->GetTotalRx();
    }
    std::printf("{\"peer\": \"ns-3\", \"stations\": %u, \"seed\": %u, \"delivered_packets\": %llu, "
                "\"wall_s\": %.6f, \"simulated_s\": %g, \"goodput_bps\": %.0f}\n",
                stations,
                seed,
                static_cast<unsigned long long>(bytes / kMss),
                wall.count(),
                seconds,
                8.0 * bytes / seconds);
    Simulator::Destroy();
    return 0;
}
