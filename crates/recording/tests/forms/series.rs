//! One series of probes, which every form is to be read as.

use airtcp_recording::{ProbeLog, parse};
use airtcp_units::Duration;

pub const PROBES: u64 = 300;
pub const LOST: usize = 24;

/// Round trips in tenths of a millisecond; every twelfth or so is lost.
pub fn series() -> Vec<Option<u64>> {
    let is_lost = |number: u64| number % 12 == 7 && number < 12 * LOST as u64;
    (0..PROBES)
        .map(|number| (!is_lost(number)).then_some(203 + number * 37 % 60))
        .collect()
}

pub fn ms(tenths: u64) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

pub fn read(bytes: &[u8], name: &str) -> ProbeLog {
    let found = parse(bytes, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    found.probes.unwrap_or_else(|| panic!("{name}: no probes"))
}

pub fn assert_read(bytes: &[u8], name: &str, unit: u64) {
    let log = read(bytes, name);
    assert_eq!(log.lost(), LOST as u64, "{name}");
    let expected: Vec<Duration> = series()
        .into_iter()
        .flatten()
        .map(|tenths| Duration::from_micros(tenths * 100 / unit * unit))
        .collect();
    let found: Vec<Duration> = log.replies().iter().map(|one| one.round_trip).collect();
    assert_eq!(found, expected, "{name}");
}

/// The first part of a text, and the last that begins after a reply.
pub fn written(each: impl Fn(u64, Option<u64>) -> String) -> String {
    (0..)
        .zip(series())
        .map(|(number, rtt)| each(number, rtt))
        .collect()
}
