//! Several packets in an MPDU: durations of PPDUs, and the cost of an error.

use super::*;
use crate::frame::{FrameKind, Occupancy};

#[derive(Default)]
struct Data(Vec<(u32, Duration)>);

impl ChannelObserver for Data {
    fn occupied(&mut self, seen: &Occupancy) {
        if seen.frame == FrameKind::Data {
            self.0.push((seen.mpdus, seen.end - seen.start));
        }
    }
}

fn with(amsdu: u32, mpdus: u16) -> EdcaConfig {
    let mut config = config(1, mcs_7());
    config.ampdu.amsdu = amsdu;
    config.ampdu.mpdus = mpdus;
    config
}

/// The packets of IP_BYTES that arrive, and the PPDUs they come in.
fn send(config: &EdcaConfig, packets: u32) -> (Vec<u32>, Vec<(u32, Duration)>) {
    let mut bss: Edca<u32> = Edca::new(config, Stream::new(1, "wlan")).unwrap();
    for packet in 0..packets {
        assert!(bss.push(Instant::ZERO, (1, 0), offer(0, IP_BYTES), packet, &mut ()));
    }
    let (mut delivered, mut seen) = (Vec::new(), Data::default());
    while bss.next_wakeup() < Instant::FAR_FUTURE {
        bss.on_wakeup(bss.next_wakeup(), &mut seen);
        while let Some(outcome) = bss.poll() {
            if let Outcome::Delivered { packet, .. } = outcome {
                delivered.push(packet);
            }
        }
    }
    assert_eq!(bss.queued_packets(1, 0), 0);
    (delivered, seen.0)
}

/// 3839 bytes hold two packets of 1500: 14 + 1508, padded to 1524, and 14 + 1508 make 3046, with
/// header and FCS 3076. Without A-MPDU that is a single MPDU: (16 + 8·3076 + 6)/260 rounds up to 95
/// symbols of 4 µs after 36 µs of preamble. 7935 bytes hold five: 4·1524 + 1522 + 30 = 7648, 236
/// symbols.
#[test]
fn durations_are_those_of_the_whole_mpdu() {
    for (amsdu, packets, micros) in [(3839, 2, 36 + 95 * 4), (7935, 5, 36 + 236 * 4)] {
        let (delivered, ppdus) = send(&with(amsdu, 1), 2 * packets);
        assert_eq!(delivered, (0..2 * packets).collect::<Vec<_>>());
        assert_eq!(ppdus, [(1, Duration::from_micros(micros)); 2]);
    }
}

/// ns-3.37, 802.11n, MCS 7, 20 MHz, saturated UDP: an A-MSDU lifts 30.7 to 41.1 Mbit/s without
/// A-MPDU: two packets, the limit of 3839 bytes.
#[test]
fn goodput_without_ampdu_is_ns_3s() {
    /// Payload of its packets.
    const PAYLOAD: u32 = 1470;
    let run = |amsdu| saturate(&with(amsdu, 1), &[(1, 0)], IP_BYTES, 10, 1).all_megabits(PAYLOAD);
    let (alone, short, long) = (run(0), run(3839), run(7935));
    println!("alone {alone:.1}, 3839 bytes {short:.1}, 7935 bytes {long:.1} Mbit/s");
    assert!((short / 41.1 - 1.0).abs() < 0.02, "{short}");
    assert!(long > short && short > alone);
}

/// With A-MPDU an A-MSDU of two packets gains less than a few percent, as in ns-3 (0.1 to 0.7 %).
#[test]
fn beside_ampdu_it_gains_little() {
    let run =
        |amsdu| saturate(&with(amsdu, 256), &[(1, 0)], IP_BYTES, 10, 1).all_megabits(IP_BYTES);
    let gain = run(3839) / run(0) - 1.0;
    println!("gain {gain:.4}");
    assert!((0.0..0.02).contains(&gain), "{gain}");
}

/// All packets of a damaged MPDU are lost with it: with half of the MPDUs damaged and one attempt
/// half of the packets arrive, in pairs.
#[test]
fn packets_of_an_mpdu_share_its_fate() {
    let config = EdcaConfig {
        damage: losing(0.5),
        mobile_retry_limit: attempts(1),
        ..with(3839, 256)
    };
    let (delivered, _) = send(&config, 4000);
    assert!(delivered.len().is_multiple_of(2));
    for pair in delivered.chunks(2) {
        assert!(
            pair[0].is_multiple_of(2) && pair[1] == pair[0] + 1,
            "{pair:?}"
        );
    }
    let share = delivered.len() as f64 / 4000.0;
    assert!((share - 0.5).abs() < 0.05, "{share}");
}

/// Retransmitted until they arrive they come in order, each once.
#[test]
fn retries_keep_packets_in_order() {
    let config = EdcaConfig {
        damage: losing(0.3),
        ..with(3839, 256)
    };
    let (delivered, _) = send(&config, 1001);
    assert_eq!(delivered, (0..1001).collect::<Vec<_>>());
}
