//! The losses of both directions of `[link]`: as listed, as recorded, or by error models.

use std::sync::Arc;

use airtcp_link::ErrorModel;

use super::{damage, refuse};
use crate::document::{LinkTable, LossTable, error_model};
use crate::error::Problem;
use crate::inputs::Inputs;
use crate::names::LossDirection;

/// The losses of each direction: as listed, as recorded, or by an error model.
pub(super) fn errors(
    table: &LinkTable,
    inputs: &Inputs,
) -> Result<(ErrorModel, ErrorModel), Problem> {
    let reverse_loss = table.reverse.as_ref().and_then(|reverse| reverse.loss);
    let data = known_losses(inputs, 0, table.loss, key!(link))?;
    let acks = known_losses(inputs, 1, reverse_loss, key!(link.reverse))?;
    let direction = table
        .loss
        .map_or(LossDirection::Data, |loss| loss.direction());
    let modelled_acks = || match (&acks, reverse_loss) {
        (None, Some(loss)) => reverse_errors(&loss, direction).map(Some),
        _ => Ok(None),
    };
    if let Some(data) = data {
        let acks = acks.clone().or(modelled_acks()?);
        return Ok((data, acks.unwrap_or(ErrorModel::None)));
    }
    let loss = table.loss.unwrap_or_default();
    damage::refuse_counted(&loss, key!(link.loss))?;
    let model = error_model(&loss, key!(link.loss))?;
    let of_reverse = modelled_acks()?;
    let (data, modelled) = match direction {
        LossDirection::Data => (model, of_reverse.unwrap_or(ErrorModel::None)),
        LossDirection::Acks => (ErrorModel::None, model),
        LossDirection::Both => (model.clone(), model),
    };
    match acks {
        None => Ok((data, modelled)),
        Some(acks) if modelled == ErrorModel::None => Ok((data, acks)),
        Some(_) => Err(Problem::at(
            key!(link.loss.direction),
            "link.reverse says already what acknowledgments lose; give one of them",
        )),
    }
}

/// The losses of a direction that are listed or recorded, if any.
fn known_losses(
    inputs: &Inputs,
    direction: usize,
    loss: Option<LossTable>,
    key: &str,
) -> Result<Option<ErrorModel>, Problem> {
    let recorded = inputs.recorded_losses(direction);
    if let Some(listed) = &inputs.lost_packets[direction] {
        let why = format!("{key}.lost_packets says already what is lost; give one of them");
        refuse(&loss, &format!("{key}.loss"), &why)?;
        refuse(&recorded, &format!("{key}.recorded"), &why)?;
        return Ok(Some(ErrorModel::Listed(Arc::clone(&listed.content))));
    }
    let Some(recorded) = recorded else {
        return Ok(None);
    };
    let why = format!("{key}.recorded has losses already; give one of them");
    refuse(&loss, &format!("{key}.loss"), &why)?;
    Ok(Some(ErrorModel::Recorded(Arc::clone(&recorded.content))))
}

fn reverse_errors(table: &LossTable, direction: LossDirection) -> Result<ErrorModel, Problem> {
    let key = key!(link.reverse.loss);
    let why = "this table is about acknowledgments alone; remove the key";
    refuse_keys!(table, key, why; direction);
    damage::refuse_counted(table, key)?;
    if direction != LossDirection::Data {
        return Err(Problem::at(
            key,
            "link.loss.direction says already what acknowledgments lose; give one of them",
        ));
    }
    error_model(table, key)
}
