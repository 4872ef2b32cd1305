//! Effects of hosts on captures: offload, files out of order, windows that close, receivers without
//! a clock.

use super::*;

/// Segments are handed over ten at a time; one of ten is lost and repaired.
#[test]
fn a_loss_within_what_offload_joined_is_one_segment() {
    let mut script = Script::new(true);
    script.flow(100_000, 0, 20, 5_000);
    let start = 300_000;
    script.data(start, 20);
    script.packets.last_mut().unwrap().2.payload_bytes = 10 * MSS;
    script.ack(start + RTT, 24, start, &[]);
    for (number, end) in (25..=30).step_by(2).enumerate() {
        let time = start + 52_000 + number as u64 * 1_000;
        script.ack(time, 24, start, &[(25, end + 1)]);
    }
    script.data(start + 55_000, 24);
    script.ack(start + 105_000, 30, start + 55_000, &[]);
    script.flow(start + 110_000, 30, 20, 5_000);
    let analysis = script.analysis();
    let label = only(&analysis);
    assert_eq!((label.start, label.end), (24_000, 25_000));
    assert_eq!((label.need, label.loss), (Need::Needed, Some(Cause::Radio)));
    // 50 segments and a retransmission, with one lost.
    let data = analysis.sent.iter().filter(|sent| sent.end > 0);
    assert_eq!(data.count(), 51);
    let lost: Vec<(u64, Option<Cause>)> = analysis
        .sent
        .iter()
        .filter(|sent| sent.is_lost)
        .map(|sent| (sent.start, sent.lost_to))
        .collect();
    assert_eq!(lost, [(24_000, Some(Cause::Radio))]);
    assert!(analysis.sent.iter().all(|sent| sent.ip_bytes <= MSS + 52));
    // The SYN, the handshake's ACK, then the segments: the repair is the 51st of them.
    let repair = analysis.sent.iter().find(|sent| sent.attempt == 1).unwrap();
    assert_eq!(repair.index, 2 + 30);
}

/// The same transfer, each sixteenth packet five packets late in the file.
#[test]
fn packets_out_of_order_in_the_file_are_sorted() {
    let mut script = Script::new(true);
    script.flow(100_000, 0, 400, 2_000);
    script.packets.sort_by_key(|packet| packet.0);
    let straight = script.analysis();
    for at in (16..script.packets.len() - 8).step_by(16) {
        script.packets[at..at + 5].rotate_left(1);
    }
    let analysis = script.analysis_as_written();
    assert!(
        !has(&analysis, RefusalKind::Order),
        "{:?}",
        analysis.refusals
    );
    assert_eq!(analysis.base_rtt, straight.base_rtt);
    assert_eq!(analysis.labels, straight.labels);
    assert_eq!(analysis.shares, straight.shares);
    assert_eq!(analysis.sent.len(), straight.sent.len());
}

/// A reader that drains the socket every two seconds: in between, its window is closed and nothing
/// is in flight.
#[test]
fn a_closed_window_is_the_receivers() {
    let mut script = Script::new(true);
    let shut = |script: &mut Script, time: u64, next: u32, window: u16| {
        script.ack(time, next, time - RTT, &[]);
        script.packets.last_mut().unwrap().2.window = window;
    };
    for round in 0..10_u32 {
        let start = 100_000 + u64::from(round) * 2_000_000;
        for place in 0..8 {
            script.data(start + u64::from(place) * 100, round * 8 + place);
        }
        shut(&mut script, start + RTT, round * 8 + 8, 0);
        shut(
            &mut script,
            start + 1_990_000,
            round * 8 + 8,
            (8 * MSS / 16) as u16,
        );
    }
    let analysis = script.analysis();
    let window = analysis.shares.share(Limit::ReceiverWindow);
    assert!(window > 0.9, "{:?}", analysis.shares);
    assert!(!has(&analysis, RefusalKind::Application));
}

/// At the receiver, without timestamps: its answers show nothing of the data in flight.
#[test]
fn a_receiver_without_timestamps_has_no_shares() {
    let mut script = Script::new(false);
    for place in 0..400 {
        let time = 100_000 + u64::from(place) * 20_000;
        script.data(time, place);
        script.ack(time + 20, place + 1, 0, &[]);
    }
    // The handshake as it is seen there.
    script.packets[1].0 = 20;
    script.packets[2].0 = RTT;
    let analysis = script.analysis();
    assert_eq!(
        analysis.vantage.place,
        Place::Receiver,
        "{:?}",
        analysis.vantage
    );
    assert!(
        has(&analysis, RefusalKind::NoClock),
        "{:?}",
        analysis.refusals
    );
    assert!(!has(&analysis, RefusalKind::Short) && !has(&analysis, RefusalKind::Application));
    assert_eq!(analysis.shares, Shares::default());
}

/// Acknowledgments that are lost on the way back leave gaps in the receiver's numbering.
#[test]
fn lost_acknowledgments_are_counted() {
    let mut script = Script::new(true);
    script.flow(100_000, 0, 400, 5_000);
    script.packets.sort_by_key(|packet| packet.0);
    let mut acks = 0;
    let mut numbered: Vec<(u16, (u64, Way, Segment))> = Vec::new();
    let mut own = 0;
    for packet in &script.packets {
        let is_ack = packet.1 == Way::FromServer && !packet.2.flags.contains(Flags::SYN);
        acks += u32::from(is_ack);
        own += u16::from(packet.1 == Way::FromServer);
        // Each twentieth is lost.
        if !is_ack || acks % 20 != 10 {
            let number = if packet.1 == Way::FromServer { own } else { 0 };
            numbered.push((number, *packet));
        }
    }
    let analysis = analysed(&survey_of(&numbered));
    let lost = analysis.lost_acks.unwrap();
    assert_eq!(lost.lost, 20);
    assert_eq!(lost.sent, 401);
}

/// Acknowledgments that overtake each other on the way back leave gaps that are filled later.
#[test]
fn overtaken_acknowledgments_are_not_lost() {
    let mut script = Script::new(true);
    script.flow(100_000, 0, 400, 5_000);
    script.packets.sort_by_key(|packet| packet.0);
    let mut own = 0;
    let mut numbered: Vec<(u16, (u64, Way, Segment))> = Vec::new();
    for packet in &script.packets {
        let is_ack = packet.1 == Way::FromServer;
        own += u16::from(is_ack);
        // Each twentieth is overtaken by one, and each fortieth by two.
        let number = match own % 40 {
            10 | 30 => own + 1,
            11 => own - 1,
            31 => own + 1,
            32 => own - 2,
            _ => own,
        };
        numbered.push((if is_ack { number } else { 0 }, *packet));
    }
    let lost = analysed(&survey_of(&numbered)).lost_acks.unwrap();
    assert_eq!((lost.lost, lost.sent), (0, 401));
}
