//! A coin: a control for classifiers, which attributes a given share of losses to the radio at
//! random.

use super::Cause;
use crate::observer::Insight;

/// Number of coins tossed. The draws are [`Insight`]'s: an endpoint has no random source.
#[derive(Clone, Debug, Default)]
pub struct Coin {
    tossed: u64,
}

impl Coin {
    /// Returns the next answer: the radio with probability `radio`; congestion where there are no
    /// draws.
    pub fn classify(&mut self, radio: f64, insight: &impl Insight) -> Cause {
        self.tossed += 1;
        let Some(draw) = insight.draw(self.tossed) else {
            return Cause::Congestion;
        };
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let unit = (draw >> 11) as f64 / (1_u64 << 53) as f64;
        if unit < radio {
            Cause::Radio
        } else {
            Cause::Congestion
        }
    }
}
