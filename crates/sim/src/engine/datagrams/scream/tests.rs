//! A sender and a receiver over a link.

use airtcp_units::BitRate;

use super::*;

const CONFIG: Scream = Scream {
    start: BitRate::from_bps(300_000),
    least: BitRate::from_bps(150_000),
    most: BitRate::from_bps(5_000_000),
    frame: Duration::from_millis(40),
    size: 1000,
};
/// One way, without the queue.
const DELAY: Duration = Duration::from_millis(25);

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// The outcome of a run of a flow of media.
struct Seen {
    sender: Sender,
    /// Times at which packets left, how long they waited in the link's queue, and their bytes.
    packets: Vec<(Instant, Duration, u32)>,
}

impl Seen {
    /// Bits a second from `from` to `to`, in seconds.
    fn rate(&self, from: u64, to: u64) -> f64 {
        let (from, to) = (at(1000 * from), at(1000 * to));
        let sent = self.packets.iter();
        let bytes: u64 = sent
            .filter(|(left, ..)| (from..to).contains(left))
            .map(|(.., bytes)| u64::from(*bytes))
            .sum();
        bytes as f64 * 8.0 / (to - from).as_secs_f64()
    }

    /// The delay in the queue that a share of the packets from `from` on, in seconds, exceeds.
    fn delay(&self, from: u64, share: f64) -> Duration {
        let later = self
            .packets
            .iter()
            .filter(|(left, ..)| *left >= at(1000 * from));
        let mut delays: Vec<Duration> = later.map(|(_, waited, _)| *waited).collect();
        delays.sort();
        delays[((1.0 - share) * delays.len() as f64) as usize]
    }
}

/// A flow over a link of `bps` for that many seconds; `loses` has the numbers that are lost.
fn flow(bps: impl Fn(Instant) -> f64, seconds: u64, loses: impl Fn(u64) -> bool) -> Seen {
    let mut sender = Sender::new(CONFIG, Instant::ZERO);
    let mut receiver = Receiver::new(Instant::ZERO);
    let mut arrivals: VecDeque<(Instant, u64, Instant, u32)> = VecDeque::new();
    let mut reports: VecDeque<(Instant, Report)> = VecDeque::new();
    let (mut free, mut index) = (Instant::ZERO, 0);
    let mut packets = Vec::new();
    let mut now = Instant::ZERO;
    while now < at(1000 * seconds) {
        while let Some((_, index, sent, bytes)) = arrivals.pop_front_if(|next| next.0 <= now) {
            receiver.on_arrival(now, index, sent, bytes.into());
        }
        while let Some((_, report)) = reports.pop_front_if(|next| next.0 <= now) {
            sender.on_report(now, &report);
        }
        if let Some(report) = receiver.take_report(now) {
            reports.push_back((now + DELAY, report));
        }
        sender.wake(now);
        while let Some(bytes) = sender.poll(now) {
            let seconds = f64::from(bytes + 40) * 8.0 / bps(now);
            let begins = free.max(now);
            free = begins + Duration::from_secs_f64(seconds).expect("a short time");
            sender.on_sent(now, index, bytes);
            packets.push((now, begins - now, bytes));
            if !loses(index) {
                arrivals.push_back((free + DELAY, index, now, bytes));
            }
            index += 1;
        }
        let events = [
            arrivals.front().map(|next| next.0),
            reports.front().map(|next| next.0),
        ];
        let next = events.into_iter().flatten().min();
        now = sender
            .next()
            .min(receiver.next())
            .min(next.unwrap_or(Instant::FAR_FUTURE))
            .max(now + Duration::from_nanos(1));
    }
    Seen { sender, packets }
}

/// Alone on a link of 1 Mbit/s the rate comes near it, and the queue stays at the target of 100 ms.
#[test]
fn alone_it_uses_the_link_with_a_short_queue() {
    let seen = flow(|_| 1e6, 60, |_| false);
    let rate = seen.rate(30, 60);
    assert!((0.7e6..1.0e6).contains(&rate), "{rate}");
    let delay = seen.delay(30, 0.05);
    assert!(delay < Duration::from_millis(150), "{delay}");
}

/// A link faster than the encoder is used up to the encoder's largest rate.
#[test]
fn a_fast_link_is_used_up_to_the_encoders_rate() {
    let seen = flow(|_| 50e6, 60, |_| false);
    let rate = seen.rate(50, 60);
    assert!((rate / 5e6 - 1.0).abs() < 0.05, "{rate}");
    assert!(seen.delay(30, 0.05) < Duration::from_millis(20));
}

/// At a tenth of the rate the sender's rate falls below the link's within seconds.
#[test]
fn it_follows_a_link_that_becomes_slow() {
    let slow = |now| if now < at(30_000) { 3e6 } else { 3e5 };
    let seen = flow(slow, 60, |_| false);
    assert!(seen.rate(20, 30) > 1.5e6);
    let rate = seen.rate(40, 60);
    assert!((1.4e5..3.1e5).contains(&rate), "{rate}");
    assert!(seen.delay(45, 0.05) < Duration::from_millis(400));
}

/// A lost packet in fifty: the window and the rate are lower than without, and never below the
/// least.
#[test]
fn losses_lower_the_rate() {
    let clean = flow(|_| 3e6, 60, |_| false).rate(30, 60);
    let lossy = flow(|_| 3e6, 60, |index| index % 50 == 7).rate(30, 60);
    assert!(
        (1.4e5..0.8 * clean).contains(&lossy),
        "{lossy}, clean {clean}"
    );
}

/// A path that loses a dozen packets in a row, one every half second, is used afterwards.
#[test]
fn an_outage_ends() {
    let seen = flow(|_| 2e6, 60, |index| (300..312).contains(&index));
    assert!(seen.rate(50, 60) > 1e6, "{}", seen.rate(50, 60));
    assert!(seen.sender.in_flight < 50_000);
}

/// A packet that is merely late widens the window in which others may be late (§4.1.2.4).
#[test]
fn a_late_packet_teaches_patience() {
    let mut sender = Sender::new(CONFIG, Instant::ZERO);
    for index in 0..6 {
        sender.on_sent(at(index), index, 1000);
    }
    let report = |newest, received: &[u64]| Report {
        newest,
        sent: at(newest),
        arrived: at(newest + 25),
        received: received.to_vec(),
    };
    assert!(
        sender.take_losses(at(60), &report(2, &[0, 2])),
        "1 is missing"
    );
    assert!(!sender.take_losses(at(75), &report(2, &[1])), "it was late");
    assert_eq!(sender.reordering, Duration::from_millis(15));
    assert!(
        !sender.take_losses(at(80), &report(4, &[4])),
        "3 may be late too"
    );
    assert!(
        sender.take_losses(at(96), &report(5, &[5])),
        "but not for longer"
    );
}
