//! Discontinuous reception: a user listens for grants in a part of each cycle, and for some time
//! after the last grant (TS 36.321 §5.7, TS 38.321 §5.7).
//!
//! ```text
//!   grant ├─ inactivity timer ─┤ on ├── short cycle ──┤ on ├ … ┤ on ├──── long cycle ────┤ on …
//! ```

/// Times of discontinuous reception, in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrxConfig {
    /// How long the user listens at the start of a cycle (`onDurationTimer`).
    pub on_duration: u64,
    /// How long it listens after a grant of a new block (`drx-InactivityTimer`).
    pub inactivity: u64,
    /// Length of a long cycle.
    pub long_cycle: u64,
    /// Length of a short cycle, and how many follow the inactivity timer
    /// (`drxShortCycleTimer`).
    pub short_cycle: Option<(u64, u64)>,
}

/// A user's state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drx {
    config: DrxConfig,
    /// Cycles of users begin one after the other.
    offset: u64,
    /// End of the inactivity timer, and of the short cycles after it.
    listens_until: u64,
    short_until: u64,
}

impl Drx {
    pub(super) fn new(config: DrxConfig, user: usize) -> Self {
        Self {
            config,
            offset: user as u64 * config.on_duration,
            listens_until: 0,
            short_until: 0,
        }
    }

    /// A new block is granted in `slot`.
    pub(super) fn on_grant(&mut self, slot: u64) {
        self.listens_until = slot + 1 + self.config.inactivity;
        let short = self
            .config
            .short_cycle
            .map_or(0, |(length, count)| length * count);
        self.short_until = self.listens_until + short;
    }

    /// Whether the user listens in `slot`.
    pub(super) fn listens(&self, slot: u64) -> bool {
        if slot < self.listens_until {
            return true;
        }
        let cycle = match self.config.short_cycle {
            Some((length, _)) if slot < self.short_until => length,
            _ => self.config.long_cycle,
        };
        (slot + self.offset) % cycle.max(1) < self.config.on_duration
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On for 10 of 320 slots; after a grant in slot 5 for 100 more, then 2 short cycles of 40.
    #[test]
    fn a_user_listens_after_a_grant_and_in_each_cycle() {
        let mut drx = Drx::new(
            DrxConfig {
                on_duration: 10,
                inactivity: 100,
                long_cycle: 320,
                short_cycle: Some((40, 2)),
            },
            0,
        );
        assert!(drx.listens(9) && !drx.listens(10) && drx.listens(320));
        drx.on_grant(5);
        let listening: Vec<u64> = (6..340).filter(|slot| drx.listens(*slot)).collect();
        let expected: Vec<u64> = (6..106)
            .chain(120..130)
            .chain(160..170)
            .chain(320..330)
            .collect();
        assert_eq!(listening, expected);
    }
}
