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
    pub struct LossTable takes {
        /// Model of the losses.
        model: LossModel = LossModel::default();
        /// Chance that a packet is lost (`iid`) or a bit wrong (`bit-error`).
        rate: Probability = Probability::NEVER;
        /// Packets lost (`block`): the last ones of every `of`.
        lost: Whole<0, 1_000_000_000>;
        /// Length of a block in packets (`block`).
        of: u32 = 100, as Packets;
        /// Chance at each packet to go from the good state to the bad (`gilbert-elliott`).
        good_to_bad: Probability;
        /// Chance at each packet to go from the bad state to the good (`gilbert-elliott`).
        bad_to_good: Probability;
        /// Chance that a packet is lost in the good state (`gilbert-elliott`).
        loss_in_good: Probability = Probability::NEVER;
        /// Chance that a packet is lost in the bad state (`gilbert-elliott`).
        loss_in_bad: Probability = Probability::ALWAYS;
        /// Which direction loses packets.
        direction: LossDirection = LossDirection::default();
        /// Transmissions counted by the model (`wlan.loss` only).
        counted: Counted = Counted::default();
    }
}

/// The error model that `table`, found at `key`, describes.
pub(crate) fn error_model(table: &mut LossTable, key: &str) -> Result<ErrorModel, Problem> {
    let model = table.model();
    refuse_keys_of_others(table, key, model)?;
    let model = match model {
        LossModel::Iid => match table.rate() {
            Probability::NEVER => ErrorModel::None,
            rate => ErrorModel::Independent(rate),
        },
        LossModel::BitError => match table.rate() {
            Probability::NEVER => ErrorModel::None,
            rate => ErrorModel::BitErrors(rate),
        },
        LossModel::Block => {
            let period = table.of();
            let lost = needed(table.lost, key, key_of!(key, table.lost))?.get_u32();
            if lost > period {
                return Err(Problem::at(
                    key_of!(key, table.lost),
                    format!("expected at most {key}.of, which is {period}"),
                ));
            }
            ErrorModel::Block { period, lost }
        }
        LossModel::GilbertElliott => ErrorModel::GilbertElliott(GilbertElliott {
            good_to_bad: needed(table.good_to_bad, key, key_of!(key, table.good_to_bad))?,
            bad_to_good: needed(table.bad_to_good, key, key_of!(key, table.bad_to_good))?,
            loss_in_good: table.loss_in_good(),
            loss_in_bad: table.loss_in_bad(),
        }),
    };
    Ok(model)
}

fn needed<T>(value: Option<T>, table: &str, key: String) -> Result<T, Problem> {
    value.ok_or_else(|| Problem::at(key, format!("is missing; {table}.model needs it")))
}

fn refuse_keys_of_others(table: &LossTable, key: &str, model: LossModel) -> Result<(), Problem> {
    let why = |owner: &str| {
        format!("belongs to {key}.model = \"{owner}\"; remove it, or choose that model")
    };
    if !matches!(model, LossModel::Iid | LossModel::BitError) {
        refuse_keys!(table, key, why("iid\" or \"bit-error"); rate);
    }
    if model != LossModel::Block {
        refuse_keys!(table, key, why("block"); lost, of);
    }
    if model != LossModel::GilbertElliott {
        refuse_keys!(
            table, key, why("gilbert-elliott");
            good_to_bad, bad_to_good, loss_in_good, loss_in_bad
        );
    }
    Ok(())
}
