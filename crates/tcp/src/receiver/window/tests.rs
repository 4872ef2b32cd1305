use super::*;

const MSS: u64 = 1448;
const RTT: Duration = Duration::from_millis(50);

fn autotuned(buffer: u64) -> Window {
    tuned_as(ReceiveWindow::Autotuned, buffer)
}

fn tuned_as(receive_window: ReceiveWindow, buffer: u64) -> Window {
    let config = Config {
        receive_window,
        receive_buffer: buffer,
        ..Config::default()
    };
    Window::new(&config, 1448)
}

const fn standing(next_expected: u64, read: u64) -> StreamPosition {
    StreamPosition {
        next_expected,
        read,
        behind_gaps: 0,
    }
}

/// `segments` in order over `span`, each read once it has arrived. Returns the number of them that
/// let the window grow.
fn arrive(window: &mut Window, from: &mut (Instant, u64), segments: u64, span: Duration) -> u64 {
    let mut grown = 0;
    for _ in 0..segments {
        from.0 += Duration::from_nanos(span.as_nanos().div_ceil(segments));
        from.1 += MSS;
        let here = standing(from.1, from.1);
        window.on_echo(from.0, RTT);
        let unread = standing(from.1, from.1 - MSS);
        grown += u64::from(window.on_segment(from.0, unread, MSS, true));
        window.on_read(from.1 - MSS, from.1, from.1);
        window.announce(here);
    }
    grown
}

fn offered(window: &Window, from: (Instant, u64)) -> u64 {
    window.announced() - from.1
}

/// Linux: `tcp_rmem[1]` of 131072 bytes gives a first window of 45 segments, with one kept back; it
/// grows by two for each that arrives, to 5/8 of the memory less the one that has just arrived;
/// each of them is acknowledged at once. A guest's 6.12 announces 67 072, 69 888, 72 960, 75 776,
/// 78 592 and 80 640 bytes, which are multiples of 256.
#[test]
fn the_first_window_is_45_segments_and_grows_by_two_for_one() {
    let mut window = autotuned(8 << 20);
    assert_eq!(window.announced(), 45 * MSS);
    let mut from = (Instant::ZERO + Duration::from_secs(1), 0);
    assert_eq!(
        arrive(&mut window, &mut from, 1, Duration::from_millis(1)),
        1
    );
    assert_eq!(offered(&window, from), 65_536 - MSS + 2 * MSS);
    let grown = arrive(&mut window, &mut from, 20, Duration::from_millis(20));
    assert_eq!(offered(&window, from), 81_920 - MSS);
    // (80 472 − 64 088 − 2896) / 2896 and the rest: five segments more.
    assert_eq!(grown, 5);
}

/// Steady reading of b bytes a round trip, after p before: 2b + 2 · 2b(b − p)/p (Linux,
/// `tcp_rcvbuf_grow`). A hundred segments after the first ten: 2 · 144 800 · (1 + 2 · 9), up to the
/// limit of the buffer.
#[test]
fn the_buffer_follows_what_is_read_in_a_round_trip() {
    for (most, expected) in [(8 << 20, 2 * 100 * MSS * 19), (1 << 20, 1 << 20)] {
        let mut window = autotuned(most);
        let mut from = (Instant::ZERO + Duration::from_secs(1), 0);
        // A hundred; the last completes a round trip since the first.
        arrive(&mut window, &mut from, 1, Duration::from_nanos(1));
        arrive(&mut window, &mut from, 99, RTT);
        let buffer = window.tuning.as_ref().map(|tuning| tuning.buffer);
        assert_eq!(buffer, Some(expected));
        // The same repeated widens nothing.
        arrive(&mut window, &mut from, 300, RTT * 3);
        let buffer = window.tuning.as_ref().map(|tuning| tuning.buffer);
        assert_eq!(buffer, Some(expected));
    }
}

/// Linux 6.1 and 6.12 hold 16 segments more: 2 · (144 800 + 8 · 1448) · (1 + 2 · 9). On 6.1 the
/// first window does not grow until then; neither adds data after a gap.
#[test]
fn older_kernels_hold_sixteen_segments_more() {
    for (kernel, first) in [
        (ReceiveWindow::Autotuned61, 0),
        (ReceiveWindow::Autotuned612, 6),
    ] {
        let mut window = tuned_as(kernel, 8 << 20);
        let mut from = (Instant::ZERO + Duration::from_secs(1), 0);
        let grown = arrive(&mut window, &mut from, 1, Duration::from_nanos(1))
            + arrive(&mut window, &mut from, 50, RTT / 2);
        assert_eq!(grown, first, "{kernel:?}");
        arrive(&mut window, &mut from, 49, RTT - RTT / 2);
        let buffer = |window: &Window| window.tuning.as_ref().map(|tuning| tuning.buffer);
        let expected = Some((2 * 100 + 16) * MSS * 19);
        assert_eq!(buffer(&window), expected, "{kernel:?}");
        let here = standing(from.1, from.1);
        window.on_gap(here, MSS, from.1 + (7 << 20), true);
        assert_eq!(buffer(&window), expected, "{kernel:?}");
    }
}

/// The application reads once the kernel has decided on the acknowledgment: the segment that
/// completes a round trip finds the old buffer, which is full, and the next one a larger.
#[test]
fn the_buffer_grows_for_the_next_segment() {
    let mut window = autotuned(8 << 20);
    let mut from = (Instant::ZERO + Duration::from_secs(1), 0);
    arrive(&mut window, &mut from, 1, Duration::from_nanos(1));
    let end_of_round = from.0 + RTT;
    arrive(&mut window, &mut from, 30, RTT / 2);
    for (number, grows) in [(1, false), (2, true)] {
        let end = from.1 + MSS;
        let grew = window.on_segment(end_of_round, standing(end, from.1), MSS, true);
        assert_eq!(grew, grows, "segment {number}");
        window.on_read(from.1, end, end);
        from.1 = end;
    }
}

/// Reports are held back by the shorter of two round trips (Linux, `__tcp_ack_snd_check`).
#[test]
fn the_handshake_bounds_the_round_trip() {
    let mut window = autotuned(8 << 20);
    let handshake = RTT / 2;
    window.on_handshake(handshake);
    assert_eq!(window.round_trip(), None, "none is known of data");
    window.on_echo(Instant::ZERO + Duration::from_secs(1), RTT);
    assert_eq!(window.round_trip(), Some(handshake));
    window.on_handshake(RTT * 2);
    assert_eq!(window.round_trip(), Some(RTT));
}

/// Data that a filled gap makes readable at once has waited, and is no rate: the kernel checks
/// after the first segment of it, with the others still to be read, and begins a new round trip.
#[test]
fn a_filled_gap_begins_a_new_round_trip() {
    for (waits, widens) in [(30, false), (0, true)] {
        let mut window = autotuned(8 << 20);
        let mut from = (Instant::ZERO + Duration::from_secs(1), 0);
        arrive(&mut window, &mut from, 1, Duration::from_nanos(1));
        let now = from.0 + RTT;
        arrive(&mut window, &mut from, 39 - waits, RTT / 2);
        let end = from.1 + (1 + waits) * MSS;
        let before = window.tuning.as_ref().map(|tuning| tuning.buffer);
        window.on_segment(now, standing(end, from.1), MSS, true);
        window.on_read(from.1, end, end);
        let buffer = window.tuning.as_ref().map(|tuning| tuning.buffer);
        assert_eq!(buffer > before, widens, "{waits} segments had waited");
    }
}

/// Without SACK only duplicates inform the peer of arrivals, and one with another window is not a
/// duplicate (RFC 5681 §2): the edge stays as long as the gap does. With SACK it moves.
#[test]
fn behind_a_gap_the_window_grows_with_sack_alone() {
    for (sack, moves) in [(false, false), (true, true)] {
        let mut window = autotuned(8 << 20);
        let mut from = (Instant::ZERO + Duration::from_secs(1), 0);
        arrive(&mut window, &mut from, 100, RTT);
        let here = standing(from.1, from.1);
        let before = window.announce(here);
        for segment in 2..50 {
            window.on_gap(here, MSS, from.1 + segment * MSS, sack);
            window.announce(here);
        }
        assert_eq!(window.announced() > before, moves, "SACK {sack}");
    }
}

/// Data after a gap has taken its memory (`tcp_space`): of 81 920 bytes 41 920 are left, so that
/// the edge at 65 160 stays while 20 segments fill the first gaps, and grows by no segment.
#[test]
fn what_waits_behind_a_gap_holds_the_edge() {
    let mut window = autotuned(8 << 20);
    let now = Instant::ZERO + Duration::from_secs(1);
    for segment in 1..=16 {
        let here = StreamPosition {
            behind_gaps: 40_000,
            ..standing(segment * MSS, segment * MSS)
        };
        assert!(!window.on_segment(now, here, MSS, true), "{segment}");
        assert_eq!(window.announce(here), 65_160, "{segment}");
    }
    // 17 · 1448 + 41 920 is the first beyond the edge, by less than a segment.
    let here = StreamPosition {
        behind_gaps: 40_000,
        ..standing(18 * MSS, 18 * MSS)
    };
    assert_eq!(window.announce(here), 18 * MSS + 41_920);
    let filled = standing(60 * MSS, 60 * MSS);
    assert!(window.on_segment(now, filled, MSS, true));
}

/// Without timestamps a round trip is the shortest time that a whole window takes.
#[test]
fn a_round_trip_without_timestamps_is_that_of_a_window() {
    let mut window = autotuned(8 << 20);
    let mut now = Instant::ZERO + Duration::from_secs(1);
    let mut next = 0;
    for _ in 0..400 {
        now += Duration::from_millis(1);
        next += MSS;
        window.on_segment(now, standing(next, next), MSS, true);
    }
    let tuning = window.tuning.as_ref();
    // 64 088 bytes after the first segment: 45 segments, one per millisecond.
    let round_trip = tuning.and_then(|tuning| tuning.round_trip);
    assert_eq!(round_trip, Some(Duration::from_millis(45)));
}

/// Unread data occupies room.
#[test]
fn unread_data_takes_room() {
    let mut window = autotuned(8 << 20);
    let now = Instant::ZERO + Duration::from_secs(1);
    for segment in 1..=40 {
        window.on_segment(now, standing(segment * MSS, 0), MSS, true);
    }
    let end = window.announce(standing(40 * MSS, 0));
    assert_eq!(end, 81_920);
    assert!(!window.is_reopened(standing(40 * MSS, 0)));
}
