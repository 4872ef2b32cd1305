//! The profiles' behaviour on given networks, as tables and traces that a person can read and that
//! show in a review when they change.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use airtcp_packet::{Flags, SackBlock, Segment, SequenceNumber};
use airtcp_tcp::config::{DelayedAckConfig, Recovery, Retransmission};
use airtcp_tcp::{Config, Connection, Profile};
use airtcp_units::{Duration, Instant};

use crate::toy::{Application, CLIENT, Network, bottleneck, carries_data, losing};

/// 2 MB over 10 Mbit/s, 20 ms each way and a queue of 50 packets.
fn row(name: &str, config: &Config, loss: u64) -> String {
    const BYTES: u64 = 2_000_000;
    let fate = bottleneck(10_000_000, 50, Duration::from_millis(20), loss, 7);
    let applications = [Application::sends(BYTES), Application::sends(0)];
    let mut network = Network::new([*config; 2], applications, fate);
    assert!(network.run(Instant::ZERO + Duration::from_secs(600)));
    let counters = network.ends[0].connection.sender().counters();
    let milliseconds = (network.now - Instant::ZERO).as_nanos() / 1_000_000;
    format!(
        "{name:>17} {:>4}.{} % {:>7} {:>9} {:>9} {:>17}\n",
        loss / 100,
        loss % 100 / 10,
        BYTES * 8 / milliseconds,
        counters.segments_retransmitted,
        counters.timeouts,
        counters.fast_retransmits,
    )
}

#[test]
fn profiles_by_loss_rate() {
    let selective = Config {
        retransmission: Retransmission::SelectiveRepeat,
        ..Config::default()
    };
    let mut table =
        String::from("          profile   loss  kbit/s    resent  timeouts  fast retransmits\n");
    for loss in [0, 10, 100, 300] {
        for profile in Profile::ALL {
            table += &row(profile.name(), &profile.config(), loss);
        }
        table += &row("selective repeat", &selective, loss);
    }
    insta::assert_snapshot!(table);
}

const MSS: u64 = 1000;

/// One line per segment: the client's data on the left, the server's acknowledgments on the right,
/// in numbers of segments; the FIN counts as one. After data: the window and the segments in flight
/// with this one.
fn line(
    now: Instant,
    from: usize,
    segment: &Segment,
    connection: &Connection,
    again: bool,
) -> String {
    let number = |sequence: SequenceNumber| {
        u64::from(sequence.0.wrapping_sub(CLIENT.0).wrapping_sub(1)).div_ceil(MSS)
    };
    let milliseconds = (now - Instant::ZERO).as_nanos() / 1_000_000;
    let mut line = format!("{milliseconds:>5} ms  ");
    if from == 0 {
        let sender = connection.sender();
        let what = if segment.payload_bytes == 0 {
            "FIN".to_owned()
        } else {
            format!(
                "{}{}",
                number(segment.sequence),
                if again { " again" } else { "" }
            )
        };
        let tenths = sender.cwnd() * 10 / MSS;
        let _ = write!(
            line,
            "{what:<9} cwnd {:>2}.{}  in flight {}",
            tenths / 10,
            tenths % 10,
            sender.in_flight().div_ceil(MSS)
        );
    } else {
        let _ = write!(line, "{:>38} ack {}", "", number(segment.acknowledgment));
        let blocks = |block: &SackBlock| format!(" {}-{}", number(block.start), number(block.end));
        let _ = match segment.tail.blocks() {
            [] => Ok(()),
            sack => write!(line, " sack{}", sack.iter().map(blocks).collect::<String>()),
        };
    }
    line
}

/// Twenty segments; the first transmissions of 4, 6 and 7 are lost.
fn trace(config: Config) -> String {
    let config = Config {
        mss: 1000,
        initial_window: 10,
        timestamps: false,
        delayed_ack: DelayedAckConfig {
            segments: 1,
            ..DelayedAckConfig::default()
        },
        ..config
    };
    let fate = losing(MSS, Duration::from_millis(50), |segment| {
        [4, 6, 7].contains(&segment)
    });
    let applications = [Application::sends(20 * MSS), Application::sends(0)];
    let mut network = Network::new([config; 2], applications, fate);
    let text = Rc::new(RefCell::new(String::new()));
    let lines = Rc::clone(&text);
    let mut sent = Vec::new();
    network.on_send = Some(Box::new(move |now, from, segment, connection| {
        let again = sent.contains(&(from, segment.sequence));
        sent.push((from, segment.sequence));
        let worth_a_line = from == 1 || carries_data(segment);
        if worth_a_line && !segment.flags.contains(Flags::SYN) {
            lines
                .borrow_mut()
                .push_str(&line(now, from, segment, connection, again));
            lines.borrow_mut().push('\n');
        }
    }));
    assert!(network.run(Instant::ZERO + Duration::from_secs(60)));
    text.take()
}

#[test]
fn trace_of_newreno() {
    insta::assert_snapshot!(trace(Profile::NewReno.config()));
}

#[test]
fn trace_of_sack() {
    insta::assert_snapshot!(trace(Profile::Sack.config()));
}

#[test]
fn trace_of_reno() {
    insta::assert_snapshot!(trace(Profile::Reno.config()));
}

#[test]
fn trace_of_tahoe() {
    insta::assert_snapshot!(trace(Profile::Tahoe.config()));
}

/// Without fast retransmit: only the effect of the timer.
fn timer_only(retransmission: Retransmission) -> Config {
    Config {
        retransmission,
        recovery: Recovery::NewReno,
        duplicate_ack_threshold: u32::MAX,
        limited_transmit: false,
        ..Config::default()
    }
}

#[test]
fn trace_of_go_back_n() {
    insta::assert_snapshot!(trace(timer_only(Retransmission::GoBackN)));
}

#[test]
fn trace_of_selective_repeat() {
    insta::assert_snapshot!(trace(timer_only(Retransmission::SelectiveRepeat)));
}
