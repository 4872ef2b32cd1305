/*
 * The lossy pipe (scenarios/lossy-pipe.toml) in ns-3. Prints one line of JSON.
 *
 *   lossy_pipe --loss=0.01 --delack=2 --flows=1 --seed=1
 *
 * The link is 10 Mbit/s and 100 packets of queue for every flow, so that flows meet the same
 * conditions however many there are.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <cstdint>
#include <cstdio>

using namespace ns3;

namespace
{

constexpr uint32_t kMss = 1448; // with 12 bytes of timestamps, 20 TCP, 20 IPv4: 1500
constexpr uint32_t kBufferBytes = 8000000;

struct Settings
{
    double loss = 0;
    uint32_t delack = 1;
    uint32_t flows = 1;
    uint32_t seed = 1;
    double seconds = 120;
    uint64_t rate_per_flow_bps = 10000000;
    uint32_t queue_per_flow_packets = 100;
};

Settings
Read(int argc, char* argv[])
{
    Settings settings;
    CommandLine command;
    command.AddValue("loss", "probability that a data packet is lost", settings.loss);
    command.AddValue("delack", "segments for one ACK, 1 or 2", settings.delack);
    command.AddValue("flows", "number of flows", settings.flows);
    command.AddValue("seed", "run number of the random streams", settings.seed);
    command.AddValue("seconds", "simulated time", settings.seconds);
    command.Parse(argc, argv);
    return settings;
}

void
ConfigureTcp(const Settings& settings)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(kBufferBytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(kBufferBytes));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(settings.delack));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
}

/** The two ends of the pipe; losses of data only, after the queue. */
NetDeviceContainer
MakePipe(const Settings& settings, const NodeContainer& nodes)
{
    PointToPointHelper pipe;
    pipe.SetDeviceAttribute("DataRate",
                            DataRateValue(DataRate(settings.rate_per_flow_bps * settings.flows)));
    pipe.SetChannelAttribute("Delay", TimeValue(MilliSeconds(25)));
    const uint32_t queue = settings.queue_per_flow_packets * settings.flows;
    pipe.SetQueue("ns3::DropTailQueue<Packet>",
                  "MaxSize",
                  QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
    NetDeviceContainer devices = pipe.Install(nodes);
    if (settings.loss > 0)
    {
        Ptr<RateErrorModel> losses = CreateObject<RateErrorModel>();
        losses->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        losses->SetRate(settings.loss);
        losses->AssignStreams(1);
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(losses));
    }
    return devices;
}

} // namespace

int
main(int argc, char* argv[])
{
    const Settings settings = Read(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(settings.seed);
    ConfigureTcp(settings);

    NodeContainer nodes;
    nodes.Create(2);
    NetDeviceContainer devices = MakePipe(settings, nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // The device's own queue is the queue: no queue disc before it.
    TrafficControlHelper().Uninstall(devices);

    ApplicationContainer sinks;
    for (uint32_t flow = 0; flow < settings.flows; ++flow)
    {
        const uint16_t port = 5000 + flow;
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(nodes.Get(1)));
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(interfaces.GetAddress(1), port));
        source.SetAttribute("SendSize", UintegerValue(kMss));
        ApplicationContainer application = source.Install(nodes.Get(0));
        // Starts spread over one round trip.
        application.Start(Seconds(0.05 * flow / settings.flows));
    }

    Simulator::Stop(Seconds(settings.seconds));
    const auto began = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began;

    uint64_t bytes = 0;
    for (uint32_t flow = 0; flow < sinks.GetN(); ++flow)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(flow))->GetTotalRx();
    }
    std::printf("{\"peer\": \"ns-3\", \"loss\": %g, \"delack\": %u, \"flows\": %u, "
                "\"seed\": %u, \"sack\": true, \"delivered_packets\": %llu, \"wall_s\": %.6f, "
                "\"simulated_s\": %g, \"goodput_bps\": %.0f}\n",
                settings.loss,
                settings.delack,
                settings.flows,
                settings.seed,
                static_cast<unsigned long long>(bytes / kMss),
                wall.count(),
                settings.seconds,
                8.0 * bytes / settings.seconds);
    Simulator::Destroy();
    return 0;
}
