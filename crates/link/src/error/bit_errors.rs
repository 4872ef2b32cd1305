//! Independent bit errors, converted to packet losses.

use airtcp_units::Probability;

use super::Losses;
use crate::frame::Transmission;
use crate::random::Stream;

/// The loss probability of packets, by their size.
#[derive(Clone, Debug)]
pub(crate) struct FrameLosses {
    rate: Probability,
    /// Cache of the last size and its result: nearly all packets have the same size.
    bytes: u32,
    loss: Probability,
}

impl Losses for FrameLosses {
    type Config = Probability;

    fn new(rate: Probability) -> Self {
        Self {
            rate,
            bytes: 0,
            loss: Probability::NEVER,
        }
    }

    fn draws(rate: &Probability) -> bool {
        *rate != Probability::NEVER
    }

    #[inline]
    fn loses(&mut self, draws: Stream, transmission: &Transmission) -> bool {
        if transmission.bytes != self.bytes {
            self.bytes = transmission.bytes;
            self.loss = frame_loss(self.rate, self.bytes);
        }
        self.loss.happens(draws.draw(transmission.index))
    }
}

/// 1 − (1 − rate)^(8·bytes), written so that rates near 1e-9 keep their digits. `libm` gives the
/// same bits on every machine.
fn frame_loss(rate: Probability, bytes: u32) -> Probability {
    if bytes == 0 {
        return Probability::NEVER;
    }
    let survival_exponent = 8.0 * f64::from(bytes) * libm::log1p(-rate.as_f64());
    let loss = -libm::expm1(survival_exponent);
    Probability::new(loss.clamp(0.0, 1.0)).unwrap_or(Probability::ALWAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_loss_is_the_complement_of_every_bit_surviving() {
        // By decimal arithmetic with 60 digits: 1 - (1 - 1e-5)^12000, 1 - (1 - 1e-3)^320, 1 - (1 -
        // 1e-9)^8.
        let cases = [
            (1e-5, 1500, 0.113_080_095_438_492_6),
            (1e-3, 40, 0.273_967_214_979_659_2),
            (1e-9, 1, 7.999_999_972e-9),
        ];
        for (rate, bytes, expected) in cases {
            let loss = frame_loss(Probability::new(rate).unwrap(), bytes).as_f64();
            assert!(
                (loss / expected - 1.0).abs() < 1e-9,
                "{rate} {bytes}: {loss} {expected}"
            );
        }
        assert_eq!(frame_loss(Probability::ALWAYS, 1), Probability::ALWAYS);
        assert_eq!(frame_loss(Probability::NEVER, 1500), Probability::NEVER);
        assert_eq!(frame_loss(Probability::ALWAYS, 0), Probability::NEVER);
    }
}
