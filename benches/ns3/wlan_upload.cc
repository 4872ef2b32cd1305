/*
 * An upload over 802.11b (scenarios/wlan-upload.toml without losses) in ns-3. Prints one line of JSON.
 *
 *   wlan_upload --stations=5 --seconds=10 --seed=1
 *
 * Stations 1 m around an access point, behind it a wired host at 100 Mbit/s and 15 ms.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>

using namespace ns3;

namespace
{

constexpr uint32_t kMss = 1448;
constexpr uint32_t kBufferBytes = 8000000;

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
    double seconds = 10;
    CommandLine command;
    command.AddValue("stations", "number of mobiles", stations);
    command.AddValue("seed", "run number of the random streams", seed);
    command.AddValue("seconds", "simulated time", seconds);
    command.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    ConfigureTcp();

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
