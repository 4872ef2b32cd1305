//! The form of a setting in a configuration file, where it has bounds and may be left out.

use super::bounded::{Bytes, Limit, Real, Span, Whole, Within};
use crate::{BitRate, ByteCount, Duration};

/// The value under a key for a setting of type `T`.
pub trait Written<T>: Clone {
    /// The form of `setting` in a file, or the nearest within the bounds.
    fn of(setting: &T) -> Self;

    /// The setting; `usual` is it where the file leaves it to others.
    fn setting(&self, usual: &T) -> T;

    /// The same value with whatever it leaves out as in `usual`.
    #[must_use]
    fn completed(&self, _usual: &T) -> Self {
        self.clone()
    }
}

/// The setting under `key`, or `usual` if it was left out.
pub fn read<T, W: Written<T>>(key: &Option<W>, usual: &T) -> T {
    match key {
        Some(written) => written.setting(usual),
        None => W::of(usual).setting(usual),
    }
}

/// The value under `key`, or the form of `usual` if it was left out.
pub fn completed<T, W: Written<T>>(key: &Option<W>, usual: &T) -> Option<W> {
    Some(match key {
        Some(written) => written.completed(usual),
        None => W::of(usual),
    })
}

/// Switches, named choices and tables are stored as they are.
impl<T: Clone> Written<T> for T {
    fn of(setting: &T) -> Self {
        setting.clone()
    }

    fn setting(&self, _: &T) -> T {
        self.clone()
    }
}

impl<const MIN: u64, const MAX: u64> Written<u32> for Whole<MIN, MAX> {
    fn of(setting: &u32) -> Self {
        Self::clamped((*setting).into())
    }

    fn setting(&self, _: &u32) -> u32 {
        self.get_u32()
    }
}

impl<const MIN: u64, const MAX: u64> Written<u8> for Whole<MIN, MAX> {
    fn of(setting: &u8) -> Self {
        Self::clamped((*setting).into())
    }

    fn setting(&self, _: &u8) -> u8 {
        const { assert!(MAX <= u8::MAX as u64) };
        self.get_u32() as u8
    }
}

impl<const MIN: i64, const MAX: i64> Written<f64> for Real<MIN, MAX> {
    fn of(setting: &f64) -> Self {
        Self::clamped(*setting)
    }

    fn setting(&self, _: &f64) -> f64 {
        self.get()
    }
}

impl<const MIN: u64, const MAX: u64> Written<Duration> for Span<MIN, MAX> {
    fn of(setting: &Duration) -> Self {
        Self::clamped(*setting)
    }

    fn setting(&self, _: &Duration) -> Duration {
        self.get()
    }
}

impl<const MIN: u64, const MAX: u64> Written<u64> for Bytes<MIN, MAX> {
    fn of(setting: &u64) -> Self {
        bytes(*setting)
    }

    fn setting(&self, _: &u64) -> u64 {
        self.get().as_bytes()
    }
}

impl<const MIN: u64, const MAX: u64> Written<u32> for Bytes<MIN, MAX> {
    fn of(setting: &u32) -> Self {
        bytes((*setting).into())
    }

    fn setting(&self, _: &u32) -> u32 {
        const { assert!(MAX <= u32::MAX as u64) };
        self.get().as_bytes() as u32
    }
}

impl<const MIN: u64, const MAX: u64> Written<BitRate> for Within<BitRate, MIN, MAX> {
    fn of(setting: &BitRate) -> Self {
        Self::clamped(*setting)
    }

    fn setting(&self, _: &BitRate) -> BitRate {
        self.get()
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<u32>> for Limit<Whole<MIN, MAX>> {
    fn of(setting: &Option<u32>) -> Self {
        setting.map(|most| Whole::clamped(most.into())).into()
    }

    fn setting(&self, _: &Option<u32>) -> Option<u32> {
        self.get_u32()
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<u64>> for Limit<Bytes<MIN, MAX>> {
    fn of(setting: &Option<u64>) -> Self {
        setting.map(bytes).into()
    }

    fn setting(&self, _: &Option<u64>) -> Option<u64> {
        self.at().map(|most| most.get().as_bytes())
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<u32>> for Limit<Bytes<MIN, MAX>> {
    fn of(setting: &Option<u32>) -> Self {
        setting.map(|most| bytes(most.into())).into()
    }

    fn setting(&self, _: &Option<u32>) -> Option<u32> {
        const { assert!(MAX <= u32::MAX as u64) };
        self.at().map(|most| most.get().as_bytes() as u32)
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<BitRate>> for Limit<Within<BitRate, MIN, MAX>> {
    fn of(setting: &Option<BitRate>) -> Self {
        setting.map(Within::clamped).into()
    }

    fn setting(&self, _: &Option<BitRate>) -> Option<BitRate> {
        self.at().map(Within::get)
    }
}

impl<const MIN: u64, const MAX: u64> Written<Option<Duration>> for Limit<Span<MIN, MAX>> {
    fn of(setting: &Option<Duration>) -> Self {
        setting.map(Within::clamped).into()
    }

    fn setting(&self, _: &Option<Duration>) -> Option<Duration> {
        self.at().map(Within::get)
    }
}

fn bytes<const MIN: u64, const MAX: u64>(count: u64) -> Bytes<MIN, MAX> {
    Within::clamped(ByteCount::from_bytes(count))
}
