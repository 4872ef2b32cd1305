//! Retry limits of single mobiles, in place of the limits that all stations of a channel share.

use super::stations::in_turn;
use crate::frame::RetryLimit;

/// Limits of frames in one direction, by mobile: `None` for the limit of the channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnRetryLimits {
    /// Of mobiles from 1 on, cyclically; empty if no mobile has its own.
    limits: Vec<Option<RetryLimit>>,
}

impl OwnRetryLimits {
    /// The limits of mobiles, which take them in turn.
    #[must_use]
    pub fn taken_in_turn(limits: &[RetryLimit]) -> Self {
        Self {
            limits: limits.iter().copied().map(Some).collect(),
        }
    }

    /// Number of limits that mobiles take in turn.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.limits.len()
    }

    /// Whether all mobiles have the limit of the channel.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// The limit of a mobile, if it has its own.
    #[inline]
    #[must_use]
    pub fn of(&self, mobile: u32) -> Option<RetryLimit> {
        in_turn(&self.limits, mobile).copied().flatten()
    }

    /// Gives `mobile`, one of `stations`, its own limit; the others keep theirs. Returns whether
    /// there is such a mobile.
    #[must_use]
    pub fn set(&mut self, mobile: u32, stations: u32, limit: RetryLimit) -> bool {
        let Some(place) = mobile.checked_sub(1).filter(|_| mobile <= stations) else {
            return false;
        };
        self.limits = (1..=stations).map(|each| self.of(each)).collect();
        self.limits[place as usize] = Some(limit);
        true
    }
}

/// The limits of mobiles in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StationRetryLimits {
    /// Of frames that a mobile sends.
    pub from_mobile: OwnRetryLimits,
    /// Of frames that the access point sends to a mobile.
    pub to_mobile: OwnRetryLimits,
}

impl StationRetryLimits {
    /// The same limits in both directions.
    #[must_use]
    pub fn both_ways(limits: &[RetryLimit]) -> Self {
        let own = OwnRetryLimits::taken_in_turn(limits);
        Self {
            from_mobile: own.clone(),
            to_mobile: own,
        }
    }

    /// The limit of a frame from a mobile to the access point, or from there to a mobile.
    #[inline]
    #[must_use]
    pub fn of(&self, from: u32, to: u32) -> Option<RetryLimit> {
        if from == crate::frame::ACCESS_POINT {
            self.to_mobile.of(to)
        } else {
            self.from_mobile.of(from)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn attempts(limit: u32) -> RetryLimit {
        RetryLimit::Attempts(NonZeroU32::new(limit).unwrap())
    }

    #[test]
    fn one_mobile_gets_a_limit_and_the_others_keep_theirs() {
        let mut own = OwnRetryLimits::default();
        assert!(own.is_empty());
        assert!(own.set(2, 3, RetryLimit::Unlimited));
        let all = [1, 2, 3].map(|mobile| own.of(mobile));
        assert_eq!(all, [None, Some(RetryLimit::Unlimited), None]);

        let mut own = OwnRetryLimits::taken_in_turn(&[attempts(1), attempts(2)]);
        assert!(own.set(3, 4, attempts(9)));
        let all = [1, 2, 3, 4].map(|mobile| own.of(mobile));
        assert_eq!(all, [1, 2, 9, 2].map(|limit| Some(attempts(limit))));

        for mobile in [0, 5] {
            assert!(!own.set(mobile, 4, attempts(1)), "{mobile}");
        }
    }

    #[test]
    fn a_frame_has_the_limit_of_its_mobile() {
        let own = StationRetryLimits {
            from_mobile: OwnRetryLimits::taken_in_turn(&[attempts(1), attempts(2)]),
            to_mobile: OwnRetryLimits::default(),
        };
        assert_eq!(own.of(2, 0), Some(attempts(2)));
        assert_eq!(own.of(0, 2), None);
    }
}
