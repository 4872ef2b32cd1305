//! Each remedy between the endpoints in a whole system: its effect and its cost.

use super::*;
use crate::result::FlowSummary;

/// A mobile uploads over 802.11b; of every 100 data frames the last `lost` are damaged.
const UPLOAD: &str = "duration = '30 s'\ntopology = 'wlan'\nflows.direction = 'up'\n\
    tcp.profile = 'newreno'\ntcp.max_window = 20\ntcp.delayed_ack.segments = 1\n\
    [wlan]\nretry_limit = 4\nqueue.packets = 50\nloss = { model = 'block', lost = 20, of = 100 }\n";

/// A wired host sends to a mobile, 100 ms away, over a last hop that loses 2 % of packets.
const LOSSY_HOP: &str = "duration = '60 s'\ntopology = 'pipe'\ntcp.profile = 'newreno'\n\
    [link]\nrate = '5 Mbit/s'\ndelay = '2 ms'\nqueue.packets = 50\nloss.rate = 0.02\n\
    [wired]\ndelay = '50 ms'\n";

/// A wired host sends over a stop-and-wait link that goes away for a second every five.
const OUTAGES: &str = "duration = '60 s'\ntopology = 'arq'\n\
    tcp.profile = 'newreno'\ntcp.max_window = 40\n\
    [arq]\nrate = '5 Mbit/s'\ndelay = '2 ms'\nframe = 'unlimited'\nretry_limit = 'unlimited'\n\
    outage = { every = '5 s', length = '1 s' }\n[wired]\ndelay = '30 ms'\n";

/// Five downloads over a stop-and-wait link with bursts of errors.
const BURSTS: &str = "duration = '60 s'\ntopology = 'arq'\ntcp.profile = 'reno'\nflows.count = 5\n\
    [arq]\nqueue.bytes = '32 kB'\n\
    loss = { model = 'gilbert-elliott', good_to_bad = 0.005, bad_to_good = 0.1, loss_in_bad = 0.8 }\n\
    [wired.round_trip]\nshape = 'uniform'\n";

/// A run with and without remedies, which meet the same channel.
fn pair(text: &str, remedies: &str, seed: u64) -> (RunSummary, RunSummary) {
    let without = scenario(text);
    let with = without.with_remedies(remedies).expect("remedies that fit");
    (summary(&without, seed), summary(&with, seed))
}

fn sum(summary: &RunSummary, count: fn(&FlowSummary) -> u64) -> u64 {
    summary.flows.iter().map(count).sum()
}

/// Every loss on the radio is repaired on the radio. The cost: the retransmissions are delay
/// spikes, which fire the sender's timer although nothing is lost (Fotiadis & Siris §II).
#[test]
fn unlimited_retries_turn_losses_into_spurious_timeouts() {
    let (without, with) = pair(UPLOAD, "inf-retry", 1);
    assert!(without.flows[0].losses.segments_lost_link > 200);
    assert_eq!(without.flows[0].sending.timeouts, 0);
    assert_eq!(with.flows[0].losses.segments_lost_link, 0);
    assert!(with.flows[0].sending.timeouts > 20);
    assert_eq!(
        with.flows[0].sending.timeouts_spurious,
        with.flows[0].sending.timeouts
    );
}

/// A tail that falls silent while pacing holds the sender back is nevertheless probed, and time
/// goes on. Pages keep the windows small and their ends in need of probes.
#[test]
fn paced_senders_of_pages_probe_their_tails() {
    for profile in ["linux-bbr", "linux"] {
        let text = format!(
            "duration = '300 s'\ntopology = 'wlan'\nflows.count = 5\ntcp.profile = '{profile}'\n\
            remedies = ['bbr']\n[wlan]\nretry_limit = 2\nloss.rate = 0.3\n\
            [traffic]\napplication = 'http'\nhttp.page_interval = '3 s'\n"
        );
        let summary = summary(&scenario(&text), 1);
        assert!(sum(&summary, |flow| flow.sending.tail_probes) > 10);
        assert!(
            summary
                .flows
                .iter()
                .all(|flow| flow.at_end.cwnd_bytes < 1 << 32)
        );
    }
}

/// Losses after the access point are not repaired by the radio, and only data is lost there.
#[test]
fn wired_losses_are_of_data_and_not_the_radios() {
    let text = "duration = '60 s'\ntopology = 'wlan'\nflows.direction = 'down'\n\
        tcp.profile = 'sack'\n[wired]\ndelay = '25 ms'\nloss.rate = 0.01\n";
    let flow = &summary(&scenario(text), 1).flows[0];
    let lost = flow.losses.segments_lost_link as f64 / flow.sending.segments_sent as f64;
    assert!((lost - 0.01).abs() < 0.003, "lost {lost}");
    assert_eq!(flow.sending.timeouts_spurious, 0);
    let acks = text.replace(
        "loss.rate = 0.01",
        "loss = { rate = 0.01, direction = 'acks' }",
    );
    assert_eq!(
        summary(&scenario(&acks), 1).flows[0]
            .losses
            .segments_lost_link,
        0
    );
}

/// The injected delays lengthen the sender's timer: few timeouts are left. The cost is the delay
/// itself: acknowledgments wait, and on this link with a small window, waiting costs more than
/// timeouts.
#[test]
fn injected_delays_prevent_spurious_timeouts() {
    let (spikes, injected) = (
        pair(UPLOAD, "inf-retry", 1).1,
        pair(UPLOAD, "delay-injection", 1).1,
    );
    let (spikes, injected) = (&spikes.flows[0], &injected.flows[0]);
    assert_eq!(injected.losses.segments_lost_link, 0);
    assert!(
        injected.sending.timeouts * 3 < spikes.sending.timeouts,
        "{} of {}",
        injected.sending.timeouts,
        spikes.sending.timeouts
    );
    assert!(injected.delivery.goodput_bps < spikes.delivery.goodput_bps);
}

/// Klein et al.: one acknowledgment in 20 held for 100 ms. The same effect without learning: few
/// timeouts, and less goodput.
#[test]
fn static_and_random_delays_prevent_timeouts_too() {
    let spikes = pair(UPLOAD, "inf-retry", 1).1;
    for remedy in ["static-delay+inf-retry", "random-delay+inf-retry"] {
        let held = pair(UPLOAD, remedy, 1).1;
        let (timeouts, before) = (
            held.flows[0].sending.timeouts,
            spikes.flows[0].sending.timeouts,
        );
        assert!(timeouts * 2 < before, "{remedy}: {timeouts} of {before}");
        assert!(held.goodput_bps < spikes.goodput_bps, "{remedy}");
    }
}

/// Losses of the last hop are repaired there: the sender retransmits little, and its window grows.
/// The cost: the copies are sent on the radio, which carries, and loses, more.
#[test]
fn snoop_repairs_what_the_radio_loses() {
    let (without, with) = pair(LOSSY_HOP, "snoop", 2);
    assert!(
        with.goodput_bps > 1.4 * without.goodput_bps,
        "{}",
        with.goodput_bps
    );
    let resent = |summary: &RunSummary| {
        let flow = &summary.flows[0];
        flow.sending.segments_retransmitted as f64 / flow.sending.segments_sent as f64
    };
    assert!(resent(&with) < resent(&without) / 3.0);
    assert!(with.flows[0].losses.segments_lost_link > without.flows[0].losses.segments_lost_link);
}

/// The same with a separate window towards the mobile: still more goodput. The cost: packets wait
/// long in its buffer.
#[test]
fn wtcp_repairs_what_the_radio_loses() {
    let (without, with) = pair(LOSSY_HOP, "wtcp", 2);
    assert!(
        with.goodput_bps > 2.0 * without.goodput_bps,
        "{}",
        with.goodput_bps
    );
    let srtt = |summary: &RunSummary| summary.flows[0].at_end.srtt_ms.expect("a sample");
    assert!(srtt(&with) > 1.5 * srtt(&without));
}

/// A sender that measures by echoed timestamps (RFC 7323 §4.1) does not see the time that packets
/// spend in WTCP's buffer (Ratnam & Matta): its round trips are the path's, and with the echo
/// unchanged (`tick=0s`) they are not.
#[test]
fn wtcp_hides_its_buffer_from_a_sender_that_reads_echoes() {
    let text = LOSSY_HOP.replace("[link]", "tcp.rtt_sampling = 'echoed-timestamp'\n[link]");
    let srtt = |remedy| {
        let summary = pair(&text, remedy, 2).1;
        summary.flows[0].at_end.srtt_ms.expect("a sample")
    };
    let (hidden, shown) = (srtt("wtcp"), srtt("wtcp:tick=0s"));
    assert!(hidden < 0.7 * shown, "{hidden} ms, {shown} ms");
}

/// Two short loops instead of a long one: losses on the radio are repaired within 4 ms, and the
/// wired sender retransmits nothing for them. The cost is the meaning of an acknowledgment, which
/// no number shows, and the proxy's retransmissions, which one does.
#[test]
fn split_connections_repair_losses_over_the_last_hop() {
    let (without, with) = pair(LOSSY_HOP, "split-tcp", 1);
    assert!(
        with.goodput_bps > 3.0 * without.goodput_bps,
        "{}",
        with.goodput_bps
    );
    let flow = &with.flows[0];
    // Each loss on the radio costs the proxy a retransmission, and the wired sender nothing: its
    // retransmissions are of losses in its first overshoots of the wired queue.
    assert!(flow.proxy.proxy_segments_retransmitted >= flow.losses.segments_lost_link);
    assert!(flow.losses.segments_lost_link > 200 && flow.sending.fast_retransmits < 5);
    assert_eq!(without.flows[0].proxy.proxy_segments_sent, 0);
}

/// The sender is notified of each failed attempt while the link is away, and never times out. The
/// cost: with two losses in a row it would wait longer; here nothing is lost.
#[test]
fn notified_senders_do_not_time_out() {
    let (without, with) = pair(OUTAGES, "ebsn", 1);
    assert!(without.flows[0].sending.timeouts_spurious > 10);
    assert_eq!(with.flows[0].sending.timeouts, 0);
    assert_eq!(with.flows[0].sending.segments_retransmitted, 0);
    assert!(with.goodput_bps > without.goodput_bps);
}

/// A receiver that knows of the outage stops its sender beforehand: no timeout. The cost: the link
/// is idle from the warning on; with a warning of 2 s, for half of the remaining time.
#[test]
fn frozen_senders_do_not_time_out() {
    let (without, with) = pair(OUTAGES, "freeze-tcp", 1);
    assert!(without.flows[0].sending.timeouts_spurious > 10);
    assert_eq!(with.flows[0].sending.timeouts, 0);
    let early = pair(OUTAGES, "freeze-tcp:warning=2s", 1).1;
    assert!(early.goodput_bps < 0.8 * with.goodput_bps);
}

/// Attempts are spread over time, and over a burst of errors: far fewer packets are given up. The
/// cost: packets overtake each other, which senders take for losses.
#[test]
fn dynamic_arq_gives_up_fewer_packets_and_reorders_them() {
    let (without, with) = pair(BURSTS, "dynamic-arq", 1);
    let lost = |summary| sum(summary, |flow| flow.losses.segments_lost_link);
    assert!(
        lost(&with) * 2 < lost(&without),
        "{} of {}",
        lost(&with),
        lost(&without)
    );
    let repeats = |summary| sum(summary, |flow| flow.losses.duplicate_segments_received);
    assert!(repeats(&with) > 2 * repeats(&without));
}

/// The stations' channel depends on the seed, not on the remedy: of the first 50 frames of a
/// station that has lost nothing yet the same ones are damaged.
#[test]
fn every_remedy_meets_the_same_channel() {
    let text = "duration = '2 s'\ntopology = 'wlan'\nflows.direction = 'up'\nflows.count = 3\n\
                wlan.loss.rate = 0.1\n";
    let observe = Observe {
        air: true,
        ..Observe::default()
    };
    let fates = |remedies: &str| {
        let scenario = scenario(text).with_remedies(remedies).expect("remedies");
        let frames = run(&scenario, 5, &observe, &|_| true)
            .expect("a run")
            .frames;
        let station = frames.column(1).as_primitive::<UInt32Type>().clone();
        let kind = frames.column(4).as_dictionary::<UInt8Type>().clone();
        let fate = frames.column(7).as_dictionary::<UInt8Type>().clone();
        let name = |column: &DictionaryArray<UInt8Type>, row: usize| {
            let place = column.key(row).expect("a key");
            column.values().as_string::<i32>().value(place).to_owned()
        };
        (0..frames.num_rows())
            .filter(|&row| station.value(row) == 2 && name(&kind, row) == "data")
            .map(|row| name(&fate, row) == "damaged")
            .take(200)
            .collect::<Vec<_>>()
    };
    // Collided frames are not damaged by the radio: they are compared only where neither run has
    // one.
    let (plain, other) = (fates(""), fates("sack+min-rto"));
    let damaged = |fates: &[bool]| fates.iter().filter(|damaged| **damaged).count();
    assert!(damaged(&plain) > 5);
    assert_eq!(plain[..50], other[..50]);
}

/// Clients with files, pages and e-mail: each receives everything it should, in the end.
#[test]
fn applications_complete_their_transfers() {
    let text = "duration = '300 s'\ntopology = 'wlan'\nflows.count = 4\n[traffic]\napplication = 'mix'\n\
                ftp.size = '1 MB'\nmix = { ftp = 0.25, http = 0.5, email = 0.25 }\n";
    let summary = summary(&scenario(text), 1);
    let transfers: Vec<_> = summary
        .flows
        .iter()
        .map(|flow| flow.transfers.transfers_completed)
        .collect();
    assert!(transfers.iter().all(|count| *count > 0), "{transfers:?}");
    // A page a minute, five minutes: two readers.
    let pages = transfers.iter().copied().min();
    assert!(pages < Some(12), "{transfers:?}");
    for flow in &summary.flows {
        assert!(
            flow.transfers
                .transfer_mean_s
                .is_some_and(|seconds| seconds > 0.0 && seconds < 30.0)
        );
    }
}

/// A cell's round trips vary with the scheduler and the fading: the recorded series that paper 1
/// calls Trace 2.
#[test]
fn a_cell_makes_round_trips_vary() {
    let text = "duration = '60 s'\ntopology = 'cell'\n[cell]\nsaturated_users = 4\nblock_error = 0.05\n\
                radio = { fading = 'jakes', transmit_power_dbm = 40, path_loss_exponent = 3.5, \
                distance_m = 200 }\n";
    let observe = Observe {
        probes: ["rtt", "snr"]
            .map(|name| name.parse().expect("a probe"))
            .to_vec(),
        probe_interval: Some(Duration::from_millis(100)),
        ..Observe::default()
    };
    let samples = run(&scenario(text), 1, &observe, &|_| true)
        .expect("a run")
        .samples;
    let column = |index: usize| -> Vec<f64> {
        let column = samples.column(index).as_primitive::<Float64Type>();
        column.iter().flatten().collect()
    };
    let (rtts, signals) = (column(2), column(3));
    let spread = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        values.iter().copied().fold(0.0, f64::max) / least.max(1.0)
    };
    assert!(rtts.len() > 300 && spread(&rtts) > 3.0, "{}", spread(&rtts));
    assert!(signals.len() == 600);
}
