use super::*;
use crate::loss_detection::Answerable;

const MSS: u64 = 1000;
/// The longest timeout.
const MAX: Duration = Duration::from_secs(120);

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

/// Ten segments, the index-th sent at `index` ms, with a watched scoreboard.
struct Flight {
    board: Scoreboard,
    rack: Rack,
}

impl Flight {
    fn new() -> Self {
        let mut flight = Self {
            board: Scoreboard::default(),
            rack: Rack::new(3),
        };
        flight.board.watch_deliveries();
        for index in 0..10 {
            let range = index * MSS..(index + 1) * MSS;
            let segment = SentSegment::new(&range, at(index));
            flight.rack.on_sent(&segment);
            flight.board.push(segment);
        }
        flight
    }

    /// SACKs the segments from `from` to before `to` at `now`.
    fn report(&mut self, now: u64, from: u64, to: u64) {
        let highest = self.board.highest_sacked();
        self.board.begin(Answerable::default(), 0);
        let block = from * MSS..to * MSS;
        self.board.sack(std::slice::from_ref(&block));
        let delivery = self.board.delivery().expect("watched").clone();
        self.rack.on_delivery(at(now), &delivery, highest, MSS);
    }

    /// A round trip and a reordering window.
    fn within(&self, window: u64) -> Tolerance {
        Tolerance {
            time: self.rack.rtt(MAX) + milliseconds(window),
            segments: None,
        }
    }

    fn detect(&mut self, now: u64, window: u64) -> (u64, Option<Duration>) {
        let within = self.within(window);
        let detected = self.rack.detect(at(now), &mut self.board, within, false);
        (detected.lost / MSS, detected.wait)
    }

    fn lost(&self) -> String {
        self.board
            .iter()
            .filter(|segment| segment.is_lost() && !segment.is_resent())
            .map(|segment| (segment.start / MSS).to_string())
            .collect()
    }
}

/// RFC 8985 §6.2 step 5 by hand: segment 4, sent at 4 ms, is SACKed at 104: a round trip of 100 ms.
/// With no window everything before it is lost; after it, nothing.
#[test]
fn what_was_sent_before_what_arrived_is_lost() {
    let mut flight = Flight::new();
    flight.report(104, 4, 5);
    assert_eq!(flight.detect(104, 0), (4, None));
    assert_eq!(flight.lost(), "0123");
    // Nothing more without a further delivery.
    assert_eq!(flight.detect(200, 0), (0, None));
}

/// With a window of 25 ms the segments sent at 0 to 3 ms are late at 125 to 128: the longest wait
/// is 24 ms from 104 ms.
#[test]
fn within_the_window_nothing_is_lost_but_a_timer_waits() {
    let mut flight = Flight::new();
    flight.report(104, 4, 5);
    assert_eq!(flight.detect(104, 25), (0, Some(milliseconds(24))));
    let within = flight.within(25);
    let forced = flight.rack.detect(at(128), &mut flight.board, within, true);
    assert_eq!((forced.lost, forced.wait), (4 * MSS, None));
}

/// Data sent before a segment that is reported an hour after it was sent is lost by then, and not
/// waited for as if the next reports took an hour as well.
#[test]
fn a_round_trip_counts_at_most_as_the_longest_timeout() {
    let mut flight = Flight::new();
    let hour = 3_600_000;
    flight.report(hour, 4, 5);
    assert_eq!(flight.rack.rtt(Duration::MAX), milliseconds(hour - 4));
    assert_eq!(flight.rack.rtt(MAX), MAX);
    assert_eq!(flight.detect(hour, 25), (4, None));
}

/// RFC 8985 §4.2: a retransmission is lost when something sent after it arrives.
#[test]
fn a_retransmission_can_be_lost_too() {
    let mut flight = Flight::new();
    flight.report(104, 4, 5);
    flight.detect(104, 0);
    let again = flight.board.resend(0, at(105), Instant::FAR_FUTURE);
    flight.rack.on_sent(&again);
    assert_eq!(flight.lost(), "123");
    let new = SentSegment::new(&(10 * MSS..11 * MSS), at(106));
    flight.rack.on_sent(&new);
    flight.board.push(new);
    flight.report(206, 10, 11);
    let within = flight.within(0);
    let detected = flight
        .rack
        .detect(at(206), &mut flight.board, within, false);
    assert!(detected.retransmission);
    assert_eq!(flight.lost(), "012356789");
}

/// Simultaneous transmissions are in the order in which they left: a retransmission after new data
/// is not lost once that has arrived, and one before it is.
#[test]
fn in_one_instant_the_order_of_departure_counts() {
    for (new_first, lost) in [(true, "12356789"), (false, "012356789")] {
        let mut flight = Flight::new();
        flight.report(104, 4, 5);
        flight.detect(104, 0);
        let send_new = |flight: &mut Flight| {
            let sent_at = flight.rack.stamp(at(105), 10 * MSS);
            let new = SentSegment::new(&(10 * MSS..11 * MSS), sent_at);
            flight.rack.on_sent(&new);
            flight.board.push(new);
        };
        if new_first {
            send_new(&mut flight);
        }
        let sent_at = flight.rack.stamp(at(105), 0);
        let again = flight.board.resend(0, sent_at, Instant::FAR_FUTURE);
        flight.rack.on_sent(&again);
        if !new_first {
            send_new(&mut flight);
        }
        flight.report(206, 10, 11);
        let within = flight.within(0);
        let detected = flight
            .rack
            .detect(at(206), &mut flight.board, within, false);
        assert_eq!(
            (detected.retransmission, flight.lost()),
            (!new_first, lost.to_owned())
        );
    }
}

/// New data, then two retransmissions, all of one instant, are later one by one.
#[test]
fn each_transmission_is_later_than_the_one_before() {
    let mut rack = Rack::new(3);
    let sent = [10, 11, 0, 1, 12].map(|segment| (rack.stamp(at(105), segment * MSS), segment));
    assert!(sent.is_sorted(), "{sent:?}");
    assert_eq!(
        sent[1].0,
        at(105),
        "in the order of the stream nothing needs telling apart"
    );
    // Later in time is later, whatever the offset in the stream.
    assert_eq!(rack.stamp(at(106), 0), at(106));
}

/// RFC 8985 §6.2 step 4: no window while losses are evident and no reordering is known; then a
/// quarter of the minimum round trip, another quarter for a round trip with duplicates, at most the
/// mean.
#[test]
fn the_window_grows_with_reordering_and_duplicates() {
    let mut flight = Flight::new();
    let (least, srtt) = (milliseconds(100), milliseconds(120));
    assert_eq!(flight.rack.window(true, least, srtt), Duration::ZERO);
    assert_eq!(flight.rack.window(false, least, srtt), milliseconds(25));
    assert!(!flight.rack.reordering_seen());
    flight.report(104, 4, 5);
    flight.report(105, 2, 3);
    assert!(flight.rack.reordering_seen());
    assert_eq!(flight.rack.reordering(), 3);
    assert_eq!(flight.rack.window(true, least, srtt), milliseconds(25));
    flight.rack.on_duplicate_reported(0, 10 * MSS);
    flight.rack.on_duplicate_reported(0, 10 * MSS);
    assert_eq!(
        flight.rack.window(true, least, srtt),
        milliseconds(50),
        "once a round trip"
    );
    for round in 1..10 {
        flight
            .rack
            .on_duplicate_reported(10 * round * MSS, 10 * (round + 1) * MSS);
    }
    assert_eq!(flight.rack.window(true, least, srtt), srtt);
    for _ in 0..16 {
        flight.rack.on_recovered();
    }
    assert_eq!(flight.rack.window(true, least, srtt), milliseconds(25));
}

#[test]
fn what_is_acknowledged_is_forgotten() {
    let mut flight = Flight::new();
    flight.rack.on_acknowledged(10 * MSS);
    assert!(flight.rack.sent.is_empty());
}

/// Linux, `tcp_undo_cwnd_reduction`: undoing a timeout unmarks the segments that it presumed lost,
/// and segments sent before the retransmission that arrived are still found lost. Segments 0 to 9
/// are given up, the first is retransmitted, and detection stops watching the others.
#[test]
fn what_is_in_flight_again_is_watched_again() {
    let mut flight = Flight::new();
    flight.board.mark_lost_from(0);
    let again = flight.board.resend(0, at(300), Instant::FAR_FUTURE);
    flight.rack.on_sent(&again);
    flight.report(400, 0, 1);
    assert_eq!(flight.detect(400, 0), (0, None), "they are lost already");
    flight.board.unmark_lost(|_| Instant::FAR_FUTURE);
    flight.rack.look_again();
    assert_eq!(flight.detect(400, 0), (0, None), "nobody watches them");
    flight.rack.watch_again(&flight.board);
    flight.rack.look_again();
    assert_eq!(flight.detect(400, 0), (9, None));
}

/// RFC 9002 §6.1.1 by hand: three segments later is lost at once, two or one wait for 9/8 of the
/// round trip of 100 ms.
#[test]
fn three_segments_or_nine_eighths_of_a_round_trip_are_tolerated() {
    let mut flight = Flight::new();
    flight.report(104, 4, 5);
    let tolerance = Tolerance {
        time: Duration::from_micros(112_500),
        segments: Some(3),
    };
    let detected = flight
        .rack
        .detect(at(104), &mut flight.board, tolerance, false);
    assert_eq!(flight.lost(), "01");
    assert_eq!(detected.latest, Some(at(1)));
    // The first of the others, sent at 2 ms, not the last, as RACK.
    assert_eq!(detected.wait, Some(Duration::from_micros(10_500)));
    let detected = flight
        .rack
        .detect(at(114), &mut flight.board, tolerance, true);
    assert_eq!(
        (detected.lost, detected.wait),
        (0, Some(Duration::from_micros(500)))
    );
    let now = at(114) + Duration::from_micros(500);
    flight.rack.detect(now, &mut flight.board, tolerance, true);
    assert_eq!(flight.lost(), "012");
}

/// A retransmission has a new packet number in QUIC (RFC 9002 §4.2): three segments sent since are
/// as many as for any other, although their data is older or newer.
#[test]
fn a_retransmission_counts_in_the_order_of_transmissions() {
    let mut flight = Flight::new();
    let tolerance = Tolerance {
        time: Duration::from_secs(1),
        segments: Some(3),
    };
    flight.report(103, 3, 4);
    flight
        .rack
        .detect(at(103), &mut flight.board, tolerance, false);
    assert_eq!(flight.lost(), "0");
    let again = flight.board.resend(0, at(105), Instant::FAR_FUTURE);
    flight.rack.on_sent(&again);
    for index in 10..13 {
        let range = index * MSS..(index + 1) * MSS;
        let segment = SentSegment::new(&range, at(100 + index));
        flight.rack.on_sent(&segment);
        flight.board.push(segment);
    }
    flight.report(211, 11, 12);
    flight
        .rack
        .detect(at(211), &mut flight.board, tolerance, false);
    assert_eq!(
        flight.lost(),
        "12456789",
        "two later than the retransmission of 0"
    );
    flight.report(212, 12, 13);
    let detected = flight
        .rack
        .detect(at(212), &mut flight.board, tolerance, false);
    assert!(detected.retransmission, "three later");
}

/// The example of RFC 9002 §7.6.3, in seconds: packets 2 to 8 are lost, from 1 to 8 s, when 9 is
/// acknowledged at 12.2 s. `probed` is retransmitted in place of packets 8 and 9.
fn persistent_congestion(probed: Option<u64>) -> (Outage, Flight) {
    let mut flight = Flight {
        board: Scoreboard::default(),
        rack: Rack::new(3),
    };
    flight.board.watch_deliveries();
    let send = |flight: &mut Flight, number: u64, seconds: u64| {
        let segment = SentSegment::new(&(number * MSS..(number + 1) * MSS), at(seconds * 1000));
        flight.rack.on_sent(&segment);
        flight.board.push(segment);
    };
    send(&mut flight, 0, 0);
    send(&mut flight, 1, 1);
    flight.report(1200, 0, 1);
    for number in 2..7 {
        send(&mut flight, number, number);
    }
    let newest = match probed {
        None => {
            send(&mut flight, 7, 8);
            send(&mut flight, 8, 12);
            8
        }
        Some(index) => {
            for seconds in [8, 12] {
                let place = usize::try_from(index).unwrap();
                let again = flight
                    .board
                    .resend(place, at(seconds * 1000), Instant::FAR_FUTURE);
                flight.rack.on_sent(&again);
            }
            index
        }
    };
    flight.board.begin(Answerable::default(), 0);
    let block = newest * MSS..(newest + 1) * MSS;
    flight.board.sack(std::slice::from_ref(&block));
    let latest = flight.board.delivery().unwrap().latest.unwrap();
    assert_eq!(latest.sent_at, at(12_000));
    let tolerance = Tolerance {
        time: milliseconds(1350),
        segments: Some(3),
    };
    let una = flight.board.front().unwrap().start;
    flight
        .rack
        .note_outage(at(12_200), &flight.board, (una, latest), tolerance);
    (flight.rack.take_outage().unwrap(), flight)
}

#[test]
fn the_outage_of_the_example_lasts_seven_seconds() {
    let (outage, mut flight) = persistent_congestion(None);
    let seven = milliseconds(7000);
    assert_eq!((outage.lasted, outage.replaced), (seven, None));
    assert_eq!(flight.rack.take_outage(), None);
    // The same where probes repeat packet 2: its first transmission and the first probe are lost.
    let (outage, _) = persistent_congestion(Some(1));
    assert_eq!((outage.lasted, outage.replaced), (seven, Some(at(8000))));
}
