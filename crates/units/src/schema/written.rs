//! The form of a setting in a configuration file, where it has bounds and may be left out.

use super::bounded::{Bytes, Limit, Real, Span, Whole, Within};
use crate::{BitRate, ByteCount, Duration};

/// The value under a key for a setting of type `T`.
pub trait Written<T>: Sized {
    /// Returns the setting. A `key` that is left out is filled in with `usual`.
    fn fill(key: &mut Option<Self>, usual: &T) -> T;
}

/// Switches and named choices are stored as they are.
impl<T: Copy> Written<T> for T {
    fn fill(key: &mut Option<Self>, usual: &T) -> T {
        *key.get_or_insert(*usual)
    }
}

impl<const MIN: u64, const MAX: u64> Written<u32> for Whole<MIN, MAX> {
    fn fill(key: &mut Option<Self>, usual: &u32) -> u32 {
        key.get_or_insert(Self::clamped((*usual).into())).get_u32()
    }
}

impl<const MIN: u64, const MAX: u64> Written<u8> for Whole<MIN, MAX> {
    fn fill(key: &mut Option<Self>, usual: &u8) -> u8 {
        const { assert!(MAX <= u8::MAX as u64) };
        key.get_or_insert(Self::clamped((*usual).into())).get_u32() as u8
    }
}

impl<const MIN: i64, const MAX: i64> Written<f64> for Real<MIN, MAX> {
    fn fill(key: &mut Option<Self>, usual: &f64) -> f64 {
        key.get_or_insert(Self::clamped(*usual)).get()
    }
}

impl<const MIN: u64, const MAX: u64> Written<Duration> for Span<MIN, MAX> {
    fn fill(key: &mut Option<Self>, usual: &Duration) -> Duration {
        key.get_or_insert(Self::clamped(*usual)).get()
    }
}

impl<const MIN: u64, const MAX: u64> Written<u64> for Bytes<MIN, MAX> {
    fn fill(key: &mut Option<Self>, usual: &u64) -> u64 {
        key.get_or_insert(bytes(*usual)).get().as_bytes()
    }
}

impl<const MIN: u64, const MAX: u64> Written<u32> for Bytes<MIN, MAX> {
    fn fill(key: &mut Option<Self>, usual: &u32) -> u32 {
        const { assert!(MAX <= u32::MAX as u64) };
        key.get_or_insert(bytes((*usual).into())).get().as_bytes() as u32
    }
}

impl<const MIN: u64, const MAX: u64> Written<BitRate> for Within<BitRate, MIN, MAX> {
    fn fill(key: &mut Option<Self>, usual: &BitRate) -> BitRate {
        key.get_or_insert(Self::clamped(*usual)).get()
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<u32>> for Limit<Whole<MIN, MAX>> {
    fn fill(key: &mut Option<Self>, usual: &Option<u32>) -> Option<u32> {
        key.get_or_insert(usual.map(|most| Whole::clamped(most.into())).into())
            .get_u32()
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<u64>> for Limit<Bytes<MIN, MAX>> {
    fn fill(key: &mut Option<Self>, usual: &Option<u64>) -> Option<u64> {
        let most = key.get_or_insert(usual.map(bytes).into()).at();
        most.map(|most| most.get().as_bytes())
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<u32>> for Limit<Bytes<MIN, MAX>> {
    fn fill(key: &mut Option<Self>, usual: &Option<u32>) -> Option<u32> {
        const { assert!(MAX <= u32::MAX as u64) };
        let most = key.get_or_insert(usual.map(|most| bytes(most.into())).into());
        most.at().map(|most| most.get().as_bytes() as u32)
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<BitRate>> for Limit<Within<BitRate, MIN, MAX>> {
    fn fill(key: &mut Option<Self>, usual: &Option<BitRate>) -> Option<BitRate> {
        key.get_or_insert(usual.map(Within::clamped).into())
            .at()
            .map(Within::get)
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<Duration>> for Limit<Span<MIN, MAX>> {
    fn fill(key: &mut Option<Self>, usual: &Option<Duration>) -> Option<Duration> {
        key.get_or_insert(usual.map(Within::clamped).into())
            .at()
            .map(Within::get)
    }
}

fn bytes<const MIN: u64, const MAX: u64>(count: u64) -> Bytes<MIN, MAX> {
    Within::clamped(ByteCount::from_bytes(count))
}
