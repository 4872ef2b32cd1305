use super::*;
use crate::phy::family::Width;
use crate::phy::mode::Coding;

mod ns3;

use Family::{He, Ht, Vht};
use GuardInterval::{Ns400, Ns800, Ns1600, Ns3200};
use Width::{Mhz20, Mhz40, Mhz80, Mhz160};

fn mode(family: Family, index: u8, width: Width, streams: u8, guard: GuardInterval) -> Mode {
    Mode::new(family, index, width, streams, guard).unwrap()
}

/// With the convolutional code.
fn he_bcc(index: u8, streams: u8, guard: GuardInterval) -> Mode {
    let mode = mode(He, index, Mhz20, streams, guard);
    mode.with_coding(Coding::Bcc).unwrap()
}

/// Tenths of a microsecond.
fn time(mode: Mode, bytes: u32) -> u64 {
    let nanos = mode.ppdu_time(bytes, PacketPadding::None).as_nanos();
    assert_eq!(nanos % 100, 0);
    nanos / 100
}

/// By hand: 1542 bytes are 12336 bits, with service and tail 12358 (12364 for two encoders).
#[test]
fn frames_of_802_11n() {
    // 12358 / 260 = 47.53: 48 symbols of 4 µs after 36.
    assert_eq!(time(mode(Ht, 7, Mhz20, 1, Ns800), 1542), 2280);
    // 48 symbols of 3.6 µs are 172.8, which ends at 176.
    assert_eq!(time(mode(Ht, 7, Mhz20, 1, Ns400), 1542), 2120);
    // 12358 / 26 = 475.3: 476 symbols.
    assert_eq!(time(mode(Ht, 0, Mhz20, 1, Ns800), 1542), 360 + 19_040);
    // MCS 15 at 40 MHz: 1080 bits, 12 symbols (11.44) of 3.6 µs are 43.2, so 44 after 40.
    assert_eq!(time(mode(Ht, 7, Mhz40, 2, Ns400), 1542), 840);
    // MCS 23 at 40 MHz: 1620 bits, two encoders; 12364 / 1620 = 7.63: 8 symbols after 48.
    assert_eq!(time(mode(Ht, 7, Mhz40, 3, Ns800), 1542), 480 + 320);
    // 65535 bytes at MCS 7: 524302 bits in 2017 symbols (2016.5).
    assert_eq!(time(mode(Ht, 7, Mhz20, 1, Ns800), 65_535), 360 + 80_680);
}

#[test]
fn frames_of_802_11ac() {
    // MCS 9 at 80 MHz: 1560 bits, 7.92 symbols: 8 after 40.
    assert_eq!(time(mode(Vht, 9, Mhz80, 1, Ns800), 1542), 400 + 320);
    // Short: 28.8 µs end at 32.
    assert_eq!(time(mode(Vht, 9, Mhz80, 1, Ns400), 1542), 400 + 320);
    // MCS 8 at 20 MHz: 312 bits, 39.6 symbols: 40, short 144 µs, a multiple of 4 as it is.
    assert_eq!(time(mode(Vht, 8, Mhz20, 1, Ns400), 1542), 400 + 1440);
    // MCS 9 at 160 MHz with four streams: 12480 bits, six encoders; 100000 bytes are 800052 bits in
    // 65 symbols (64.1) after 52.
    assert_eq!(time(mode(Vht, 9, Mhz160, 4, Ns800), 100_000), 520 + 2600);
    // Where a tail bit decides: 1557 bytes and 22 bits are 12478, and one byte more crosses 12480.
    assert_eq!(time(mode(Vht, 9, Mhz80, 1, Ns800), 1557), 400 + 320);
    assert_eq!(time(mode(Vht, 9, Mhz80, 1, Ns800), 1558), 400 + 360);
}

#[test]
fn frames_of_802_11ax() {
    // MCS 9 at 20 MHz, BCC: 234·8·5/6 = 1560 bits, 8 symbols of 13.6 µs after 36 + 7.2.
    assert_eq!(time(he_bcc(9, 1, Ns800), 1542), 432 + 1088);
    // 1.6 µs: symbols of 14.4 after 36 + 8; 3.2 µs: of 16 after 36 + 16.
    assert_eq!(time(he_bcc(9, 1, Ns1600), 1542), 440 + 1152);
    assert_eq!(time(he_bcc(9, 1, Ns3200), 1542), 520 + 1280);
    // MCS 0 with two streams: 234 bits, 52.8 symbols: 53 after 36 + 2·7.2.
    assert_eq!(time(he_bcc(0, 2, Ns800), 1542), 504 + 7208);
    // MCS 11 at 80 MHz, LDPC: ⌊980·10·5/6⌋ = 8166 bits; 100000 bytes are 800016 bits, 97.97
    // symbols. Codewords: see the next test; 98 or 99 symbols.
    let wide = time(mode(He, 11, Mhz80, 1, Ns800), 100_000);
    assert!([432 + 98 * 136, 432 + 99 * 136].contains(&wide), "{wide}");
}

/// The standard's procedure in its variables and real numbers, as in its text.
fn ldpc_by_the_text(payload: f64, available: f64, rate: f64) -> bool {
    let (codewords, length) = if available <= 648.0 {
        let long = available >= payload + 912.0 * (1.0 - rate) - 1e-9;
        (1.0, if long { 1296.0 } else { 648.0 })
    } else if available <= 1296.0 {
        let long = available >= payload + 1464.0 * (1.0 - rate) - 1e-9;
        (1.0, if long { 1944.0 } else { 1296.0 })
    } else if available <= 1944.0 {
        (1.0, 1944.0)
    } else if available <= 2592.0 {
        let long = available >= payload + 2916.0 * (1.0 - rate) - 1e-9;
        (2.0, if long { 1944.0 } else { 1296.0 })
    } else {
        ((payload / (1944.0 * rate) - 1e-9).ceil(), 1944.0)
    };
    let shortened = (codewords * length * rate - payload).max(0.0);
    let punctured = (codewords * length - available - shortened).max(0.0);
    let parity = codewords * length * (1.0 - rate);
    let little = shortened < 1.2 * punctured * rate / (1.0 - rate) - 1e-6;
    (punctured > 0.1 * parity + 1e-6 && little) || punctured > 0.3 * parity + 1e-6
}

#[test]
fn ldpc_takes_another_symbol_where_the_text_does() {
    let mut extra = 0;
    for (family, width) in [(Ht, Mhz20), (Ht, Mhz40), (Vht, Mhz80)] {
        for index in 0..8 {
            let mode = mode(family, index, width, 1, Ns800)
                .with_coding(Coding::Ldpc)
                .unwrap();
            let (numerator, denominator) = mode.code_rate().fraction();
            let rate = numerator as f64 / denominator as f64;
            for bytes in 1..3000 {
                let bits = 16 + 8 * u64::from(bytes);
                let initial = bits.div_ceil(mode.data_bits_per_symbol());
                let payload = if family == Vht {
                    initial * mode.data_bits_per_symbol()
                } else {
                    bits
                };
                let available = initial * mode.coded_bits_per_symbol();
                let expected = ldpc_by_the_text(payload as f64, available as f64, rate);
                let symbols = mode.data_field(bytes).symbols;
                assert_eq!(symbols, initial + u64::from(expected), "{mode:?} {bytes}");
                extra += u32::from(expected);
            }
        }
    }
    assert!(extra > 100, "{extra}");
}

/// HE at 20 MHz, MCS 0: 117 bits a symbol, 30 a segment. 11 bytes and 22 bits are 110: one symbol,
/// its four segments (110 / 30 > 3). 12 bytes are 118 bits: one bit in the second symbol.
#[test]
fn packet_extension_follows_the_last_symbol() {
    let mode = he_bcc(0, 1, Ns800);
    let field = |symbols, segments| DataField { symbols, segments };
    assert_eq!(mode.data_field(11), field(1, 4));
    assert_eq!(mode.data_field(12), field(2, 1));
    assert_eq!(mode.data_field(16), field(2, 2));
    assert_eq!(mode.data_field(20), field(2, 3));
    assert_eq!(mode.data_field(24), field(2, 4));
    // 802.11ax-2021 table 27-46, in µs, for one to four segments.
    let extension = |padding: PacketPadding| [1, 2, 3, 4].map(|a| padding.extension_micros(a));
    assert_eq!(extension(PacketPadding::None), [0, 0, 0, 0]);
    assert_eq!(extension(PacketPadding::Micros8), [0, 0, 4, 8]);
    assert_eq!(extension(PacketPadding::Micros16), [4, 8, 12, 16]);
    let with = |bytes| mode.ppdu_time(bytes, PacketPadding::Micros16);
    assert_eq!(with(12), Duration::from_nanos(43_200 + 2 * 13_600 + 4_000));
}

/// A longer frame of the same mode never takes less time where a symbol's end does not depend on
/// codewords.
#[test]
fn longer_frames_take_longer() {
    for mode in [
        mode(Ht, 3, Mhz40, 2, Ns400),
        mode(Vht, 8, Mhz160, 3, Ns400),
        he_bcc(9, 4, Ns3200),
    ] {
        for padding in [PacketPadding::None, PacketPadding::Micros16] {
            let mut before = Duration::ZERO;
            for bytes in 0..5_000 {
                let time = mode.ppdu_time(bytes, padding);
                assert!(time >= before, "{mode:?} {bytes}");
                before = time;
            }
        }
    }
}
