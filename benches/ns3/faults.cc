/*
 * Captures of ns-3's TCP with one fault each, for the diagnosis. Prints one line of JSON.
 *
 *   faults --fault=send-buffer --bytes=65536 --out=out/buffer
 *   faults --fault=scans --every=6 --length=1.2 --out=out/scans
 *
 * Writes OUT-n0-i1.pcap: IP packets at the sender, who opened the connection, or with --download
 * accepted it. Faults of the ends and the path are over a link of its own rate, delay and queue,
 * those of the radio over 802.11g with an access point and a wired server after it:
 *
 *   send-buffer, receive-window   a buffer of --bytes
 *   small-writes                  messages of --writes, each after the answer to the one before
 *   mtu-hole                      after a request, packets of IP longer than --bytes are lost
 *   peer-gone                     from --after on, nothing arrives anywhere
 *   scans                         every --every, the station's receiver is off for --length
 *   busy-channel                  neighbours in range send voice, which goes first, in bursts
 *   hidden-neighbours             neighbours out of the station's range send to its access point
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cstdint>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t kMss = 1448;
constexpr uint32_t kBufferBytes = 8000000;
constexpr uint16_t kPort = 5001;
constexpr uint32_t kRequest = 300;
constexpr uint32_t kAnswer = 120;
constexpr uint32_t kPppHeader = 2;
constexpr double kStart = 1; // after the association of a station
constexpr double kRange = 60;
const Time kBetweenWrites = MicroSeconds(50);
const Time kTick = MicroSeconds(2);
const Time kInTheGap = MicroSeconds(18);
const std::set<std::string> kOfTheRadio{"scans", "busy-channel", "hidden-neighbours"};

struct Settings
{
    std::string fault = "send-buffer";
    std::string out = "capture";
    std::string control = "ns3::TcpCubic";
    std::string writes = "40,200";
    bool download = false;
    double rate_mbps = 10;
    double delay_ms = 25;
    uint32_t queue = 100;
    uint32_t bytes = 65536;
    double delack_ms = 40;
    double seconds = 12;
    double after = 5;
    double every = 6;
    double length = 1.2;
    uint32_t neighbours = 2;
    uint32_t seed = 1;
};

Settings
Read(int argc, char* argv[])
{
    Settings settings;
    CommandLine command;
    command.AddValue("fault", "see above", settings.fault);
    command.AddValue("out", "the beginning of the capture's name", settings.out);
    command.AddValue("control", "ns-3's type of a congestion control", settings.control);
    command.AddValue("writes", "bytes of the writes of a message", settings.writes);
    command.AddValue("download", "the sender accepts the connection", settings.download);
    command.AddValue("rate", "of the link, in Mbit/s", settings.rate_mbps);
    command.AddValue("delay", "of the link one way, in ms", settings.delay_ms);
    command.AddValue("queue", "of the link, in packets", settings.queue);
    command.AddValue("bytes", "of the buffer, or of the longest packet", settings.bytes);
    command.AddValue("delack", "the longest wait of an acknowledgment, in ms", settings.delack_ms);
    command.AddValue("seconds", "for which data is sent", settings.seconds);
    command.AddValue("after", "seconds after which the peer is gone", settings.after);
    command.AddValue("every", "seconds from one scan, or burst, to the next", settings.every);
    command.AddValue("length", "of a scan, or a burst, in seconds", settings.length);
    command.AddValue("neighbours", "number of them", settings.neighbours);
    command.AddValue("seed", "run number of the random streams", settings.seed);
    command.Parse(argc, argv);
    return settings;
}

/** Loses packets that are longer than allowed, and counts them. */
class LongerLost : public ErrorModel
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId type = TypeId("ns3::LongerLost").SetParent<ErrorModel>();
        return type;
    }

    explicit LongerLost(uint32_t longest)
        : m_longest(longest)
    {
    }

    uint32_t lost = 0;

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        const bool is_lost = packet->GetSize() > m_longest;
        lost += is_lost;
        return is_lost;
    }

    void DoReset() override
    {
        lost = 0;
    }

    uint32_t m_longest;
};

NS_OBJECT_ENSURE_REGISTERED(LongerLost);

/** One end: sends bulk data, or messages and their answers. */
class End
{
  public:
    explicit End(const Settings& settings)
        : m_settings(settings)
    {
        std::stringstream listed(settings.writes);
        for (std::string one; std::getline(listed, one, ',');)
        {
            m_writes.push_back(std::stoul(one));
        }
    }

    void Connected(Ptr<Socket> socket, bool is_sender)
    {
        socket->SetRecvCallback(MakeCallback(&End::Arrived, this));
        m_is_sender = is_sender;
        m_until = Simulator::Now() + Seconds(m_settings.seconds);
        if (!is_sender)
        {
            return;
        }
        if (m_settings.fault == "small-writes")
        {
            Ask(socket);
        }
        else if (m_settings.fault == "mtu-hole")
        {
            socket->Send(Create<Packet>(kRequest));
        }
        else
        {
            Fill(socket, socket->GetTxAvailable());
        }
    }

    uint64_t received = 0;

  private:
    void Ask(Ptr<Socket> socket)
    {
        // Writes at one time would leave together.
        for (uint32_t number = 0; number < m_writes.size(); ++number)
        {
            Simulator::Schedule(number * kBetweenWrites, [socket, length = m_writes[number]] {
                socket->Send(Create<Packet>(length));
            });
        }
    }

    void Fill(Ptr<Socket> socket, uint32_t)
    {
        socket->SetSendCallback(MakeCallback(&End::Fill, this));
        while (Simulator::Now() < m_until && socket->GetTxAvailable() > 0)
        {
            const uint32_t length = std::min<uint32_t>(kMss, socket->GetTxAvailable());
            if (socket->Send(Create<Packet>(length)) <= 0)
            {
                return;
            }
        }
    }

    void Arrived(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->Recv())
        {
            received += packet->GetSize();
            m_unanswered += packet->GetSize();
        }
        const bool is_message = m_settings.fault == "small-writes";
        uint32_t whole = is_message ? 0 : kRequest;
        for (uint32_t length : is_message ? m_writes : std::vector<uint32_t>{})
        {
            whole += length;
        }
        if (m_is_sender)
        {
            m_unanswered = 0;
            if (is_message && Simulator::Now() < m_until)
            {
                Ask(socket);
            }
            else if (m_settings.fault == "mtu-hole")
            {
                Fill(socket, 0);
            }
        }
        else if (m_unanswered >= whole && (is_message || received == whole))
        {
            m_unanswered = 0;
            if (is_message || m_settings.fault == "mtu-hole")
            {
                socket->Send(Create<Packet>(kAnswer));
            }
        }
    }

    const Settings& m_settings;
    std::vector<uint32_t> m_writes;
    bool m_is_sender = false;
    uint64_t m_unanswered = 0;
    Time m_until;
};

void
ConfigureTcp(const Settings& settings)
{
    const bool is_buffer = settings.fault == "send-buffer";
    const bool is_window = settings.fault == "receive-window";
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(settings.control));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize",
                       UintegerValue(is_buffer ? settings.bytes : kBufferBytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize",
                       UintegerValue(is_window ? settings.bytes : kBufferBytes));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout",
                       TimeValue(MicroSeconds(1000 * settings.delack_ms)));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay",
                       BooleanValue(settings.fault != "small-writes"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
}

/** A link between the sender and its peer. */
Ipv4Address
ConnectByLink(const Settings& settings, const NodeContainer& ends, Ptr<LongerLost> longer)
{
    PointToPointHelper pipe;
    pipe.SetDeviceAttribute(
        "DataRate",
        DataRateValue(DataRate(static_cast<uint64_t>(1e6 * settings.rate_mbps))));
    pipe.SetChannelAttribute("Delay", TimeValue(MicroSeconds(1000 * settings.delay_ms)));
    pipe.SetQueue("ns3::DropTailQueue<Packet>",
                  "MaxSize",
                  QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, settings.queue)));
    NetDeviceContainer devices = pipe.Install(ends);
    if (longer)
    {
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(longer));
    }
    if (settings.fault == "peer-gone")
    {
        for (uint32_t place : {0, 1})
        {
            Ptr<NetDevice> device = devices.Get(place);
            Simulator::Schedule(Seconds(kStart + settings.after), [device] {
                device->SetAttribute("ReceiveErrorModel", PointerValue(Create<LongerLost>(0)));
            });
        }
    }
    InternetStackHelper().Install(ends);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    return interfaces.GetAddress(settings.download ? 0 : 1);
}

/**
 * The station's radio is asleep for some time, as while it listens to other channels. It begins in
 * the gap between an exchange and the next, longer than SIFS and shorter than DIFS: ns-3 cannot
 * sleep while a frame comes, or an answer is due.
 */
void
Sleep(Ptr<WifiPhy> phy, Time length, Time idle)
{
    if (idle == kInTheGap)
    {
        phy->SetSleepMode();
        Simulator::Schedule(length, [phy] { phy->ResumeFromSleep(); });
        return;
    }
    const bool is_idle = phy->IsStateIdle();
    // A channel that was idle from the beginning is watched until it has been busy.
    const Time then = is_idle ? (idle.IsStrictlyNegative() ? idle : idle + kTick) : Seconds(0);
    Simulator::Schedule(kTick, [=] { Sleep(phy, length, then); });
}

/** A scan after each time, for ever. */
void
Scan(Ptr<WifiPhy> phy, const Settings& settings)
{
    Sleep(phy, Seconds(settings.length), MicroSeconds(-1));
    Simulator::Schedule(Seconds(settings.every), [phy, &settings] { Scan(phy, settings); });
}

/** Positions: the access point in the middle, neighbours with the station or away from it. */
void
Place(const Settings& settings, const NodeContainer& radios)
{
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    const bool is_hidden = settings.fault == "hidden-neighbours";
    const double away = is_hidden ? 0.9 * kRange : 2;
    places->Add(Vector(0, 0, 0));
    places->Add(Vector(away, 0, 0));
    for (uint32_t number = 0; number < settings.neighbours; ++number)
    {
        places->Add(Vector(is_hidden ? 2 * away : away, 1 + number, 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(radios);
}

/** Datagrams of a neighbour, in bursts that begin and end at random. */
void
Burst(const Settings& settings, Ptr<Node> neighbour, Ipv4Address to, uint16_t port)
{
    InetSocketAddress sink(to, port);
    // Expedited forwarding: the access category of voice.
    sink.SetTos(0xb8);
    OnOffHelper source("ns3::UdpSocketFactory", sink);
    std::ostringstream on, off;
    on << "ns3::ExponentialRandomVariable[Mean=" << settings.length << "]";
    off << "ns3::ExponentialRandomVariable[Mean=" << settings.every - settings.length << "]";
    source.SetAttribute("OnTime", StringValue(on.str()));
    source.SetAttribute("OffTime", StringValue(off.str()));
    source.SetAttribute("DataRate", StringValue("40Mbps"));
    source.SetAttribute("PacketSize", UintegerValue(1472));
    source.Install(neighbour).Start(Seconds(kStart));
}

/** A station, its access point, and a server over a wire; and the neighbours of the station. */
Ipv4Address
ConnectByRadio(const Settings& settings, const NodeContainer& ends)
{
    NodeContainer middle, neighbours;
    middle.Create(1);
    neighbours.Create(settings.fault == "scans" ? 0 : settings.neighbours);
    NodeContainer stations(ends.Get(0));
    stations.Add(neighbours);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::RangePropagationLossModel",
                               "MaxRange",
                               DoubleValue(kRange));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211g);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("ErpOfdmRate54Mbps"),
                                 "ControlMode", StringValue("ErpOfdmRate24Mbps"));
    WifiMacHelper mac;
    const Ssid ssid("faults");
    mac.SetType("ns3::StaWifiMac",
                "Ssid", SsidValue(ssid),
                "QosSupported", BooleanValue(true),
                "MaxMissedBeacons", UintegerValue(10000));
    NetDeviceContainer radio = wifi.Install(phy, mac, stations);
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid), "QosSupported", BooleanValue(true));
    radio.Add(wifi.Install(phy, mac, middle));
    NodeContainer placed(ends.Get(0));
    placed.Add(middle);
    placed.Add(neighbours);
    Place(settings, placed);

    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    line.SetChannelAttribute("Delay", TimeValue(MicroSeconds(1000 * settings.delay_ms)));
    NetDeviceContainer wired = line.Install(middle.Get(0), ends.Get(1));

    InternetStackHelper stack;
    stack.Install(stations);
    stack.Install(middle);
    stack.Install(ends.Get(1));
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    Ipv4InterfaceContainer local = addresses.Assign(radio);
    addresses.SetBase("10.2.0.0", "255.255.0.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(wired);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    // The radio's own queue is the only one.
    TrafficControlHelper().Uninstall(radio);

    for (uint32_t number = 0; number < neighbours.GetN(); ++number)
    {
        const uint16_t port = 6000 + number;
        PacketSinkHelper sink("ns3::UdpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(middle.Get(0));
        Burst(settings, neighbours.Get(number), local.GetAddress(stations.GetN()), port);
    }
    if (settings.fault == "scans")
    {
        Ptr<WifiPhy> scans = DynamicCast<WifiNetDevice>(radio.Get(0))->GetPhy();
        Simulator::Schedule(Seconds(kStart + settings.every / 2),
                            [scans, &settings] { Scan(scans, settings); });
    }
    return settings.download ? local.GetAddress(0) : interfaces.GetAddress(1);
}

} // namespace

int
main(int argc, char* argv[])
{
    const Settings settings = Read(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(settings.seed);
    ConfigureTcp(settings);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize",
                       QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, settings.queue)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(20)));

    NodeContainer ends;
    ends.Create(2);
    Ptr<LongerLost> longer;
    if (settings.fault == "mtu-hole")
    {
        longer = Create<LongerLost>(settings.bytes + kPppHeader);
    }
    const Ipv4Address listens = kOfTheRadio.count(settings.fault)
                                    ? ConnectByRadio(settings, ends)
                                    : ConnectByLink(settings, ends, longer);
    InternetStackHelper().EnablePcapIpv4(settings.out, NodeContainer(ends.Get(0)));

    // The sender is node 0; it opens the connection, or accepts it.
    End sender(settings), receiver(settings);
    Ptr<Node> client = ends.Get(settings.download ? 1 : 0);
    Ptr<Node> server = ends.Get(settings.download ? 0 : 1);
    Ptr<Socket> listening = Socket::CreateSocket(server, TcpSocketFactory::GetTypeId());
    listening->Bind(InetSocketAddress(Ipv4Address::GetAny(), kPort));
    listening->Listen();
    listening->SetAcceptCallback(
        MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
        Callback<void, Ptr<Socket>, const Address&>([&](Ptr<Socket> socket, const Address&) {
            (settings.download ? sender : receiver).Connected(socket, settings.download);
        }));
    Ptr<Socket> connecting = Socket::CreateSocket(client, TcpSocketFactory::GetTypeId());
    connecting->SetConnectCallback(Callback<void, Ptr<Socket>>([&](Ptr<Socket> socket) {
                                       (settings.download ? receiver : sender)
                                           .Connected(socket, !settings.download);
                                   }),
                                   MakeNullCallback<void, Ptr<Socket>>());
    Simulator::Schedule(Seconds(kStart),
                        [&] { connecting->Connect(InetSocketAddress(listens, kPort)); });

    Simulator::Stop(Seconds(kStart + settings.seconds + 10));
    Simulator::Run();
    std::printf("{\"peer\": \"ns-3\", \"fault\": \"%s\", \"received_bytes\": %llu, "
                "\"longer_lost\": %u}\n",
                settings.fault.c_str(),
                static_cast<unsigned long long>(receiver.received),
                longer ? longer->lost : 0);
    Simulator::Destroy();
    return 0;
}
