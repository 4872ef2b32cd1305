//! Counting duplicate acknowledgments (RFC 5681 §3.2).

/// Counts consecutive duplicate acknowledgments towards an adjustable threshold.
#[derive(Clone, Debug)]
pub struct DuplicateAcks {
    count: u32,
    threshold: u32,
}

impl DuplicateAcks {
    /// Creates the counter; `threshold` of them mean a loss (RFC 5681 §3.2: 3).
    #[must_use]
    pub const fn new(threshold: u32) -> Self {
        Self {
            count: 0,
            threshold,
        }
    }

    /// Counts one more.
    pub const fn on_duplicate(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// Whether the threshold is reached.
    #[must_use]
    pub const fn is_reached(&self) -> bool {
        self.count >= self.threshold
    }

    /// Sets the threshold.
    pub const fn set_threshold(&mut self, threshold: u32) {
        self.threshold = threshold;
    }

    /// Restarts the count: new data was acknowledged.
    #[inline]
    pub const fn reset(&mut self) {
        self.count = 0;
    }

    /// Number counted in a row.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Number that means a loss.
    #[must_use]
    pub const fn threshold(&self) -> u32 {
        self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5681 §3.2: the third duplicate, that is the fourth identical acknowledgment.
    #[test]
    fn the_third_in_a_row_means_a_loss() {
        let mut duplicates = DuplicateAcks::new(3);
        let mut next = || {
            duplicates.on_duplicate();
            duplicates.is_reached()
        };
        assert!(!next() && !next());
        duplicates.reset();
        assert_eq!(duplicates.count(), 0);
        let mut next = || {
            duplicates.on_duplicate();
            duplicates.is_reached()
        };
        assert!(!next() && !next());
        assert!(next() && next());
        assert_eq!(duplicates.count(), 4);
        assert_eq!(duplicates.threshold(), 3);
    }
}
