//! Losses on the link: one file per error model.
//!
//! A loss is a function of (seed, component, flow, that flow's transmission index), independent of
//! other flows. The model is queried once for every transmission, including transmissions that the
//! queue then refuses: a flow's losses do not depend on how full other flows keep the queue.

mod bit_errors;
mod gilbert_elliott;
mod independent;

use std::sync::Arc;

use crate::frame::Transmission;
use crate::random::Stream;
use crate::trace::conditions::Conditions;
use crate::trace::lost_packets::LostPackets;
use airtcp_units::{Instant, Probability};
pub use gilbert_elliott::GilbertElliott;

/// A model that draws losses, for all flows.
trait Losses: Sized {
    /// Its parameters.
    type Config;

    fn new(config: Self::Config) -> Self;

    /// Whether it loses a transmission, of a flow with these draws. It is asked once about each, in
    /// the order of a flow's indices.
    fn loses(&mut self, draws: Stream, transmission: &Transmission) -> bool;

    /// Whether its losses depend on the seed.
    fn draws(config: &Self::Config) -> bool;
}

/// Declares each model that draws losses: its sentence, its parameters, and its process.
macro_rules! error_models {
    ($($(#[$meaning:meta])* $Name:ident($Config:ty) => $Losses:ty;)+) => {
        /// Losses of the link.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ErrorModel {
            /// No losses.
            None,
            /// The last `lost` of every `period` transmissions of a flow: deterministic.
            Block {
                /// Length of a block, in transmissions; nothing is lost when it is zero.
                period: u32,
                /// Packets lost at the end of each block.
                lost: u32,
            },
            $($(#[$meaning])* $Name($Config),)+
            /// Exactly these packets: the losses of a recorded run.
            Listed(Arc<LostPackets>),
            /// Each packet, independently, with the probability recorded for the departure time
            /// of its last byte.
            Recorded(Arc<Conditions>),
        }

        impl ErrorModel {
            /// Whether its losses depend on the seed.
            #[must_use]
            pub fn draws(&self) -> bool {
                match self {
                    Self::None | Self::Block { .. } | Self::Listed(_) => false,
                    $(Self::$Name(config) => <$Losses as Losses>::draws(config),)+
                    Self::Recorded(_) => true,
                }
            }
        }

        #[derive(Clone, Debug)]
        enum Model {
            None,
            Block { period: u32, lost: u32 },
            $($Name($Losses),)+
            Listed(Arc<LostPackets>),
            Recorded(Arc<Conditions>),
        }

        impl Model {
            fn new(model: ErrorModel) -> Self {
                match model {
                    ErrorModel::None
                    | ErrorModel::Block { period: 0, .. }
                    | ErrorModel::Block { lost: 0, .. } => Self::None,
                    ErrorModel::Block { period, lost } => Self::Block { period, lost },
                    $(ErrorModel::$Name(config) => Self::$Name(<$Losses as Losses>::new(config)),)+
                    ErrorModel::Listed(lost) => Self::Listed(lost),
                    ErrorModel::Recorded(conditions) => Self::Recorded(conditions),
                }
            }

            fn loses(&mut self, draws: &mut FlowDraws, transmission: &Transmission) -> bool {
                let Transmission { flow, index, .. } = *transmission;
                match self {
                    Self::None | Self::Recorded(_) => false,
                    Self::Listed(lost) => lost.contains(flow, index),
                    Self::Block { period, lost } => {
                        let place = index % u64::from(*period);
                        place + u64::from(*lost) >= u64::from(*period)
                    }
                    $(Self::$Name(losses) => losses.loses(draws.of(flow), transmission),)+
                }
            }
        }
    };
}

error_models! {
    /// Each packet with this probability, independently.
    Independent(Probability) => independent::Packets;
    /// Bursts: a channel with a good and a bad state (E. N. Gilbert, "Capacity of a burst-noise
    /// channel", 1960; E. O. Elliott, "Estimates of error rates for codes on burst-noise channels",
    /// 1963, both Bell System Technical Journal).
    GilbertElliott(GilbertElliott) => gilbert_elliott::Channel;
    /// Each bit with this probability, independently; one bad bit loses the packet.
    BitErrors(Probability) => bit_errors::FrameLosses;
}

/// The running state of an [`ErrorModel`].
#[derive(Clone, Debug)]
pub(crate) struct ErrorProcess {
    draws: FlowDraws,
    model: Model,
}

impl ErrorProcess {
    pub(crate) fn new(model: ErrorModel, stream: Stream) -> Self {
        Self {
            draws: FlowDraws::new(stream),
            model: Model::new(model),
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
        transmission.index != Transmission::UNNUMBERED
            && self.model.loses(&mut self.draws, transmission)
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
