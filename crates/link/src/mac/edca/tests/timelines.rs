//! Exchanges by hand, and invariants.

use proptest::prelude::*;

use super::*;
use crate::frame::{Fate, FrameKind, Occupancy};

#[derive(Default)]
struct Seen(Vec<(u32, FrameKind, u64, u64, Fate, u32, u32)>);

impl ChannelObserver for Seen {
    fn occupied(&mut self, frame: &Occupancy) {
        let micros = |at: Instant| at.as_nanos() / 1000;
        self.0.push((
            frame.station,
            frame.frame,
            micros(frame.start),
            micros(frame.end),
            frame.fate,
            frame.mpdus,
            frame.damaged,
        ));
    }
}

/// Runs until all is done; packets delivered, and packets given up.
fn run(bss: &mut Edca<u32>, seen: &mut Seen) -> (Vec<u32>, Vec<u32>) {
    let (mut delivered, mut given_up) = (Vec::new(), Vec::new());
    while bss.next_wakeup() < Instant::FAR_FUTURE {
        let now = bss.next_wakeup();
        bss.on_wakeup(now, seen);
        assert!(bss.next_wakeup() >= now, "woken in the past");
        while let Some(outcome) = bss.poll() {
            match outcome {
                Outcome::Delivered { packet, .. } => delivered.push(packet),
                Outcome::Discarded {
                    packet,
                    arrived: false,
                    ..
                } => given_up.push(packet),
                _ => {}
            }
        }
    }
    (delivered, given_up)
}

/// No back-off: windows of no slots.
fn exact(stations: u32) -> EdcaConfig {
    let mut config = config(stations, mcs_7());
    for access in &mut config.access {
        (access.smallest_window, access.largest_window) = (0, 0);
    }
    config
}

/// Four packets of 1500 bytes arrive at one instant at an idle channel, at the end of its AIFS and
/// 106 slots, and leave at once, together: subframes of 1544 bytes and a last one of 1542, 36 µs of
/// preamble and symbols of 260 bits. The last of every three MPDUs is damaged, so the third. SIFS
/// of 16 µs, a block ACK of 32 µs at 24 Mbit/s, AIFS of 43 µs; the damaged one follows by itself:
/// 1538 bytes are 12326 bits with service and tail, 48 symbols, 36 + 192 µs. Its ACK takes 28 µs,
/// and all is in order.
#[test]
fn an_aggregate_by_hand() {
    let mut config = exact(1);
    config.damage = DamageConfig {
        model: ErrorModel::Block { period: 3, lost: 1 },
        ..DamageConfig::default()
    };
    let mut bss: Edca<u32> = Edca::new(&config, Stream::new(1, "wlan")).unwrap();
    let now = Instant::ZERO + Duration::from_micros(43 + 106 * 9);
    for packet in 0..4 {
        assert!(bss.push(now, (1, 0), offer(0, IP_BYTES), packet, &mut ()));
    }
    let mut seen = Seen::default();
    let (delivered, _) = run(&mut bss, &mut seen);
    use Fate::Received;
    use FrameKind::{Ack, BlockAck, Data};
    let all = seen.0;
    let psdu = 3 * 1544 + 1542;
    let symbols = (16 + 8 * psdu + 6_u64).div_ceil(260);
    let ends = 997 + 36 + 4 * symbols;
    assert_eq!(all[0], (1, Data, 997, ends, Received, 4, 1));
    assert_eq!(all[1], (0, BlockAck, ends + 16, ends + 48, Received, 1, 0));
    let again = ends + 48 + 43;
    assert_eq!(all[2], (1, Data, again, again + 228, Received, 1, 0));
    assert_eq!(all[3], (0, Ack, again + 244, again + 272, Received, 1, 0));
    assert_eq!(all.len(), 4);
    assert_eq!(delivered, [0, 1, 2, 3]);
}

/// All MPDUs of an aggregate are damaged: there is no block ACK, and it is retransmitted after
/// SIFS, a slot, 20 µs of preamble and AIFS, with the same numbers.
#[test]
fn a_lost_aggregate_is_not_answered() {
    let mut config = exact(1);
    config.mobile_retry_limit = attempts(2);
    config.damage = losing(1.0);
    let mut bss: Edca<u32> = Edca::new(&config, Stream::new(1, "wlan")).unwrap();
    for packet in 0..3 {
        assert!(bss.push(
            Instant::ZERO + Duration::from_millis(1),
            (1, 0),
            offer(0, 100),
            packet,
            &mut ()
        ));
    }
    let mut seen = Seen::default();
    let (delivered, given_up) = run(&mut bss, &mut seen);
    assert_eq!((delivered, given_up), (vec![], vec![0, 1, 2]));
    let data: Vec<_> = seen
        .0
        .iter()
        .filter(|frame| frame.1 == FrameKind::Data)
        .collect();
    assert_eq!(data.len(), 2);
    assert_eq!(data[1].2 - data[0].3, 16 + 9 + 20 + 43);
    // The receiver is informed that it need not wait: a request, and its block ACK.
    let last: Vec<_> = seen.0.iter().rev().take(2).map(|frame| frame.1).collect();
    assert_eq!(last, [FrameKind::BlockAck, FrameKind::BlockAckRequest]);
}

fn any_config() -> impl Strategy<Value = EdcaConfig> {
    let scheme = prop::sample::select(vec![
        Queueing::Fifo,
        Queueing::Qdisc(QueueLimit::Packets(5)),
        Queueing::RoundRobin,
        Queueing::Airtime(crate::scheduler::airtime::AirtimeLimits::default()),
    ]);
    let numbers = (1..=3_u32, 1..=70_u16, 1..=70_u16, 0..=4_u32);
    let categories = prop::sample::select(vec![
        vec![AccessCategory::BestEffort],
        vec![AccessCategory::Voice, AccessCategory::Background],
        AccessCategory::ALL.to_vec(),
    ]);
    let flags = (any::<bool>(), any::<bool>(), 0.0..0.7_f64);
    (scheme, numbers, categories, flags).prop_map(
        |(scheme, (stations, window, mpdus, limit), categories, (requests, rts, loss))| {
            let mut config = config(stations, mcs_7());
            let queueing = QueueingConfig {
                scheme,
                ..config.mobile
            };
            (config.mobile, config.access_point) = (queueing, queueing);
            config.block_ack.window = window;
            config.block_ack.requests = requests;
            config.ampdu.mpdus = mpdus;
            config.categories = categories;
            config.rts_threshold = rts.then_some(1000);
            config.mobile_retry_limit =
                NonZeroU32::new(limit).map_or(RetryLimit::Unlimited, RetryLimit::Attempts);
            config.access_point_retry_limit = config.mobile_retry_limit;
            config.damage = losing(loss);
            config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is pushed is delivered once, or given up; of one station, category and destination
    /// in the order in which it was pushed; and frames do not overlap but in a collision.
    #[test]
    fn nothing_is_lost_doubled_or_reordered(
        config in any_config(),
        packets in prop::collection::vec((0..3_u64, any::<bool>(), 0..8_u32, 40..1500_u32), 1..200),
        seed in any::<u64>(),
    ) {
        let mut bss: Edca<u32> = Edca::new(&config, Stream::new(seed, "wlan")).unwrap();
        let mut seen = Seen::default();
        let (mut now, mut delivered, mut given_up) = (Instant::ZERO, Vec::new(), 0);
        let mut ways = Vec::new();
        for (packet, &(gap, up, flow, bytes)) in (0..).zip(&packets) {
            now += Duration::from_millis(gap);
            while bss.next_wakeup() < now {
                let at = bss.next_wakeup();
                bss.on_wakeup(at, &mut seen);
                while let Some(outcome) = bss.poll() {
                    match outcome {
                        Outcome::Delivered { packet, .. } => delivered.push(packet),
                        Outcome::Discarded { arrived: false, .. } => given_up += 1,
                        _ => {}
                    }
                }
            }
            let mobile = flow % config.stations + 1;
            let (from, to) = if up { (mobile, 0) } else { (0, mobile) };
            let category = config.categories[flow as usize % config.categories.len()];
            ways.push((from, to, category));
            prop_assert!(bss.push(now, (from, to), offer(flow, bytes), packet, &mut ()));
        }
        let (more, lost) = run(&mut bss, &mut seen);
        delivered.extend(more);
        given_up += lost.len();
        prop_assert_eq!(delivered.len() + given_up, packets.len());
        for way in &ways {
            let own = delivered.iter().filter(|&&packet| ways[packet as usize] == *way);
            prop_assert!(own.clone().is_sorted(), "{way:?}");
            prop_assert!(own.collect::<Vec<_>>().windows(2).all(|pair| pair[0] != pair[1]));
        }
        let mut busy_until = 0;
        for frame in seen.0 {
            let collided = frame.4 == Fate::Collided;
            prop_assert!(collided || frame.2 >= busy_until, "{frame:?}");
            busy_until = busy_until.max(frame.3);
        }
    }
}
