//! Runs in stretches, and the segments that they report.

use arrow_array::RecordBatch;
use arrow_array::types::{UInt32Type, UInt64Type};

use super::*;

const LOSSY: &str = "duration = '10 s'\nlink.loss.rate = 0.02\ntcp.profile = 'sack'";

fn observe() -> Observe {
    Observe {
        probes: Probe::all().collect(),
        probe_interval: Some(Duration::from_millis(25)),
        events: true,
        packets: true,
        ..Observe::default()
    }
}

/// Checks that the rows of `whole` from `from` on equal `part`; returns the start of the next part.
fn follows(whole: &RecordBatch, from: usize, part: &RecordBatch) -> usize {
    assert_eq!(&whole.slice(from, part.num_rows()), part);
    from + part.num_rows()
}

/// Neither the number of stretches nor their ends change a result: the reference is an
/// uninterrupted run.
#[test]
fn stretches_put_together_are_the_run() {
    for text in [
        LOSSY,
        "duration = '3 s'\ntopology = 'wlan'\nwlan.loss.rate = 0.1\nflows.count = 3",
    ] {
        let scenario = scenario(text);
        let whole = run(&scenario, 5, &observe(), &|_| true).expect("a run");
        for stretch in [
            Duration::from_micros(777_777),
            Duration::from_millis(25),
            Duration::from_secs(100),
        ] {
            let mut running = Running::new(&scenario, 5, &observe()).expect("a run");
            let (mut samples, mut events, mut packets) = (0, 0, 0);
            while running.now() < running.end() {
                running.advance(running.now() + stretch);
                let taken = running.take().expect("columns");
                samples = follows(&whole.samples, samples, &taken.samples);
                events = follows(&whole.events, events, &taken.events);
                packets = follows(&whole.packets, packets, &taken.packets);
            }
            let rest = running.finish().expect("a result");
            assert_eq!(rest.summary, whole.summary, "{stretch}");
            assert_eq!(samples, whole.samples.num_rows());
            assert_eq!(events, whole.events.num_rows());
            assert_eq!(packets, whole.packets.num_rows());
        }
    }
}

/// The endpoint's counters, and the probes' at the end.
#[test]
fn the_packets_are_those_that_the_sender_counts() {
    let whole = run(&scenario(LOSSY), 3, &observe(), &|_| true).expect("a run");
    let sending = whole.summary.flows[0].sending;
    let packets = &whole.packets;
    let flag = |name: &str| packets[name].as_boolean().clone();
    let bytes = packets["bytes"].as_primitive::<UInt32Type>();
    let (is_data, is_repeated) = (flag("is_data"), flag("is_retransmission"));
    let count = |matches: &dyn Fn(usize) -> bool| {
        let rows = (0..packets.num_rows()).filter(|&row| matches(row));
        u64::try_from(rows.count()).expect("a count")
    };
    let carries = |row: usize| is_data.value(row) && bytes.value(row) > 0;
    assert!(sending.segments_retransmitted > 10, "nothing to see");
    assert_eq!(count(&carries), sending.segments_sent);
    let repeated = |row: usize| carries(row) && is_repeated.value(row);
    assert_eq!(count(&repeated), sending.segments_retransmitted);

    let probe = |name: &str| {
        let column = whole.samples[name].as_primitive::<UInt64Type>();
        column.value(column.len() - 1)
    };
    assert_eq!(
        probe("retransmitted_segments"),
        sending.segments_retransmitted
    );

    // The cumulative acknowledgment never goes back, and ends with the data delivered, except for
    // acknowledgments still in flight.
    let acknowledged = packets["acknowledges"].as_primitive::<UInt64Type>();
    let acknowledged: Vec<u64> = acknowledged.iter().flatten().collect();
    assert!(acknowledged.is_sorted());
    let delivered = whole.summary.flows[0].delivery.delivered_bytes;
    let last = *acknowledged.last().expect("acknowledgments");
    assert!(
        last <= delivered && delivered - last < 200_000,
        "{last} {delivered}"
    );
}

/// A medium's retries as its flows count them at the end.
#[test]
fn the_probe_of_retries_ends_at_the_count() {
    let text = "duration = '2 s'\ntopology = 'wlan'\nwlan.loss.rate = 0.2";
    let whole = run(&scenario(text), 1, &observe(), &|_| true).expect("a run");
    let air = whole.summary.flows[0].air;
    let retries = whole.samples["mac_retries_frames"].as_primitive::<UInt64Type>();
    assert!(air.attempts_on_air > air.packets_on_air + 50);
    assert_eq!(
        retries.value(retries.len() - 1),
        air.attempts_on_air - air.packets_on_air
    );
}
