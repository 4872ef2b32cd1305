//! Losses on the link: one file per error model.
//!
//! A loss is a function of (seed, component, flow, that flow's transmission index), independent of
//! other flows. The model is queried once for every transmission, including transmissions that the
//! queue then refuses: a flow's losses do not depend on how full other flows keep the queue.

mod bit_errors;
mod gilbert_elliott;

use std::sync::Arc;

use crate::frame::Transmission;
use crate::random::Stream;
use crate::trace::conditions::Conditions;
use crate::trace::lost_packets::LostPackets;
use airtcp_units::{Instant, Probability};

/// Losses of the link.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorModel {
    /// No losses.
    None,
    /// Each packet with this probability, independently.
    Independent(Probability),
    /// The last `lost` of every `period` transmissions of a flow: deterministic.
    Block {
        /// Length of a block, in transmissions; nothing is lost when it is zero.
        period: u32,
        /// Packets lost at the end of each block.
        lost: u32,
    },
    /// Bursts: a channel with a good and a bad state (E. N. Gilbert, "Capacity of a burst-noise
    /// channel", 1960; E. O. Elliott, "Estimates of error rates for codes on burst-noise channels",
    /// 1963, both Bell System Technical Journal).
    GilbertElliott(GilbertElliott),
    /// Each bit with this probability, independently; one bad bit loses the packet.
    BitErrors(Probability),
    /// Exactly these packets: the losses of a recorded run.
    Listed(Arc<LostPackets>),
    /// Each packet, independently, with the probability recorded for the departure time of its last
    /// byte.
    Recorded(Arc<Conditions>),
}

impl ErrorModel {
    /// Whether its losses depend on the seed.
    #[must_use]
    pub fn draws(&self) -> bool {
        match self {
            Self::None | Self::Block { .. } | Self::Listed(_) => false,
            Self::Independent(rate) | Self::BitErrors(rate) => *rate != Probability::NEVER,
            Self::GilbertElliott(_) | Self::Recorded(_) => true,
        }
    }
}

/// The parameters of a Gilbert-Elliott channel. The state is redrawn before each transmission of
/// a flow; the first is drawn from the stationary distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Chance that the good state ends with a transmission.
    pub good_to_bad: Probability,
    /// Chance that the bad state ends with a transmission: its mean length is the inverse.
    pub bad_to_good: Probability,
    /// Chance of a loss in the good state.
    pub loss_in_good: Probability,
    /// Chance of a loss in the bad state.
    pub loss_in_bad: Probability,
}

impl GilbertElliott {
    /// Share of transmissions that meet the bad state; a channel that never changes stays good.
    pub fn stationary_bad(&self) -> Probability {
        let (enter, leave) = (self.good_to_bad.as_f64(), self.bad_to_good.as_f64());
        if enter == 0.0 {
            return Probability::NEVER;
        }
        Probability::new(enter / (enter + leave)).unwrap_or(Probability::ALWAYS)
    }

    /// Share of transmissions that are lost in the long run.
    pub fn mean_loss(&self) -> f64 {
        let bad = self.stationary_bad().as_f64();
        (1.0 - bad) * self.loss_in_good.as_f64() + bad * self.loss_in_bad.as_f64()
    }
}

/// The running state of an [`ErrorModel`].
#[derive(Clone, Debug)]
pub(crate) struct ErrorProcess {
    draws: FlowDraws,
    model: Model,
}

#[derive(Clone, Debug)]
enum Model {
    None,
    Independent(Probability),
    Block { period: u32, lost: u32 },
    GilbertElliott(gilbert_elliott::Channel),
    BitErrors(bit_errors::FrameLosses),
    Listed(Arc<LostPackets>),
    Recorded(Arc<Conditions>),
}

impl ErrorProcess {
    pub(crate) fn new(model: ErrorModel, stream: Stream) -> Self {
        let model = match model {
            ErrorModel::None => Model::None,
            ErrorModel::Independent(chance) => Model::Independent(chance),
            ErrorModel::Block { period: 0, .. } | ErrorModel::Block { lost: 0, .. } => Model::None,
            ErrorModel::Block { period, lost } => Model::Block { period, lost },
            ErrorModel::GilbertElliott(parameters) => {
                Model::GilbertElliott(gilbert_elliott::Channel::new(parameters))
            }
            ErrorModel::BitErrors(rate) => Model::BitErrors(bit_errors::FrameLosses::new(rate)),
            ErrorModel::Listed(lost) => Model::Listed(lost),
            ErrorModel::Recorded(conditions) => Model::Recorded(conditions),
        };
        Self {
            draws: FlowDraws::new(stream),
            model,
        }
    }

    /// Whether nothing is ever lost.
    pub(crate) const fn is_absent(&self) -> bool {
        matches!(self.model, Model::None)
    }

    /// Whether `transmission` is lost. To be called once for each, in the order
    /// of a flow's indices.
    #[inline]
    pub(crate) fn loses(&mut self, transmission: &Transmission) -> bool {
        !matches!(self.model, Model::None) && self.draws_loss(transmission)
    }

    /// Whether `transmission` is lost by the recorded loss rate at `departure`, if [`Self::loses`]
    /// has not lost it already.
    #[inline]
    pub(crate) fn loses_at(&mut self, departure: Instant, transmission: &Transmission) -> bool {
        match &self.model {
            Model::Recorded(conditions) if transmission.index != Transmission::UNNUMBERED => {
                let draws = self.draws.of(transmission.flow);
                let loss = conditions.at(departure).loss;
                loss.happens(draws.draw(transmission.index))
            }
            _ => false,
        }
    }

    fn draws_loss(&mut self, transmission: &Transmission) -> bool {
        let Transmission { bytes, flow, index } = *transmission;
        if index == Transmission::UNNUMBERED {
            return false;
        }
        match &mut self.model {
            Model::None | Model::Recorded(_) => false,
            Model::Listed(lost) => lost.contains(flow, index),
            Model::Independent(chance) => chance.happens(self.draws.of(flow).draw(index)),
            Model::Block { period, lost } => {
                let place = index % u64::from(*period);
                place + u64::from(*lost) >= u64::from(*period)
            }
            Model::GilbertElliott(channel) => channel.loses(self.draws.of(flow), flow, index),
            Model::BitErrors(losses) => losses.of(bytes).happens(self.draws.of(flow).draw(index)),
        }
    }
}

/// A stream per flow; the last one is cached, since a flow's packets come in trains.
#[derive(Clone, Debug)]
struct FlowDraws {
    all: Stream,
    flow: u32,
    of_flow: Stream,
}

impl FlowDraws {
    fn new(all: Stream) -> Self {
        Self {
            all,
            flow: 0,
            of_flow: all.substream(0),
        }
    }

    #[inline]
    fn of(&mut self, flow: u32) -> Stream {
        if flow != self.flow {
            self.flow = flow;
            self.of_flow = self.all.substream(u64::from(flow));
        }
        self.of_flow
    }
}

#[cfg(test)]
mod tests;
