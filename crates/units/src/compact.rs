//! An optional value that takes no more memory than the value itself.

use core::fmt;

use crate::Instant;

/// A type with one value that never occurs and so can mean "no value".
pub trait Spare: Copy + PartialEq {
    /// That value.
    const SPARE: Self;
}

/// No stream offset and no count reaches it.
impl Spare for u64 {
    const SPARE: Self = Self::MAX;
}

/// No index into memory reaches it.
impl Spare for u32 {
    const SPARE: Self = Self::MAX;
}

/// Nothing happens at [`Instant::FAR_FUTURE`].
impl Spare for Instant {
    const SPARE: Self = Self::FAR_FUTURE;
}

/// An `Option` for state with many copies: an `Option<u64>` is twice as large as a `u64`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Compact<T>(T);

impl<T: Spare> Compact<T> {
    /// No value.
    pub const NONE: Self = Self(T::SPARE);

    /// A value; [`Spare::SPARE`] means no value.
    #[inline]
    #[must_use]
    pub const fn some(value: T) -> Self {
        Self(value)
    }

    /// The value, if there is one.
    #[inline]
    #[must_use]
    pub fn get(self) -> Option<T> {
        (self.0 != T::SPARE).then_some(self.0)
    }

    /// Whether there is a value.
    #[inline]
    #[must_use]
    pub fn is_some(self) -> bool {
        self.0 != T::SPARE
    }

    /// Whether there is no value.
    #[inline]
    #[must_use]
    pub fn is_none(self) -> bool {
        self.0 == T::SPARE
    }

    /// Takes the value out, if there is one.
    #[inline]
    pub fn take(&mut self) -> Option<T> {
        core::mem::replace(self, Self::NONE).get()
    }
}

impl<T: Spare> Default for Compact<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T: Spare> From<Option<T>> for Compact<T> {
    #[inline]
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::NONE, Self::some)
    }
}

impl<T: Spare + fmt::Debug> fmt::Debug for Compact<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_an_option_of_the_size_of_its_value() {
        let mut offset = Compact::some(0_u64);
        assert_eq!((offset.get(), offset.is_some()), (Some(0), true));
        assert_eq!(offset.take(), Some(0));
        assert_eq!((offset, offset.get()), (Compact::NONE, None));
        assert_eq!(Compact::from(None::<Instant>), Compact::default());
        assert_eq!(
            Compact::from(Some(Instant::ZERO)).get(),
            Some(Instant::ZERO)
        );
        assert_eq!(
            format!("{:?} {:?}", Compact::some(7_u64), offset),
            "Some(7) None"
        );
        assert_eq!(size_of::<Compact<Instant>>(), size_of::<Instant>());
    }
}
