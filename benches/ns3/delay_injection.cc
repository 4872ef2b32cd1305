/*
 * Delay injection (Fotiadis & Siris, COST 290 TD(05)049) over the 802.11b of ns-3, by a program that
 * shares nothing with airtcp. Prints one line of JSON.
 *
 *   delay_injection --retry=4 --damaged=10 --delay=20 --window=20 --queue=50 --seconds=60 --seed=1
 *   delay_injection --retry=1000 --inject=1 …
 *
 * A mobile uploads to a wired host through an access point. Of every 100 data frames that reach the
 * access point the last `damaged` are lost. TCP is written here and not taken from ns-3, whose
 * NewReno allows a fast retransmit as soon as an acknowledgment reaches the recovery point, takes no
 * round trip from segments that were retransmitted, and echoes an old timestamp in duplicates: each
 * alone turns the sign of what this program measures. Here: NewReno (RFC 6582) with the retransmission
 * timer and the go-back-N of ns-2, one sample an acknowledgment by timestamps.
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
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <limits>
#include <set>

using namespace ns3;

namespace
{

constexpr uint16_t kPort = 5000;
/// TCP's header with timestamps is 32 bytes; UDP's takes 8 of them.
constexpr uint32_t kHeaderBytes = 24;
/// Frames longer than this carry data: an acknowledgment's takes 88 bytes.
constexpr uint32_t kDataFrameBytes = 300;

/// What a segment or an acknowledgment says.
struct Fields
{
    uint64_t number; ///< The segment's, or that of the next one expected.
    double sentAt;   ///< When it left, in seconds.
    double echo;     ///< `sentAt` of what an acknowledgment answers.
};

static_assert(sizeof(Fields) == kHeaderBytes, "the fields fill the header");

Ptr<Packet>
Write(const Fields& fields, uint32_t payload)
{
    Ptr<Packet> packet = Create<Packet>(reinterpret_cast<const uint8_t*>(&fields), sizeof fields);
    packet->AddPaddingAtEnd(payload);
    return packet;
}

Fields
Read(Ptr<const Packet> packet)
{
    Fields fields{};
    packet->CopyData(reinterpret_cast<uint8_t*>(&fields), sizeof fields);
    return fields;
}

double
Now()
{
    return Simulator::Now().GetSeconds();
}

/// The send side, in whole segments.
class Sender
{
  public:
    Sender(Ptr<Socket> socket, Address to, uint32_t mss, double window, double threshold, double floor)
        : m_socket(socket),
          m_to(to),
          m_mss(mss),
          m_limit(window),
          m_threshold(threshold),
          m_floor(floor)
    {
    }

    void Start()
    {
        SendWhatFits();
    }

    void OnAcknowledgment(const Fields& ack)
    {
        Sample(Now() - ack.echo);
        if (ack.number > m_una)
        {
            OnProgress(ack.number);
        }
        else if (m_next > m_una)
        {
            OnDuplicate();
        }
        SendWhatFits();
    }

    uint64_t Timeouts() const
    {
        return m_timeouts;
    }

  private:
    void OnProgress(uint64_t number)
    {
        const uint64_t before = m_una;
        m_una = number;
        m_next = std::max(m_next, m_una);
        m_backoff = 1;
        if (!m_recovering)
        {
            m_duplicates = 0;
            m_window += m_window < m_threshold ? 1 : 1 / m_window;
        }
        else if (m_una > m_recover)
        {
            m_recovering = false;
            m_duplicates = 0;
            m_window = m_threshold;
        }
        else
        {
            // A partial acknowledgment (RFC 6582 §3.2, step 3).
            m_window = std::max(1.0, m_window - (m_una - before) + 1);
            Send(m_una);
        }
        Arm();
    }

    void OnDuplicate()
    {
        ++m_duplicates;
        if (m_recovering)
        {
            m_window += 1;
        }
        else if (m_duplicates == 3 && m_una > m_recover)
        {
            m_recovering = true;
            m_recover = m_highest;
            m_threshold = std::max(2.0, std::min(m_window, m_limit) / 2);
            m_window = m_threshold + 3;
            Send(m_una);
            Arm();
        }
    }

    void OnTimeout()
    {
        ++m_timeouts;
        m_threshold = std::max(2.0, std::min(m_window, m_limit) / 2);
        m_window = 1;
        m_recovering = false;
        m_duplicates = 0;
        m_recover = m_highest;
        m_backoff = std::min(64, m_backoff * 2);
        m_next = m_una;
        Arm();
        SendWhatFits();
    }

    void SendWhatFits()
    {
        while (m_next < m_una + static_cast<uint64_t>(std::min(m_window, m_limit)))
        {
            Send(m_next++);
        }
    }

    void Send(uint64_t number)
    {
        m_highest = std::max(m_highest, number);
        m_socket->SendTo(Write({number, Now(), 0}, m_mss), 0, m_to);
        if (!m_timer.IsRunning())
        {
            Arm();
        }
    }

    /// RFC 6298 on a clock of 10 ms, as ns-2 has it.
    void Sample(double rtt)
    {
        const double ticks = std::max(1.0, std::floor(rtt / 0.01) + 1) * 0.01;
        if (m_srtt == 0)
        {
            m_srtt = ticks;
            m_deviation = ticks / 2;
        }
        else
        {
            m_deviation += (std::abs(ticks - m_srtt) - m_deviation) / 4;
            m_srtt += (ticks - m_srtt) / 8;
        }
        m_rto = std::max(m_floor, m_srtt + 4 * m_deviation);
    }

    void Arm()
    {
        m_timer.Cancel();
        if (m_highest >= m_una)
        {
            m_timer = Simulator::Schedule(Seconds(std::min(64.0, m_rto * m_backoff)),
                                          &Sender::OnTimeout,
                                          this);
        }
    }

    Ptr<Socket> m_socket;
    Address m_to;
    uint32_t m_mss;
    double m_limit;
    double m_threshold;
    double m_floor;
    double m_window = 2;
    uint64_t m_una = 1;
    uint64_t m_next = 1;
    uint64_t m_highest = 0;
    uint64_t m_recover = 0;
    uint32_t m_duplicates = 0;
    bool m_recovering = false;
    double m_srtt = 0;
    double m_deviation = 0;
    double m_rto = 3;
    int m_backoff = 1;
    uint64_t m_timeouts = 0;
    EventId m_timer;
};

/// The receive side: an acknowledgment for every segment, with the timestamp of what it answers.
class Receiver
{
  public:
    Fields OnSegment(const Fields& segment)
    {
        if (segment.number >= m_expected)
        {
            m_waiting.insert(segment.number);
        }
        while (m_waiting.erase(m_expected))
        {
            ++m_expected;
        }
        return {m_expected, Now(), segment.sentAt};
    }

    uint64_t Delivered() const
    {
        return m_expected - 1;
    }

  private:
    uint64_t m_expected = 1;
    std::set<uint64_t> m_waiting;
};

/// Algorithm 1 of the paper, at the access point. `factor` is its delay_factor.
class Injector
{
  public:
    Injector(bool on, double factor, std::function<void(Ptr<Packet>)> forward)
        : m_on(on),
          m_factor(factor),
          m_forward(std::move(forward))
    {
    }

    void OnAcknowledgment(Ptr<Packet> packet)
    {
        if (!m_on)
        {
            m_forward(packet);
            return;
        }
        const double delay = Now() - Read(packet).echo;
        ++m_sinceSpike;
        const bool spike = m_known && delay > m_smoothed + 4 * m_deviation;
        if (spike)
        {
            m_inject = (delay - m_smoothed) / m_factor;
            m_step = m_inject / (5 * std::max<uint64_t>(1, m_sinceSpike));
            m_sinceSpike = 0;
        }
        Update(delay);
        if (!m_held.empty())
        {
            m_held.push_back(packet);
        }
        else if (!spike && m_inject > 0)
        {
            m_held.push_back(packet);
            Simulator::Schedule(Seconds(m_inject), &Injector::Release, this);
        }
        else
        {
            m_forward(packet);
        }
        if (!spike)
        {
            m_inject = std::max(0.0, m_inject - m_step);
        }
    }

  private:
    void Release()
    {
        while (!m_held.empty())
        {
            m_forward(m_held.front());
            m_held.pop_front();
        }
    }

    /// Equations 1 to 3: the deviation is taken from the updated mean.
    void Update(double delay)
    {
        if (!m_known)
        {
            m_known = true;
            m_smoothed = delay;
            m_deviation = delay / 2;
            return;
        }
        m_smoothed += (delay - m_smoothed) / 8;
        m_deviation += (std::abs(delay - m_smoothed) - m_deviation) / 4;
    }

    bool m_on;
    double m_factor;
    std::function<void(Ptr<Packet>)> m_forward;
    bool m_known = false;
    double m_smoothed = 0;
    double m_deviation = 0;
    double m_inject = 0;
    double m_step = 0;
    uint64_t m_sinceSpike = 0;
    std::deque<Ptr<Packet>> m_held;
};

/// Of every 100 data frames heard the last ones are lost.
class LastOfHundred : public ErrorModel
{
  public:
    explicit LastOfHundred(uint32_t damaged)
        : m_damaged(damaged)
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        if (packet->GetSize() < kDataFrameBytes)
        {
            return false;
        }
        return m_heard++ % 100 >= 100 - m_damaged;
    }

    void DoReset() override
    {
        m_heard = 0;
    }

    uint32_t m_damaged;
    uint64_t m_heard = 0;
};

void
PlaceApart(NodeContainer nodes)
{
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    places->Add(Vector(1, 0, 0));
    MobilityHelper mobility;
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t retry = 4;
    uint32_t damaged = 10;
    uint32_t queue = 50;
    uint32_t mss = 1000;
    uint32_t seed = 1;
    double delay = 20;
    double window = 20;
    double threshold = 20;
    double floor = 200;
    double factor = 1.5;
    double seconds = 60;
    bool inject = false;
    CommandLine command;
    command.AddValue("retry", "attempts of a frame in all", retry);
    command.AddValue("damaged", "data frames of 100 that are lost", damaged);
    command.AddValue("queue", "packets that wait at the mobile", queue);
    command.AddValue("mss", "payload of a segment in bytes", mss);
    command.AddValue("delay", "one way of the wired path in milliseconds", delay);
    command.AddValue("window", "largest window in segments", window);
    command.AddValue("threshold", "slow-start threshold at the start in segments", threshold);
    command.AddValue("floor", "least retransmission timeout in milliseconds", floor);
    command.AddValue("inject", "whether the access point holds acknowledgments", inject);
    command.AddValue("factor", "delay_factor", factor);
    command.AddValue("seconds", "simulated time", seconds);
    command.AddValue("seed", "run number of the random streams", seed);
    command.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(PACKETS, queue)));
    // No frame leaves the queue for its age.
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1e6)));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(retry));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSlrc", UintegerValue(retry));

    NodeContainer mobileSide;
    mobileSide.Create(2);
    Ptr<Node> mobile = mobileSide.Get(0);
    Ptr<Node> accessPoint = mobileSide.Get(1);
    Ptr<Node> host = CreateObject<Node>();

    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("DsssRate11Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer radio = wifi.Install(phy, mac, mobileSide);
    PlaceApart(mobileSide);
    DynamicCast<WifiNetDevice>(radio.Get(1))->GetPhy()->SetPostReceptionErrorModel(
        CreateObject<LastOfHundred>(damaged));

    PointToPointHelper line;
    line.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    line.SetChannelAttribute("Delay", TimeValue(Seconds(delay / 1000)));
    NetDeviceContainer ends = line.Install(accessPoint, host);

    InternetStackHelper stack;
    stack.Install(mobileSide);
    stack.Install(host);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    Ipv4InterfaceContainer air = addresses.Assign(radio);
    addresses.SetBase("10.2.0.0", "255.255.0.0");
    Ipv4InterfaceContainer wire = addresses.Assign(ends);
    TrafficControlHelper().Uninstall(radio);

    auto socketAt = [](Ptr<Node> node, Ipv4Address address) {
        Ptr<Socket> socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(address, kPort));
        return socket;
    };
    Ptr<Socket> atMobile = socketAt(mobile, air.GetAddress(0));
    Ptr<Socket> towardsMobile = socketAt(accessPoint, air.GetAddress(1));
    Ptr<Socket> towardsHost = socketAt(accessPoint, wire.GetAddress(0));
    Ptr<Socket> atHost = socketAt(host, wire.GetAddress(1));
    const Address mobileAddress = InetSocketAddress(air.GetAddress(0), kPort);
    const Address hostAddress = InetSocketAddress(wire.GetAddress(1), kPort);

    Sender sender(atMobile,
                  InetSocketAddress(air.GetAddress(1), kPort),
                  mss,
                  window,
                  threshold > 0 ? threshold : std::numeric_limits<double>::max(),
                  floor / 1000);
    Receiver receiver;
    Injector injector(inject, factor, [&](Ptr<Packet> packet) {
        towardsMobile->SendTo(packet, 0, mobileAddress);
    });
    // Callbacks of sockets need plain functions or members: these hold what they call.
    struct Ends
    {
        Sender& sender;
        Receiver& receiver;
        Injector& injector;
        Ptr<Socket> towardsHost;
        Address hostAddress;

        void AtMobile(Ptr<Socket> socket)
        {
            while (Ptr<Packet> packet = socket->Recv())
            {
                sender.OnAcknowledgment(Read(packet));
            }
        }

        void FromMobile(Ptr<Socket> socket)
        {
            while (Ptr<Packet> packet = socket->Recv())
            {
                towardsHost->SendTo(packet, 0, hostAddress);
            }
        }

        void AtHost(Ptr<Socket> socket)
        {
            Address from;
            while (Ptr<Packet> packet = socket->RecvFrom(from))
            {
                socket->SendTo(Write(receiver.OnSegment(Read(packet)), 0), 0, from);
            }
        }

        void FromHost(Ptr<Socket> socket)
        {
            while (Ptr<Packet> packet = socket->Recv())
            {
                injector.OnAcknowledgment(packet);
            }
        }
    } joined{sender, receiver, injector, towardsHost, hostAddress};
    atMobile->SetRecvCallback(MakeCallback(&Ends::AtMobile, &joined));
    towardsMobile->SetRecvCallback(MakeCallback(&Ends::FromMobile, &joined));
    towardsHost->SetRecvCallback(MakeCallback(&Ends::FromHost, &joined));
    atHost->SetRecvCallback(MakeCallback(&Ends::AtHost, &joined));

    Simulator::Schedule(Seconds(1), &Sender::Start, &sender);
    Simulator::Stop(Seconds(1 + seconds));
    Simulator::Run();
    std::printf("{\"goodput_bps\": %.0f, \"timeouts\": %llu}\n",
                8.0 * mss * receiver.Delivered() / seconds,
                static_cast<unsigned long long>(sender.Timeouts()));
    Simulator::Destroy();
    return 0;
}
