//! The mapping of LDPC codewords to symbols (IEEE 802.11-2020 §19.3.11.7.5).

use super::signal::CodeRate;

/// Number of codewords and their length, for these numbers of bits in payload and symbols (table
/// 19-16).
fn codewords(payload: u64, available: u64, rate: CodeRate) -> (u64, u64) {
    let (numerator, denominator) = rate.fraction();
    // Whether `available` has room for a longer codeword's parity: payload + spare·(1 - R).
    let has_room = |spare: u64| {
        available * denominator >= payload * denominator + spare * (denominator - numerator)
    };
    match available {
        0..=648 => (1, if has_room(912) { 1296 } else { 648 }),
        649..=1296 => (1, if has_room(1464) { 1944 } else { 1296 }),
        1297..=1944 => (1, 1944),
        1945..=2592 => (2, if has_room(2916) { 1944 } else { 1296 }),
        _ => ((payload * denominator).div_ceil(1944 * numerator), 1944),
    }
}

/// Whether the punctured parity bits would be too many without another symbol (step d).
pub(super) fn punctures_too_much(payload: u64, available: u64, rate: CodeRate) -> bool {
    let (numerator, denominator) = rate.fraction();
    let (count, length) = codewords(payload, available, rate);
    let information = count * length * numerator / denominator;
    let shortened = information.saturating_sub(payload);
    let punctured = (count * length).saturating_sub(available + shortened);
    let parity = count * length - information;
    // 0.1, 1.2·R/(1 - R) and 0.3.
    let is_shortened_little =
        10 * shortened * (denominator - numerator) < 12 * punctured * numerator;
    (10 * punctured > parity && is_shortened_little) || 10 * punctured > 3 * parity
}
