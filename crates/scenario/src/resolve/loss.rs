//! `[link.loss]` and `[link.reverse.loss]`: the keys of one error model, and of no other.

use airtcp_link::ErrorModel;
use airtcp_link::error::GilbertElliott;
use airtcp_units::Probability;

use crate::document::LossTable;
use crate::error::Problem;
use crate::names::LossModel;
use airtcp_units::bounded::Whole;

const DEFAULT_BLOCK: u64 = 100;

/// The error model that `table`, found at `key`, describes.
pub(super) fn resolve(table: &mut LossTable, key: &str) -> Result<ErrorModel, Problem> {
    let model = *table.model.get_or_insert_default();
    refuse_keys_of_others(table, key, model)?;
    let model = match model {
        LossModel::Iid => match *table.rate.get_or_insert(Probability::NEVER) {
            Probability::NEVER => ErrorModel::None,
            rate => ErrorModel::Independent(rate),
        },
        LossModel::BitError => match *table.rate.get_or_insert(Probability::NEVER) {
            Probability::NEVER => ErrorModel::None,
            rate => ErrorModel::BitErrors(rate),
        },
        LossModel::Block => {
            let period = table
                .of
                .get_or_insert(Whole::clamped(DEFAULT_BLOCK))
                .get_u32();
            let lost = needed(table.lost, key, "lost")?.get_u32();
            if lost > period {
                return Err(Problem::at(
                    format!("{key}.lost"),
                    format!("expected at most {key}.of, which is {period}"),
                ));
            }
            ErrorModel::Block { period, lost }
        }
        LossModel::GilbertElliott => ErrorModel::GilbertElliott(GilbertElliott {
            good_to_bad: needed(table.good_to_bad, key, "good_to_bad")?,
            bad_to_good: needed(table.bad_to_good, key, "bad_to_good")?,
            loss_in_good: *table.loss_in_good.get_or_insert(Probability::NEVER),
            loss_in_bad: *table.loss_in_bad.get_or_insert(Probability::ALWAYS),
        }),
    };
    Ok(model)
}

fn needed<T>(value: Option<T>, key: &str, name: &str) -> Result<T, Problem> {
    value.ok_or_else(|| {
        Problem::at(
            format!("{key}.{name}"),
            format!("is missing; {key}.model needs it"),
        )
    })
}

fn refuse_keys_of_others(table: &LossTable, key: &str, model: LossModel) -> Result<(), Problem> {
    let LossTable {
        rate,
        lost,
        of,
        good_to_bad,
        bad_to_good,
        loss_in_good,
        loss_in_bad,
        ..
    } = table;
    let chance = "iid\" or \"bit-error";
    let keys = [
        (
            "rate",
            rate.is_some(),
            matches!(model, LossModel::Iid | LossModel::BitError),
            chance,
        ),
        ("lost", lost.is_some(), model == LossModel::Block, "block"),
        ("of", of.is_some(), model == LossModel::Block, "block"),
        (
            "good_to_bad",
            good_to_bad.is_some(),
            model == LossModel::GilbertElliott,
            BURSTS,
        ),
        (
            "bad_to_good",
            bad_to_good.is_some(),
            model == LossModel::GilbertElliott,
            BURSTS,
        ),
        (
            "loss_in_good",
            loss_in_good.is_some(),
            model == LossModel::GilbertElliott,
            BURSTS,
        ),
        (
            "loss_in_bad",
            loss_in_bad.is_some(),
            model == LossModel::GilbertElliott,
            BURSTS,
        ),
    ];
    for (name, is_given, is_ours, owner) in keys {
        if is_given && !is_ours {
            return Err(Problem::at(
                format!("{key}.{name}"),
                format!("belongs to {key}.model = \"{owner}\"; remove it, or choose that model"),
            ));
        }
    }
    Ok(())
}

const BURSTS: &str = "gilbert-elliott";
