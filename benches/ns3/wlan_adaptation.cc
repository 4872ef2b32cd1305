/*
 * Saturated datagrams of one station over 802.11n whose signal fades as at walking speed (Jakes), with
 * one of ns-3's rate controls. Prints one line of JSON.
 *
 *   wlan_adaptation --manager=MinstrelHt --snr=20 --seconds=20
 *
 * One stream at 20 MHz. --snr is the mean signal-to-noise ratio in dB, --doppler the greatest Doppler
 * shift in Hz: 14.3 for 0.83 m/s at 5.18 GHz. Beside it --manager=Ideal, which takes the
 * signal-to-noise ratio of the last frame that was answered, or a mode that never changes
 * (--manager=HtMcs4).
 *
 * Frames are damaged by the union bound for convolutional codes, as in airtcp. ns-3's own default
 * is another (--errors=TableBased): at 20 dB MCS 5 has twice and MCS 7 four times the goodput by it.
 *
 * Beside goodput: by MCS, how many PPDUs with data the station sent, how many of those were single
 * MPDUs (a sample, or what was left to retransmit), and how many MPDUs were in them all.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

using namespace ns3;

namespace
{

constexpr uint32_t kDatagram = 1472;
/** Thermal noise of 20 MHz at 290 K, and ns-3's noise figure of 7 dB. */
constexpr double kNoiseDbm = -93.97;
constexpr double kStart = 3;
constexpr uint32_t kModes = 8;

struct Counts
{
    uint64_t ppdus = 0;
    uint64_t single = 0;
    uint64_t mpdus = 0;
};

std::array<Counts, kModes> g_counts;

void
OnSend(WifiConstPsduMap psdus, WifiTxVector vector, double)
{
    for (const auto& [station, psdu] : psdus)
    {
        if (!psdu->GetHeader(0).IsQosData() || Simulator::Now() < Seconds(kStart))
        {
            continue;
        }
        Counts& counts = g_counts.at(vector.GetMode().GetMcsValue() % kModes);
        const auto mpdus = psdu->GetNMpdus();
        counts.ppdus += 1;
        counts.single += mpdus == 1;
        counts.mpdus += mpdus;
    }
}

void
Print(const char* name, uint64_t Counts::*of)
{
    std::printf("\"%s\": [", name);
    for (uint32_t mode = 0; mode < kModes; ++mode)
    {
        std::printf("%s%llu", mode ? ", " : "", static_cast<unsigned long long>(g_counts[mode].*of));
    }
    std::printf("], ");
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string manager = "MinstrelHt";
    std::string errors = "Nist";
    double snr = 20;
    double doppler = 14.3;
    double seconds = 20;
    uint32_t seed = 1;
    CommandLine command;
    command.AddValue("manager", "MinstrelHt, Ideal or a mode", manager);
    command.AddValue("errors", "Nist or TableBased", errors);
    command.AddValue("snr", "mean signal-to-noise ratio in dB", snr);
    command.AddValue("doppler", "greatest Doppler shift in Hz", doppler);
    command.AddValue("seconds", "measured time", seconds);
    command.AddValue("seed", "run number of the random streams", seed);
    command.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(4692480));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(1000000));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(1000000));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("500p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100)));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
    Config::SetDefault("ns3::StaWifiMac::MaxMissedBeacons", UintegerValue(1000000));
    Config::SetDefault("ns3::JakesProcess::DopplerFrequencyHz", DoubleValue(doppler));

    NodeContainer nodes;
    nodes.Create(2);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(kNoiseDbm + snr));
    channel.AddPropagationLoss("ns3::JakesPropagationLossModel");
    YansWifiPhyHelper phy;
    phy.SetErrorRateModel("ns3::" + errors + "ErrorRateModel");
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings", StringValue("{0, 20, BAND_5GHZ, 0}"));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211n);
    if (manager.rfind("HtMcs", 0) == 0)
    {
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode", StringValue(manager),
                                     "ControlMode", StringValue("OfdmRate6Mbps"));
    }
    else
    {
        wifi.SetRemoteStationManager("ns3::" + manager + "WifiManager");
    }
    WifiMacHelper mac;
    const Ssid ssid("adapting");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid),
                "BE_MaxAmpduSize", UintegerValue(65535), "BE_MaxAmsduSize", UintegerValue(0));
    NetDeviceContainer devices = wifi.Install(phy, mac, nodes.Get(0));
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid),
                "BE_MaxAmpduSize", UintegerValue(65535), "BE_MaxAmsduSize", UintegerValue(0));
    devices.Add(wifi.Install(phy, mac, nodes.Get(1)));
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    nodes.Get(1)->GetObject<MobilityModel>()->SetPosition(Vector(1, 0, 0));
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    addresses.Assign(devices);
    NeighborCacheHelper().PopulateNeighborCache();
    TrafficControlHelper().Uninstall(devices);

    const InetSocketAddress end(nodes.Get(1)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal(), 5000);
    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer sinks = sink.Install(nodes.Get(1));
    OnOffHelper steady("ns3::UdpSocketFactory", end);
    steady.SetConstantRate(DataRate("100Mbps"), kDatagram);
    steady.Install(nodes.Get(0)).Start(Seconds(kStart - 1));
    DynamicCast<WifiNetDevice>(devices.Get(0))
        ->GetPhy()
        ->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&OnSend));
    uint64_t before = 0;
    const auto received = [&] { return DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx(); };
    Simulator::Schedule(Seconds(kStart), [&] { before = received(); });
    Simulator::Stop(Seconds(kStart + seconds));
    Simulator::Run();
    std::printf("{");
    Print("ppdus", &Counts::ppdus);
    Print("single", &Counts::single);
    Print("mpdus", &Counts::mpdus);
    std::printf("\"peer\": \"ns-3.37\", \"manager\": \"%s\", \"errors\": \"%s\", "
                "\"snr_db\": %g, \"doppler_hz\": %g, \"simulated_s\": %g, \"seed\": %u, "
                "\"goodput_bps\": %.0f}\n",
                manager.c_str(), errors.c_str(), snr, doppler, seconds, seed,
                8.0 * (received() - before) / seconds);
    Simulator::Destroy();
    return 0;
}
