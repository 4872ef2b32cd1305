//! List positions with a niche, so that `Option` takes no extra space.

use std::num::NonZeroU32;

/// A position in a list, from 0. It takes four bytes, and so does `Option<Index>`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Index {
    one_more: NonZeroU32,
}

impl Index {
    /// Number of positions.
    pub const LIMIT: usize = u32::MAX as usize;

    /// Position `position`, at most the last one.
    #[inline]
    #[must_use]
    pub fn new(position: usize) -> Self {
        let position = u32::try_from(position).unwrap_or(u32::MAX);
        Self {
            one_more: NonZeroU32::MIN.saturating_add(position),
        }
    }

    /// The position.
    #[inline]
    #[must_use]
    pub const fn get(self) -> usize {
        self.one_more.get() as usize - 1
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "#{}", self.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_takes_no_room() {
        assert_eq!(size_of::<Option<Index>>(), 4);
        assert_eq!(Index::new(0).get(), 0);
        assert_eq!(Index::new(77).get(), 77);
        assert!(Index::new(3) < Index::new(4));
        assert_eq!(Index::new(usize::MAX).get(), Index::LIMIT - 1);
    }
}
