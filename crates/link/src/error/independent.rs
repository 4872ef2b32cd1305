//! Independent losses of packets.

use airtcp_units::Probability;

use super::Losses;
use crate::frame::Transmission;
use crate::random::Stream;

/// Losses with the same probability each.
#[derive(Clone, Debug)]
pub(crate) struct Packets(Probability);

impl Losses for Packets {
    type Config = Probability;

    fn new(chance: Probability) -> Self {
        Self(chance)
    }

    #[inline]
    fn loses(&mut self, draws: Stream, transmission: &Transmission) -> bool {
        self.0.happens(draws.draw(transmission.index))
    }

    fn draws(chance: &Probability) -> bool {
        *chance != Probability::NEVER
    }
}
