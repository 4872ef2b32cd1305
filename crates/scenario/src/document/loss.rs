//! `loss` of every link: the error models, their keys, and what each means.

use airtcp_link::ErrorModel;
use airtcp_link::error::GilbertElliott;
use airtcp_units::Probability;
use airtcp_units::bounded::Whole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Packets;
use crate::error::Problem;
use crate::names::{Counted, LossDirection};

/// Packets lost of a block.
type Lost = Whole<0, 1_000_000_000>;

/// Model of the losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossModel {
    /// Each packet independently, with probability `rate`.
    #[default]
    Iid,
    /// Of every `of` packets the last `lost`.
    Block,
    /// Two states, good and bad, with different loss rates.
    GilbertElliott,
    /// Each bit independently, with probability `rate`: long packets are lost more often.
    BitError,
}

keys! {
    /// Packets that the link loses after they were sent.
    #[derive(Clone, Copy, Default)]
    pub struct LossTable under Losses takes {
        /// Model of the losses.
        model: LossModel = LossModel::default();
        /// Chance that a packet is lost (`iid`) or a bit wrong (`bit-error`).
        rate: Probability;
        /// Packets lost (`block`): the last ones of every `of`.
        lost: Lost;
        /// Length of a block in packets (`block`).
        of: Packets;
        /// Chance at each packet to go from the good state to the bad (`gilbert-elliott`).
        good_to_bad: Probability;
        /// Chance at each packet to go from the bad state to the good (`gilbert-elliott`).
        bad_to_good: Probability;
        /// Chance that a packet is lost in the good state (`gilbert-elliott`).
        loss_in_good: Probability;
        /// Chance that a packet is lost in the bad state (`gilbert-elliott`).
        loss_in_bad: Probability;
        /// Which direction loses packets.
        direction: LossDirection;
        /// Transmissions counted by the model (`wlan.loss` only).
        counted: Counted;
    }
}

alternatives! {
    /// The losses by their model.
    #[derive(Copy)]
    pub enum Losses of LossTable by model: LossModel {
        /// Each packet independently.
        Iid: Iid takes { rate: Probability = Probability::NEVER };
        /// Each bit independently.
        BitError: BitError takes { rate: Probability = Probability::NEVER };
        /// The last ones of every block.
        Block: Block needs { lost: Lost } takes { of: u32 = 100 };
        /// Two states with different loss rates.
        GilbertElliott: GilbertElliott
            needs { good_to_bad: Probability, bad_to_good: Probability }
            takes {
                loss_in_good: Probability = Probability::NEVER,
                loss_in_bad: Probability = Probability::ALWAYS,
            };
    }
}

impl LossTable {
    /// The direction that loses packets.
    pub fn direction(&self) -> LossDirection {
        self.direction.unwrap_or_default()
    }

    /// The transmissions that the model counts.
    pub fn counted(&self) -> Counted {
        self.counted.unwrap_or_default()
    }

    /// The same table with its direction.
    pub fn with_direction(self) -> Self {
        Self {
            direction: Some(self.direction()),
            ..self
        }
    }
}

/// The error model that `table`, found at `path`, describes.
pub(crate) fn error_model(table: &LossTable, path: &str) -> Result<ErrorModel, Problem> {
    Ok(match Losses::of(table, path)? {
        Losses::Iid { rate } | Losses::BitError { rate } if rate == Probability::NEVER => {
            ErrorModel::None
        }
        Losses::Iid { rate } => ErrorModel::Independent(rate),
        Losses::BitError { rate } => ErrorModel::BitErrors(rate),
        Losses::Block { lost, of } => {
            let lost = lost.get_u32();
            if lost > of {
                return Err(Problem::at(
                    key_of!(path, table.lost),
                    format!("expected at most {path}.of, which is {of}"),
                ));
            }
            ErrorModel::Block { period: of, lost }
        }
        Losses::GilbertElliott {
            good_to_bad,
            bad_to_good,
            loss_in_good,
            loss_in_bad,
        } => ErrorModel::GilbertElliott(GilbertElliott {
            good_to_bad,
            bad_to_good,
            loss_in_good,
            loss_in_bad,
        }),
    })
}
