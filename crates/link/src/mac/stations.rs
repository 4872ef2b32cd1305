//! The stations of a basic service set.

/// Maximum number of stations of a set: association identifiers go up to 2007 (IEEE 802.11-2020
/// §9.4.1.8).
pub(super) const MAX_STATIONS: u32 = 2007;

/// The element of `list` for a mobile, for mobiles from 1 on cyclically; `None` if it is empty.
#[inline]
pub(super) fn in_turn<T>(list: &[T], mobile: u32) -> Option<&T> {
    let place = (mobile.saturating_sub(1) as usize).checked_rem(list.len())?;
    list.get(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mobiles_take_turns_from_the_first() {
        let of = |list: &[char]| [1, 2, 3, 4].map(|mobile| in_turn(list, mobile).copied());
        assert_eq!(
            of(&['a', 'b']),
            [Some('a'), Some('b'), Some('a'), Some('b')]
        );
        assert_eq!(of(&[]), [None; 4]);
    }
}
