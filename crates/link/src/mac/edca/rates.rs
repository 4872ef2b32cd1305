//! The modes of transmissions: a rate control for each direction between a mobile and the access
//! point, shared by the access categories, as mac80211 has one per station.

use airtcp_units::Instant;

use super::config::EdcaConfig;
use crate::mac::damage::Damage;
use crate::mac::way::{FrameDirection, Way};
use crate::phy::Mode;
use crate::random::Stream;
use crate::rate_control::{Choice, RateControl, Report};

/// The rate controls of a set.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    /// By direction, then by mobile, from 1 on.
    controls: [Vec<RateControl>; 2],
    /// Whether one of them requests RTS.
    clear: bool,
}

impl Rates {
    /// The rate controls of a validated configuration; draws come from `stream`.
    pub(super) fn new(config: &EdcaConfig, stream: Stream) -> Self {
        let of_direction = |direction: FrameDirection| {
            let stream = stream.substream(direction as u64);
            (1..=config.stations)
                .map(|mobile| config.rate_control(mobile, stream.substream(u64::from(mobile))))
                .collect()
        };
        let controls = [FrameDirection::FromStation, FrameDirection::ToStation].map(of_direction);
        Self {
            clear: controls.iter().flatten().any(RateControl::clears),
            controls,
        }
    }

    /// Whether a PPDU may be preceded by RTS and CTS at the request of its rate control.
    #[inline]
    pub(super) const fn clear(&self) -> bool {
        self.clear
    }

    /// The mode of the next PPDU in a direction at `now`, after `failures` consecutive ones with
    /// the same first MPDU and no answer.
    #[inline]
    pub(super) fn choose(
        &mut self,
        now: Instant,
        way: Way,
        failures: u32,
        damage: &Damage,
    ) -> Choice {
        let control = &mut self.controls[way.direction as usize][way.mobile as usize - 1];
        // The others learn only from outcomes.
        let snr_db = if matches!(control, RateControl::Ideal(_)) {
            damage.next_snr_db(way.mobile, way.direction, now)
        } else {
            None
        };
        control.choose(now, failures, snr_db)
    }

    /// The outcome of a PPDU in a direction.
    #[inline]
    pub(super) fn report(&mut self, now: Instant, way: Way, report: &Report) {
        self.controls[way.direction as usize][way.mobile as usize - 1].report(now, report);
    }

    /// The rate control of a direction.
    #[inline]
    pub(super) fn of(&self, way: Way) -> &RateControl {
        &self.controls[way.direction as usize][way.mobile as usize - 1]
    }

    /// The best mode of a direction by its rate control.
    #[inline]
    pub(super) fn best(&self, way: Way) -> Mode {
        self.of(way).best()
    }
}
