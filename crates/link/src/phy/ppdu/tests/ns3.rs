//! The durations of ns-3.37, recorded by `benches/ns3/ppdu_durations.cc`.

use super::*;

const RECORDED: &str = include_str!("ns3.csv");
/// MCS 9 with three streams at 160 MHz has 11232 coded bits a symbol for five encoders: the
/// standard leaves it out, ns-3 does not.
const LEFT_OUT: &str = "vht,9,160,3,";

/// A frame's duration where ns-3.37 has it otherwise than the standard:
/// - VHT-SIG-B, 4 µs, is not sent to a single user (802.11-2020 §21.3.2 has it in every VHT PPDU);
/// - short symbols do not end with a long one (§19.4.3, §21.4.3);
/// - an HE-LTF takes 8 µs whatever the guard interval (802.11ax-2021 table 27-12);
/// - HE modes that need LDPC have the tail of a convolutional code (§27.3.12.5).
///
/// A packet extension is left out in both.
fn as_in_ns3(mode: Mode, bytes: u32) -> Duration {
    let guard = mode.guard_interval().nanos();
    let fields = match mode.streams() {
        1 => 1,
        2 => 2,
        _ => 4,
    };
    let bits = SERVICE_BITS + 8 * u64::from(bytes) + TAIL_BITS * mode.encoders();
    let (preamble, symbol) = match mode.family() {
        Ht => (mode.preamble_time().as_nanos(), 3_200 + guard),
        Vht => (mode.preamble_time().as_nanos() - 4_000, 3_200 + guard),
        _ => (36_000 + 8_000 * fields, 12_800 + guard),
    };
    let symbols = bits.div_ceil(mode.data_bits_per_symbol());
    if mode.coding() == Coding::Bcc {
        assert_eq!(mode.data_field(bytes).symbols, symbols);
    }
    Duration::from_nanos(preamble + symbols * symbol)
}

#[test]
fn durations_are_ns3s_with_its_deviations() {
    let mut cases = 0;
    for line in RECORDED.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |place: usize| fields[place].parse::<u64>().unwrap();
        let family = match fields[0] {
            "ht" => Ht,
            "vht" => Vht,
            _ => He,
        };
        let is_width = |width: &Width| u64::from(width.mhz()) == number(2);
        let is_guard = |guard: &GuardInterval| guard.nanos() == number(4);
        let mode = Mode::new(
            family,
            number(1) as u8,
            Width::ALL.into_iter().find(is_width).unwrap(),
            number(3) as u8,
            GuardInterval::ALL.into_iter().find(is_guard).unwrap(),
        );
        if line.starts_with(LEFT_OUT) {
            assert!(mode.is_err(), "{line}");
            continue;
        }
        let mode = mode.unwrap();
        let bytes = number(5) as u32;
        let recorded = Duration::from_nanos(number(6));
        assert_eq!(as_in_ns3(mode, bytes), recorded, "{line}");
        cases += 1;
    }
    assert_eq!(cases, 3_042);
}

/// ns-3 leaves out the other combinations that the standard does: each of ours is recorded three
/// times.
#[test]
fn modes_are_those_of_ns3() {
    let mut valid = 0;
    for family in [Ht, Vht, He] {
        for width in Width::ALL {
            for guard in GuardInterval::ALL {
                for streams in 1..=4 {
                    for index in 0..12 {
                        valid +=
                            usize::from(Mode::new(family, index, width, streams, guard).is_ok());
                    }
                }
            }
        }
    }
    let is_ours = |line: &&str| !line.starts_with(LEFT_OUT);
    assert_eq!(RECORDED.lines().filter(is_ours).count(), 3 * valid);
}
