use airtcp_link::agent::notification::NotificationConfig;
use airtcp_link::agent::{AgentConfig, Toward};
use airtcp_link::error::ErrorModel;
use airtcp_link::frame::RetryLimit;
use airtcp_link::mac::arq::ArqConfig;
use airtcp_link::mac::damage::{Affects, DamageConfig};
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_link::{Admission, Delay, Discipline, PipeConfig, QueueLimit, Service};
use airtcp_packet::{LinkFeedback, Segment};
use airtcp_units::{BitRate, Duration, Probability};
use proptest::prelude::*;

use super::*;

const SIZE: u32 = 1250;

/// 1250 bytes take 1 ms on it, and a delay of 5 ms.
fn line(error: ErrorModel) -> PipeConfig {
    PipeConfig {
        policer: None,
        service: Service::Constant(BitRate::from_bps(10_000_000)),
        queue: QueueLimit::Packets(1000),
        discipline: Discipline::DropTail,
        fec: None,
        error,
        delay: Delay::Constant(Duration::from_millis(5)),
    }
}

fn one_pipe<C: Copy + Default>(error: ErrorModel) -> (Network<C>, [Port; 2]) {
    let config = NetworkConfig {
        pipes: vec![("line".to_owned(), line(error))],
        ..NetworkConfig::default()
    };
    let mut network = Network::new(config, 7);
    let ports = network.add_flow(&[Hop::Pipe(0)], &[]);
    (network, ports)
}

const fn millis(count: u64) -> Instant {
    Instant::from_nanos(count * 1_000_000)
}

/// By hand: the second packet waits for the first, each takes 1 ms of the line and 5 ms of way.
/// Packets handed in come out.
#[test]
fn packets_come_out_when_the_line_says_and_with_what_they_carry() {
    let (mut network, [mut port, _]) = one_pipe::<u8>(ErrorModel::None);
    let mut arrivals = Arrivals::default();
    for carried in [11, 22] {
        let packet = port.packet(Content::Other(SIZE), carried);
        network.inject(millis(2), packet, &mut arrivals);
    }
    assert_eq!(network.next_wakeup(), millis(8));
    network.advance(millis(100), &mut arrivals);
    let out: Vec<_> = arrivals
        .map(|arrival| (arrival.time, arrival.host, arrival.packet.carried))
        .collect();
    assert_eq!(
        out,
        [(millis(8), Host::Server, 11), (millis(9), Host::Server, 22)]
    );
    assert!(network.is_idle());
    assert_eq!(
        (network.now(), network.next_wakeup()),
        (millis(100), Instant::FAR_FUTURE)
    );
}

/// A late driver first handles the events due before the packet arrived.
#[test]
fn a_packet_enters_after_what_was_due_before_it() {
    let (mut network, [mut port, _]) = one_pipe::<()>(ErrorModel::None);
    let mut arrivals = Arrivals::default();
    network.inject(
        millis(0),
        port.packet(Content::Other(SIZE), ()),
        &mut arrivals,
    );
    network.inject(
        millis(50),
        port.packet(Content::Other(SIZE), ()),
        &mut arrivals,
    );
    assert_eq!(arrivals.next().map(|arrival| arrival.time), Some(millis(6)));
    network.advance(millis(60), &mut arrivals);
    assert_eq!(
        arrivals.next().map(|arrival| arrival.time),
        Some(millis(56))
    );
}

/// Packets that leave a network with random loss of every fourth one, driven in steps.
fn driven<C: Copy + Default>(steps: &[u64], carried: impl Fn(u64) -> C) -> Vec<(Instant, u64)> {
    let loss = ErrorModel::Independent(Probability::new(0.25).expect("a probability"));
    let (mut network, [mut port, _]) = one_pipe::<C>(loss);
    let mut arrivals = Arrivals::default();
    let mut steps = steps.iter().cycle();
    let mut now = Instant::ZERO;
    for number in 0..200 {
        let due = Instant::from_nanos(number * 700_000);
        while now < due {
            now = (now + Duration::from_micros(*steps.next().unwrap_or(&100))).min(due);
            network.advance(now, &mut arrivals);
        }
        let packet = port.packet(Content::Other(SIZE), carried(number));
        network.inject(due, packet, &mut arrivals);
    }
    network.advance(millis(10_000), &mut arrivals);
    arrivals
        .map(|arrival| (arrival.time, arrival.packet.index))
        .collect()
}

proptest! {
    /// One channel for two clocks: neither the driver's step size nor the packets' payload changes
    /// which packets leave the network, and when.
    #[test]
    fn a_seed_is_the_same_channel_under_any_clock(
        steps in prop::collection::vec(1_u64..5_000, 1..20)
    ) {
        let reference = driven(&[1_000_000], |_| ());
        // Of 200 packets 150 ± 6 arrive: four standard errors.
        prop_assert!((126..=174).contains(&reference.len()), "{}", reference.len());
        prop_assert_eq!(driven(&steps, |number| [number; 3]), reference);
    }
}

/// Hosts that answer at once, set alarms, and count their calls.
#[derive(Default)]
struct Chatty {
    alarm: Alarm,
    server: Option<Port>,
    log: Vec<(u64, &'static str)>,
}

impl Chatty {
    fn note(&mut self, network: &Network<(), ()>, what: &'static str) {
        self.log.push((network.now().as_nanos() / 1_000_000, what));
    }
}

impl Hosts<(), ()> for Chatty {
    fn arrived(&mut self, network: &mut Network<(), ()>, host: Host, packet: &Packet) {
        match host {
            Host::Server => {
                self.note(network, "server");
                if let Some(port) = &mut self.server {
                    let answer = port.packet(packet.content, ());
                    network.send(answer, self);
                }
            }
            _ => self.note(network, "client"),
        }
    }

    fn woken(&mut self, network: &mut Network<(), ()>, (): ()) {
        if !network.rings(self.alarm) {
            return;
        }
        self.note(network, "alarm");
        network.rearm(&mut self.alarm, Instant::FAR_FUTURE);
    }

    fn lost(&mut self, network: &Network<(), ()>, _packet: &Packet, why: Admission) {
        assert_eq!(why, Admission::Overflow);
        self.note(network, "lost");
    }
}

/// At one instant hosts' alarms and arrivals are handled in scheduling order, and an answer leaves
/// at the instant of the packet that it answers.
#[test]
fn alarms_and_arrivals_share_one_order() {
    let pipe = PipeConfig {
        queue: QueueLimit::Packets(1),
        ..line(ErrorModel::None)
    };
    let config = NetworkConfig {
        pipes: vec![("up".to_owned(), pipe.clone()), ("down".to_owned(), pipe)],
        ..NetworkConfig::default()
    };
    let mut network: Network<(), ()> = Network::new(config, 1);
    let [mut client, server] = network.add_flow(&[Hop::Pipe(0)], &[Hop::Pipe(1)]);
    let mut hosts = Chatty {
        server: Some(server),
        ..Chatty::default()
    };
    let mut alarm = std::mem::take(&mut hosts.alarm);
    network.arm(&mut alarm, millis(12), ());
    hosts.alarm = alarm;
    // One is being sent, one waits, and the third finds no room.
    for _ in 0..3 {
        network.inject(
            millis(0),
            client.packet(Content::Other(SIZE), ()),
            &mut hosts,
        );
    }
    network.advance(millis(100), &mut hosts);
    let expected = [
        (0, "lost"),
        (6, "server"),
        (7, "server"),
        (12, "alarm"),
        (12, "client"),
        (13, "client"),
    ];
    assert_eq!(hosts.log, expected);
}

/// An agent that sends to a host: the radio damages everything, so the sender gets feedback while
/// the link repeats, from the access point's side of the line.
#[test]
fn news_of_the_link_go_to_the_host_behind_the_agent() {
    let always = ErrorModel::Independent(Probability::ALWAYS);
    let arq = ArqConfig {
        rate: BitRate::from_bps(6_000_000),
        delay: Duration::from_micros(1),
        frame_payload: None,
        overhead: 28,
        ack_time: Duration::from_micros(76),
        retry_limit: RetryLimit::Attempts(std::num::NonZeroU32::new(3).expect("three")),
        queue: QueueLimit::Packets(10),
        order: RetransmissionOrder::HeadOfLine,
        damage: DamageConfig {
            model: always,
            affects: Affects::Both,
            ..DamageConfig::default()
        },
        report_retries: true,
    };
    let config = NetworkConfig {
        pipes: vec![("back".to_owned(), line(ErrorModel::None))],
        media: vec![MediumConfig {
            reports_to: vec![0],
            ..MediumConfig::new("arq", MediumKind::Arq(Box::new(arq)))
        }],
        agents: vec![(
            "agent".to_owned(),
            AgentConfig::Notification(NotificationConfig::default()),
        )],
    };
    let mut network: Network<u8> = Network::new(config, 1);
    let agent = |toward| Hop::Agent { agent: 0, toward };
    let air = Hop::Air(AirHop {
        medium: 0,
        from: ACCESS_POINT,
        to: 1,
    });
    let there = [agent(Toward::Mobile), air];
    let back = [agent(Toward::Wired), Hop::Pipe(0)];
    let [mut client, _] = network.add_flow(&there, &back);
    let mut arrivals = Arrivals::default();
    let segment = Segment {
        payload_bytes: 1000,
        ..Segment::default()
    };
    let packet = client.packet(Content::Segment(segment), 9);
    network.inject(Instant::ZERO, packet, &mut arrivals);
    network.advance(millis(1000), &mut arrivals);
    let news: Vec<_> = arrivals.collect();
    // Three attempts: after the first two there will be another.
    assert_eq!(news.len(), 2);
    for arrival in news {
        assert_eq!((arrival.host, arrival.packet.carried), (Host::Client, 0));
        assert!(matches!(
            arrival.packet.content,
            Content::Feedback(LinkFeedback::BadState)
        ));
    }
}

/// A proxy's packets continue at the hop after it, as its port does.
#[test]
fn a_proxy_is_a_host_on_the_way() {
    let config = NetworkConfig {
        pipes: vec![
            ("near".to_owned(), line(ErrorModel::None)),
            ("far".to_owned(), line(ErrorModel::None)),
        ],
        ..NetworkConfig::default()
    };
    let mut network: Network<()> = Network::new(config, 1);
    let proxy = Hop::Host(Host::Proxy(Side::Client));
    let [mut client, server] = network.add_flow(&[Hop::Pipe(0), proxy, Hop::Pipe(1)], &[]);
    assert!(network.port_behind_proxy(&server).is_none());
    let mut behind = network.port_behind_proxy(&client).expect("a proxy");
    let mut arrivals = Arrivals::default();
    network.inject(
        Instant::ZERO,
        client.packet(Content::Other(SIZE), ()),
        &mut arrivals,
    );
    network.advance(millis(20), &mut arrivals);
    let first = arrivals.next().expect("it arrives");
    assert_eq!(first.host, Host::Proxy(Side::Client));
    assert_eq!(network.destination(&first.packet), Host::Server);
    network.inject(
        millis(20),
        behind.packet(first.packet.content, ()),
        &mut arrivals,
    );
    network.advance(millis(40), &mut arrivals);
    let second = arrivals.next().expect("it arrives");
    assert_eq!((second.time, second.host), (millis(26), Host::Server));
}

/// Hosts without anything between them that answer each packet, a million times in one instant: in
/// order, and on the stack of a test's thread.
#[test]
fn neighbours_that_answer_each_other_nest_no_deeper_than_the_stack() {
    struct Echoes {
        ports: [Port; 2],
        seen: u64,
    }
    impl Hosts<u64, Infallible> for Echoes {
        fn arrived(&mut self, network: &mut Network<u64>, host: Host, packet: &Packet<u64>) {
            assert_eq!(packet.carried, self.seen, "a packet overtakes another");
            self.seen += 1;
            if self.seen < 1_000_000 {
                let port = &mut self.ports[usize::from(host == Host::Server)];
                let answer = port.packet(Content::Other(SIZE), self.seen);
                network.send(answer, self);
            }
        }

        fn woken(&mut self, _network: &mut Network<u64>, alarm: Infallible) {
            match alarm {}
        }
    }
    let mut network = Network::new(NetworkConfig::default(), 7);
    let mut ports = network.add_flow(&[], &[]);
    let first = ports[0].packet(Content::Other(SIZE), 0);
    let mut echoes = Echoes { ports, seen: 0 };
    network.inject(millis(3), first, &mut echoes);
    network.advance(millis(3), &mut echoes);
    assert_eq!(echoes.seen, 1_000_000);
    assert!(network.is_idle());
}
