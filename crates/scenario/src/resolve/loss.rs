//! `[link.loss]` and `[link.reverse.loss]`: the keys of one error model, and of no other.

use airtcp_link::ErrorModel;
use airtcp_link::error::GilbertElliott;
use airtcp_units::Probability;

use super::refuse_keys;
use crate::document::LossTable;
use crate::error::Problem;
use crate::names::LossModel;

/// The error model that `table`, found at `key`, describes.
pub(super) fn resolve(table: &mut LossTable, key: &str) -> Result<ErrorModel, Problem> {
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
