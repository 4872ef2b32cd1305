//! Links that stop, that let packets overtake each other, and that mark them.

use airtcp_link::{LostPackets, Service, Stream};
use airtcp_units::Instant;

use super::*;
use airtcp_scenario::{Link, Scenario, build};

use crate::engine::{Direction, FlowEvent, Simulation, Watch};

/// The numbers of the packets that a link loses, data and acknowledgments.
#[derive(Default)]
struct Losses([Vec<(u32, u64)>; 2]);

impl Watch for Losses {
    fn event(&mut self, _now: Instant, flow: u32, event: FlowEvent) {
        if let FlowEvent::LinkLoss {
            direction, packet, ..
        } = event
        {
            self.0[usize::from(direction == Direction::Acknowledgments)].push((flow, packet));
        }
    }
}

/// The part that both runs have in common.
const ENDS: &str = "duration = '40 s'\nflows.count = 2\ntcp.profile = 'linux'\n\
    link.rate = '6 Mbit/s'\nlink.reverse.rate = '1 Mbit/s'\nlink.queue.packets = 40\n";

/// A run with random stops and losses, and what it met, given back as files: the same run, with
/// another seed for the channel.
#[test]
fn a_recorded_run_is_played_back() {
    for packets in ["wait", "held"] {
        let drawn = scenario(&format!(
            "{ENDS}link.loss = {{ rate = 0.01, direction = 'both' }}\n\
             link.stops = {{ working = '1 s', length = '150 ms', packets = '{packets}' }}\n"
        ));
        let end = Instant::ZERO + drawn.duration;
        let mut network = Simulation::new(build(&drawn, 5), 5);
        let mut losses = Losses::default();
        network.run_until(end, &mut losses);

        let Link::Pipe { data, .. } = &drawn.link else {
            panic!("a pipe");
        };
        let stops = match (&data.service, &data.delay) {
            (Service::Suspended { stops, .. }, _) => stops.clone(),
            (_, airtcp_link::Delay::Variable(delay)) => delay.held.clone().expect("stops"),
            other => panic!("{other:?}"),
        };
        let list = stops
            .shared(Stream::new(5, "link.stops"))
            .until(Stream::new(5, "own"), end);
        assert!(list.as_slice().len() > 20, "{packets}");
        let [data, acks] = losses.0.map(LostPackets::new);
        assert!(
            data.len() > 50 && acks.len() > 20,
            "{} and {}",
            data.len(),
            acks.len()
        );

        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: String| {
            std::fs::write(folder.path().join(name), text).expect("a file");
        };
        write("stops.csv", list.to_csv());
        write("lost.csv", data.to_csv());
        write("lost-acks.csv", acks.to_csv());
        let text = format!(
            "{ENDS}link.stops.process = 'recorded'\nlink.stops.path = 'stops.csv'\n\
             link.stops.packets = '{packets}'\nlink.lost_packets.path = 'lost.csv'\n\
             link.reverse.lost_packets.path = 'lost-acks.csv'\n"
        );
        let recorded = Scenario::parse(&text, "test", folder.path()).expect("a scenario");
        let mut again = Simulation::new(build(&recorded, 5), 77);
        again.run_until(end, &mut ());
        assert_eq!(again.digest(), network.digest(), "{packets}");

        // Another seed of the process is another run.
        let mut other = Simulation::new(build(&drawn, 5), 6);
        other.run_until(end, &mut ());
        assert_ne!(other.digest(), network.digest());
    }
}

/// With marks a queue under CoDel loses nothing, and the window is reduced all the same; without
/// them it drops. Either way packets wait for less than in a queue that is left alone.
#[test]
fn marks_take_the_place_of_drops() {
    for discipline in ["codel", "fq-codel"] {
        let text = |aqm: &str, ecn: &str| {
            scenario(&format!(
                "duration = '30 s'\nlink.queue.packets = 1000\ntcp.profile = 'linux-reno'\n\
                 {aqm}tcp.ecn = '{ecn}'\ntcp.initial_ssthresh = '100 kB'\n"
            ))
        };
        let aqm = format!("link.aqm = {{ discipline = '{discipline}', ecn = true }}\n");
        let run = |scenario: &Scenario| {
            let mut network = Simulation::new(build(scenario, 1), 1);
            network.run_until(Instant::ZERO + scenario.duration, &mut ());
            let reductions = network.flows()[0].client().sender().reductions_for_marks();
            (summary(scenario, 1), reductions)
        };
        let (alone, _) = run(&text("", "accept"));
        let (dropping, none) = run(&text(&aqm, "accept"));
        let (marking, reductions) = run(&text(&aqm, "request"));
        assert_eq!(none, 0, "nobody asked");
        assert!(dropping.flows[0].losses.segments_dropped_queue > 3);
        assert!(reductions > 3, "{reductions}");
        assert_eq!(marking.flows[0].losses.segments_dropped_queue, 0);
        assert_eq!(marking.flows[0].sending.segments_retransmitted, 0);
        for run in [&dropping, &marking] {
            // 10 Mbit/s, of which headers take 52 bytes of 1500.
            assert!(
                run.goodput_bps > 0.75 * 9.65e6,
                "{discipline}: {}",
                run.goodput_bps
            );
            let [ours, other] =
                [run, &alone].map(|run| run.flows[0].at_end.srtt_ms.expect("a sample"));
            assert!(
                ours < 90.0 && other > 200.0,
                "{discipline}: {ours} and {other} ms"
            );
        }
    }
}

/// Packets that come late are overtaken, and none is lost: whatever is retransmitted is a duplicate
/// at the receiver, but for what is under way when the run ends.
#[test]
fn late_packets_are_reordering() {
    let text = "duration = '20 s'\ntcp.profile = 'sack'\ntcp.max_window = 60\n\
                link.late = { share = 0.02, by = '8 ms' }\nlink.queue.packets = 1000\n";
    let flow = summary(&scenario(text), 1).flows.remove(0);
    assert_eq!(
        flow.losses.segments_lost_link + flow.losses.segments_dropped_queue,
        0
    );
    assert!(
        flow.sending.segments_retransmitted > 20,
        "{}",
        flow.sending.segments_retransmitted
    );
    let others = flow
        .sending
        .segments_retransmitted
        .abs_diff(flow.losses.duplicate_segments_received);
    assert!(
        others <= 2,
        "{others} of {}",
        flow.sending.segments_retransmitted
    );
}

/// A delay and a loss that were recorded: 10 ms and nothing, then 60 ms and one packet in twenty.
#[test]
fn a_recording_has_its_own_delay_and_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "time_ms,delay_ms,loss\n0,10,0\n10000,60,0.05\n";
    std::fs::write(folder.path().join("link.csv"), rows).expect("a file");
    let of = |seconds: u32| {
        let text = format!(
            "duration = '{seconds} s'\ntcp.profile = 'sack'\nlink.recorded.path = 'link.csv'\n\
             tcp.max_window = 10\n"
        );
        let scenario = Scenario::parse(&text, "test", folder.path()).expect("a scenario");
        summary(&scenario, 1)
    };
    let (before, after) = (of(10), of(40));
    assert_eq!(before.flows[0].losses.segments_lost_link, 0);
    // 10 ms each way, and what it takes to send a SYN, or a segment of 1500 bytes.
    let shortest = before.flows[0].at_end.min_rtt_ms.unwrap();
    assert!((20.0..21.5).contains(&shortest), "{shortest} ms");
    let sent = after.flows[0].sending.segments_sent - before.flows[0].sending.segments_sent;
    let share = after.flows[0].losses.segments_lost_link as f64 / sent as f64;
    // Within 4.5 standard errors.
    let error = (0.05 * 0.95 / sent as f64).sqrt();
    assert!((share - 0.05).abs() < 4.5 * error, "{share} of {sent}");
    assert!(after.flows[0].at_end.srtt_ms.unwrap() > 110.0);
}
