use super::*;

fn phy(standard: Standard, preamble: Preamble, data: u64, control: u64) -> Phy {
    let rate = |kilobits: u64| BitRate::from_bps(kilobits * 1000);
    Phy::new(standard, preamble, rate(data), rate(control)).unwrap()
}

fn micros(duration: Duration) -> u64 {
    assert_eq!(duration.as_nanos() % 1000, 0);
    duration.as_nanos() / 1000
}

fn vht(index: u8) -> Mode {
    use crate::phy::family::{GuardInterval, Width};
    Mode::new(Family::Vht, index, Width::Mhz20, 1, GuardInterval::Ns800).unwrap()
}

/// A block ACK at 24 Mbit/s: 278 bits are 3 symbols of 96, 32 µs; for 256 MPDUs 470 bits, 5
/// symbols; a request 214 bits, 3 symbols. RTS 182 bits: 2 symbols. At 5 GHz best effort waits
/// 43 µs; at 2.4 GHz frames have 6 µs more, and SIFS 6 less.
#[test]
fn frames_of_the_link_beside_aggregates() {
    let phy = Phy::in_modes(Standard::Ac, vht(7), BasicRates::OFDM).unwrap();
    let answer = phy.answer_mode(vht(7));
    assert_eq!(answer, Mode::OFDM_24);
    let time = |phy: &Phy, frame| micros(phy.control_time(frame, answer));
    assert_eq!(time(&phy, ControlFrame::BlockAck { window: 64 }), 32);
    assert_eq!(time(&phy, ControlFrame::BlockAck { window: 256 }), 40);
    assert_eq!(time(&phy, ControlFrame::BlockAckRequest), 32);
    assert_eq!((micros(phy.rts_time()), micros(phy.cts_time())), (28, 28));
    assert_eq!((micros(phy.aifs(3)), micros(phy.eifs())), (43, 94));
    assert_eq!(
        phy.control_time(ControlFrame::Ack, phy.answer_mode(vht(0))),
        { Duration::from_micros(44) }
    );
    let mode = Mode::new(Family::Ht, 7, vht(7).width(), 1, vht(7).guard_interval()).unwrap();
    let narrow = Phy::in_modes(Standard::N, mode, BasicRates::OFDM)
        .and_then(|phy| phy.in_band(Band::Ghz2_4))
        .unwrap();
    assert_eq!(time(&narrow, ControlFrame::BlockAck { window: 64 }), 38);
    assert_eq!((micros(narrow.aifs(3)), micros(narrow.difs())), (37, 28));
    // 1542 bytes: 12358 bits in 48 symbols of 260.
    assert_eq!(micros(narrow.data_time(1542)), 36 + 48 * 4 + 6);
}

/// 1536 bytes at 11 Mbit/s are 1117.09 µs: 1118 after 192. An ACK of 14 bytes: 112, 56 or 10.2 µs
/// at 1, 2 and 11 Mbit/s.
#[test]
fn frames_of_802_11b() {
    let long = phy(Standard::B, Preamble::Long, 11_000, 1_000);
    assert_eq!(micros(long.data_time(1536)), 1310);
    assert_eq!(
        (micros(long.ack_time()), micros(long.rts_time())),
        (304, 352)
    );
    assert_eq!((micros(long.difs()), micros(long.eifs())), (50, 364));
    assert_eq!(micros(long.answer_timeout()), 10 + 20 + 192);
    let short = phy(Standard::B, Preamble::Short, 11_000, 11_000);
    assert_eq!(micros(short.data_time(1536)), 96 + 1118);
    assert_eq!(
        (micros(short.ack_time()), micros(short.eifs())),
        (96 + 11, 268)
    );
    // Frames of 1 Mbit/s have the long preamble.
    let mixed = phy(Standard::B, Preamble::Short, 11_000, 1_000);
    assert_eq!(micros(mixed.ack_time()), 304);
}

/// 1536 bytes at 6 Mbit/s are 12310 bits with service and tail, 513 symbols of 24; at 54, 57
/// symbols of 216. An ACK at 6 Mbit/s: 134 bits, 6 symbols (notes: 44 µs, EIFS 94).
#[test]
fn frames_of_802_11a_and_g() {
    let a = phy(Standard::A, Preamble::Long, 6_000, 6_000);
    assert_eq!(micros(a.data_time(1536)), 20 + 513 * 4);
    assert_eq!(
        (micros(a.ack_time()), micros(a.difs()), micros(a.eifs())),
        (44, 34, 94)
    );
    assert_eq!(micros(a.answer_timeout()), 16 + 9 + 20);
    let fast = phy(Standard::A, Preamble::Long, 54_000, 24_000);
    assert_eq!(micros(fast.data_time(1536)), 20 + 57 * 4);
    assert_eq!(micros(fast.ack_time()), 20 + 2 * 4);
    let g = phy(Standard::G, Preamble::Long, 54_000, 24_000);
    assert_eq!(micros(g.data_time(1536)), 20 + 57 * 4 + 6);
    assert_eq!((micros(g.difs()), micros(g.ack_time())), (28, 34));
}

/// 1536 bytes are 12288 bits after 192 µs, or 12310 in symbols of 24 to 216 bits after 20 µs: 12310
/// / 36 = 341.9, / 48 = 256.5, / 72 = 170.97, / 96 = 128.2, / 144 = 85.5, / 192 = 64.1, / 216 =
/// 56.99.
#[test]
fn data_frames_of_every_mode() {
    for (rate, bits_time) in [
        (1_000, 12_288),
        (2_000, 6_144),
        (5_500, 2_235),
        (11_000, 1_118),
    ] {
        let long = phy(Standard::B, Preamble::Long, rate, 1_000);
        assert_eq!(micros(long.data_time(1536)), 192 + bits_time);
    }
    for (megabits, symbols) in [
        (6, 513),
        (9, 342),
        (12, 257),
        (18, 171),
        (24, 129),
        (36, 86),
        (48, 65),
        (54, 57),
    ] {
        let a = phy(Standard::A, Preamble::Long, megabits * 1000, 6_000);
        let g = phy(Standard::G, Preamble::Long, megabits * 1000, 6_000);
        assert_eq!(micros(a.data_time(1536)), 20 + 4 * symbols);
        assert_eq!(micros(g.data_time(1536)), 20 + 4 * symbols + 6);
    }
}

#[test]
fn what_is_no_physical_layer_is_refused() {
    let rate = |kilobits: u64| BitRate::from_bps(kilobits * 1000);
    let refused = |standard, preamble, data, control| {
        Phy::new(standard, preamble, rate(data), rate(control))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(Standard::B, Preamble::Long, 6_000, 1_000),
        "6 Mbit/s is no rate of 802.11b; it has 1 Mbit/s, 2 Mbit/s, 5.5 Mbit/s, 11 Mbit/s"
    );
    assert_eq!(
        refused(Standard::B, Preamble::Long, 2_000, 11_000),
        "control frames at 11 Mbit/s are faster than data frames at 2 Mbit/s; choose a basic \
         rate of at most that"
    );
    assert_eq!(
        refused(Standard::A, Preamble::Short, 6_000, 6_000),
        "802.11a has one preamble; only 802.11b has a short one"
    );
    assert_eq!(
        refused(Standard::N, Preamble::Long, 6_000, 6_000),
        "6 Mbit/s is no rate of 802.11n; it has modes, by MCS, channel width, streams and \
         guard interval"
    );
    let ac = Phy::in_modes(Standard::Ac, vht(7), BasicRates::OFDM).unwrap();
    assert_eq!(
        ac.in_band(Band::Ghz2_4).unwrap_err().to_string(),
        "802.11ac is not used at 2.4 GHz"
    );
    assert_eq!(
        Phy::in_modes(Standard::N, vht(7), BasicRates::OFDM)
            .unwrap_err()
            .to_string(),
        "MCS 7, 1 stream, 20 MHz, 800 ns is no mode of 802.11n"
    );
    let fast = BasicRates::of(&[Mode::OFDM_24]);
    assert_eq!(
        Phy::in_modes(Standard::Ac, vht(0), fast)
            .unwrap_err()
            .to_string(),
        "control frames at 24 Mbit/s are faster than data frames at 6 Mbit/s; choose a basic \
         rate of at most that"
    );
}
