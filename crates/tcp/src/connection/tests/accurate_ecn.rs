//! Marks that are counted, step by step (RFC 9768).

use airtcp_packet::Ecn;

use super::*;
use crate::config::{CongestionControl, EcnUse};

fn with(ecn: EcnUse) -> Config {
    Config { ecn, ..plain() }
}

fn accurate() -> Config {
    with(EcnUse::Accurate)
}

/// Prague, which heeds each mark.
fn prague() -> Config {
    Config {
        congestion: CongestionControl::Prague,
        ..accurate()
    }
}

const FIELDS: [Ecn; 4] = [
    Ecn::NotCapable,
    Ecn::Capable1,
    Ecn::Capable0,
    Ecn::CongestionExperienced,
];
/// Reports of these fields in a handshake (table 2, first block, and table 3).
const REPORTS: [u8; 4] = [0b010, 0b011, 0b100, 0b110];

fn counting(segment: Segment, ace: u8) -> Segment {
    Segment {
        flags: segment.flags | Flags::from_ace(ace),
        ..segment
    }
}

fn in_field(segment: Segment, ecn: Ecn) -> Segment {
    Segment { ecn, ..segment }
}

fn marked(segment: Segment) -> Segment {
    in_field(segment, Ecn::CongestionExperienced)
}

fn syn_ack(ace: u8) -> Segment {
    counting(syn(Flags::SYN | Flags::ACK, 1), ace)
}

/// A server that counts marks; the next bytes are 1 on both sides.
fn server(config: &Config) -> Script {
    let mut script = Script::listen(config);
    script.take(counting(syn(Flags::SYN, 0), 7));
    script.take(counting(peer(Flags::ACK, 1, 1), 0b010));
    assert!(script.connection.has_accurate_ecn());
    script
}

/// A client with a complete handshake.
fn client(config: &Config) -> Script {
    let mut script = Script::connect(config);
    script.segments();
    script.take(syn_ack(0b010));
    assert!(script.connection.has_accurate_ecn());
    script
}

fn aces(segments: &[Segment]) -> Vec<u8> {
    segments.iter().map(|segment| segment.flags.ace()).collect()
}

/// Table 2, first block: the SYN-ACK reports how the SYN arrived. Blocks 3: a client without
/// accurate feedback gets the feedback it requests. §3.1.3: reserved combinations request it, too.
#[test]
fn a_server_answers_by_the_table() {
    for (field, report) in FIELDS.into_iter().zip(REPORTS) {
        for asked in [1, 2, 4, 5, 6, 7] {
            let mut script = Script::listen(&accurate());
            script.handle(in_field(counting(syn(Flags::SYN, 0), asked), field));
            assert_eq!(aces(&script.segments()), [report], "{field:?} {asked}");
            assert!(script.connection.has_accurate_ecn());
        }
    }
    for (wanted, asked, answer, agreed) in [
        (EcnUse::Accurate, 3, 1, true),
        (EcnUse::Accurate, 0, 0, false),
        // Servers that do not know of it take the two flags that they know.
        (EcnUse::Request, 7, 1, true),
        (EcnUse::Accept, 7, 1, true),
        (EcnUse::Off, 7, 0, false),
    ] {
        let mut script = Script::listen(&with(wanted));
        script.handle(counting(syn(Flags::SYN, 0), asked));
        assert_eq!(aces(&script.segments()), [answer], "{wanted:?} {asked}");
        assert_eq!(script.connection.has_ecn(), agreed);
        assert!(!script.connection.has_accurate_ecn());
    }
}

/// Table 2, seen by the client: blocks 1, 2 and 4.
#[test]
fn a_client_goes_by_the_table() {
    for (answer, agreed, counts) in [
        (0b000, false, false),
        (0b001, true, false),
        (0b010, true, true),
        (0b011, true, true),
        (0b100, true, true),
        (0b101, true, true),
        (0b110, true, true),
        (0b111, false, false),
    ] {
        let mut script = Script::connect(&accurate());
        assert_eq!(aces(&script.segments()), [7]);
        script.take(syn_ack(answer));
        let connection = &script.connection;
        assert_eq!(
            (connection.has_ecn(), connection.has_accurate_ecn()),
            (agreed, counts),
            "{answer:03b}"
        );
    }
}

/// §3.1.4.1: the first retransmission repeats the request, the next does not; a late answer still
/// counts.
#[test]
fn a_client_asks_twice() {
    let mut script = Script::connect(&accurate());
    let mut asked = aces(&script.segments());
    for _ in 0..2 {
        let next = script.next_ms().expect("a timer");
        script.at(next).handle_wakeup();
        asked.extend(aces(&script.segments()));
    }
    assert_eq!(asked, [7, 7, 0]);
    script.take(syn_ack(0b010));
    assert!(script.connection.has_accurate_ecn());
}

/// §3.2.3.2.2: a SYN-ACK confirms it twice, and the third has no flags; §3.1.5: nothing that the
/// server sends then is capable, though it counts on.
#[test]
fn a_server_confirms_twice() {
    let mut script = Script::listen(&accurate());
    script.handle(counting(syn(Flags::SYN, 0), 7));
    let mut answers = aces(&script.segments());
    for _ in 0..2 {
        let next = script.next_ms().expect("a timer");
        script.at(next).handle_wakeup();
        answers.extend(aces(&script.segments()));
    }
    assert_eq!(answers, [0b010, 0b010, 0b000]);
    script.take(counting(peer(Flags::ACK, 1, 1), 0b010));
    script.connection.write(1000);
    let sent = script.segments();
    assert_eq!((sent[0].ecn, sent[0].flags.ace()), (Ecn::NotCapable, 5));
    assert!(script.connection.has_accurate_ecn());
}

/// §3.1.5: a retransmitted SYN is reported as it arrived last; one that requests the other kind of
/// feedback resets the connection.
#[test]
fn a_syn_that_arrives_again() {
    let first = || {
        let mut script = Script::listen(&accurate());
        script.handle(counting(syn(Flags::SYN, 0), 7));
        script.segments();
        script
    };
    let mut script = first();
    script.handle(marked(counting(syn(Flags::SYN, 0), 7)));
    assert_eq!(aces(&script.segments()), [0b110]);
    let mut script = first();
    assert_eq!(
        script.take(counting(syn(Flags::SYN, 0), 3)),
        ["RA 256:256 ack 1"]
    );
    assert_eq!(script.state(), State::Closed);
    let mut script = Script::listen(&accurate());
    script.take(counting(syn(Flags::SYN, 0), 3));
    assert_eq!(
        script.take(counting(syn(Flags::SYN, 0), 7)),
        ["RA 256:256 ack 1"]
    );
}

/// Table 3: the acknowledgment of a SYN-ACK reports how that arrived, and from then on the count is
/// 5, or 6 with a mark; §3.2.2.1: also if data waits, which follows.
#[test]
fn a_client_reports_how_the_syn_ack_arrived() {
    let counts = [5, 5, 5, 6];
    for ((field, report), count) in FIELDS.into_iter().zip(REPORTS).zip(counts) {
        for writes in [0, 1000] {
            let mut script = Script::connect(&accurate());
            script.connection.write(writes);
            script.segments();
            script.handle(in_field(syn_ack(0b010), field));
            let sent = script.segments();
            assert_eq!(sent[0].payload_bytes, 0);
            assert_eq!(aces(&sent[..1]), [report]);
            assert_eq!(sent.len() as u64, 1 + writes / 1000);
            assert!(sent[1..].iter().all(|data| data.flags.ace() == count));
            // A SYN-ACK retransmitted: the report was lost.
            script.at(1000);
            script.handle(in_field(syn_ack(0b010), field));
            assert_eq!(aces(&script.segments()), [report]);
            script.handle(data(1, 100, 1));
            assert_eq!(aces(&script.segments()), [count], "counted once");
        }
    }
}

/// Table 4, and §3.2.2.3: the possible contents of the acknowledgment of a SYN-ACK that was not
/// capable, and whether the server's data is then capable.
#[test]
fn a_server_heeds_what_became_of_its_syn_ack() {
    for (ace, is_capable) in [
        (0b000, false),
        (0b001, true),
        (0b010, true),
        (0b011, false),
        (0b100, false),
        (0b101, true),
        (0b110, false),
        (0b111, true),
    ] {
        let mut script = Script::listen(&accurate());
        script.take(counting(syn(Flags::SYN, 0), 7));
        script.take(counting(peer(Flags::ACK, 1, 1), ace));
        script.connection.write(1000);
        let capable = script.segments()[0].ecn.is_capable();
        assert_eq!(capable, is_capable, "{ace:03b}");
        assert!(
            script.connection.has_accurate_ecn(),
            "it counts all the same"
        );
        // Note 1: after 000 no feedback is believed; after 110 the count is 6.
        let reductions = |script: &Script| script.connection.sender().reductions_for_marks();
        script.handle(counting(peer(Flags::ACK, 1, 1001), 6));
        let expected = u64::from(ace != 0b000 && ace != 0b110);
        assert_eq!(reductions(&script), expected, "{ace:03b}");
    }
}

/// §3.2.2.3: a client with a SYN altered by the path sends nothing capable.
#[test]
fn a_client_heeds_what_became_of_its_syn() {
    for (answer, is_capable) in [(0b010, true), (0b101, true), (0b011, false), (0b110, false)] {
        let mut script = Script::connect(&accurate());
        script.segments();
        script.take(syn_ack(answer));
        script.connection.write(1000);
        assert_eq!(script.segments()[0].ecn.is_capable(), is_capable);
    }
}

/// §3.2.2.2: every segment has the lowest three bits of the count, which wraps; each mark after an
/// unmarked packet, and each second one, is acknowledged at once (§3.2.2.5.1).
#[test]
fn a_receiver_counts_marks() {
    let config = Config {
        delayed_ack: DelayedAckConfig::default(),
        ..accurate()
    };
    let mut script = server(&config);
    let mut next = 1;
    let mut answer = |script: &mut Script, ecn| {
        script.handle(in_field(counting(data(next, 100, 1), 5), ecn));
        next += 100;
        aces(&script.segments())
    };
    let mark = Ecn::CongestionExperienced;
    assert!(answer(&mut script, Ecn::Capable1).is_empty());
    assert_eq!(answer(&mut script, Ecn::Capable1), [5], "the second");
    assert_eq!(answer(&mut script, mark), [6], "marks begin");
    assert!(answer(&mut script, mark).is_empty());
    assert_eq!(answer(&mut script, mark), [0], "two marks");
    assert!(answer(&mut script, Ecn::Capable1).is_empty());
    assert_eq!(answer(&mut script, mark), [1], "marks begin again");
    // Pure acknowledgments count, too, and seven of them are answered (a peer with ECN-capable
    // control packets).
    for answered in [false, false, false, false, false, false, true] {
        script.handle(marked(counting(peer(Flags::ACK, next, 1), 5)));
        assert_eq!(aces(&script.segments()), vec![0; usize::from(answered)]);
    }
    // Data of ours has the count, too, and sets no CWR.
    script.connection.write(100);
    let sent = script.segments();
    assert_eq!((sent[0].flags.ace(), sent[0].ecn), (0, Ecn::Capable0));
}

/// §2.5, and RFC 3168 §6.1.2: a control that answers marks as losses does so once a round trip,
/// however many are counted, and never sets CWR.
#[test]
fn marks_reduce_the_window_once_a_round_trip() {
    let mut script = client(&accurate());
    script.connection.write(30_000);
    let first = script.segments();
    assert_eq!(first.len(), 10);
    assert!(first.iter().all(|segment| segment.ecn == Ecn::Capable0));
    let reductions = |script: &Script| script.connection.sender().reductions_for_marks();
    script.handle(counting(peer(Flags::ACK, 1, 1001), 5));
    assert_eq!(reductions(&script), 0);
    script.handle(counting(peer(Flags::ACK, 1, 2001), 6));
    script.handle(counting(peer(Flags::ACK, 1, 4001), 0));
    assert_eq!(
        (reductions(&script), script.connection.sender().cwnd()),
        (1, 5000)
    );
    let later = script.segments();
    assert!(later.iter().all(|segment| segment.flags.ace() == 5));
    // A repeated count: no new mark. An old acknowledgment: ignored.
    script.handle(counting(peer(Flags::ACK, 1, 9001), 0));
    script.handle(counting(peer(Flags::ACK, 1, 3001), 7));
    assert_eq!(reductions(&script), 1);
}

/// RFC 9331 §4.1: a control that heeds each mark sends ECT(1), retransmissions included, and only
/// where marks are counted.
#[test]
fn data_is_ect_1_only_where_each_mark_is_heeded() {
    let mut script = client(&prague());
    script.connection.write(10_000);
    let sent = script.segments();
    assert!(sent.iter().all(|segment| segment.ecn == Ecn::Capable1));
    let next = script.next_ms().expect("a timer");
    script.at(next).handle_wakeup();
    let again = script.segments();
    assert_eq!(again[0].sequence, OURS + 1);
    assert_eq!(again[0].ecn, Ecn::Capable1);
    // The peer knows RFC 3168's feedback, or no feedback at all.
    for (answer, field) in [(1, Ecn::Capable0), (0, Ecn::NotCapable)] {
        let mut script = Script::connect(&prague());
        script.segments();
        script.take(syn_ack(answer));
        script.connection.write(1000);
        assert_eq!(script.segments()[0].ecn, field);
    }
}
