//! The losses of both directions of `[link]`: as listed, as recorded, or by error models.

use std::sync::Arc;

use airtcp_link::ErrorModel;
use airtcp_units::Probability;

use super::{damage, refuse};
use crate::document::{LinkTable, LossTable, error_model};
use crate::error::Problem;
use crate::inputs::Inputs;
use crate::names::LossDirection;

/// The losses of each direction: as listed, as recorded, or by an error model.
pub(super) fn errors(
    table: &mut LinkTable,
    inputs: &Inputs,
) -> Result<(ErrorModel, ErrorModel), Problem> {
    let data = known_losses(inputs, 0, &mut table.loss, key!(link))?;
    let mut none = None;
    let reverse = table.reverse.as_mut();
    let reverse_loss = reverse.map_or(&mut none, |reverse| &mut reverse.loss);
    let acks = known_losses(inputs, 1, reverse_loss, key!(link.reverse))?;
    if data.is_none() && acks.is_none() {
        return modelled_losses(table, inputs);
    }
    if data.is_some() {
        let modelled = table
            .reverse
            .as_mut()
            .and_then(|reverse| reverse.loss.as_mut())
            .map(|loss| reverse_errors(loss, LossDirection::Data))
            .transpose()?;
        let acks = acks.or(modelled).unwrap_or(ErrorModel::None);
        return Ok((data.unwrap_or(ErrorModel::None), acks));
    }
    let (modelled, of_acks) = modelled_losses(table, inputs)?;
    if of_acks != ErrorModel::None {
        return Err(Problem::at(
            key!(link.loss.direction),
            "link.reverse says already what acknowledgments lose; give one of them",
        ));
    }
    Ok((modelled, acks.unwrap_or(ErrorModel::None)))
}

/// The losses of a direction that are listed or recorded, if any. An empty table next to them is
/// removed, so that its defaults are not written out as given.
fn known_losses(
    inputs: &Inputs,
    direction: usize,
    loss: &mut Option<LossTable>,
    key: &str,
) -> Result<Option<ErrorModel>, Problem> {
    // A recording of one direction applies to both, as its delays do.
    let recorded = inputs.recorded[direction]
        .as_ref()
        .or(inputs.recorded[0].as_ref());
    let recorded = recorded.filter(|file| file.content.loses());
    // A table without keys, as `--set link.loss={}` leaves one, gives no losses.
    let said = loss.filter(|table| *table != LossTable::default());
    if let Some(listed) = &inputs.lost_packets[direction] {
        let why = format!("{key}.lost_packets says already what is lost; give one of them");
        refuse(&said, &format!("{key}.loss"), &why)?;
        refuse(&recorded, &format!("{key}.recorded"), &why)?;
        *loss = None;
        return Ok(Some(ErrorModel::Listed(Arc::clone(&listed.content))));
    }
    let Some(recorded) = recorded else {
        return Ok(None);
    };
    let why = format!("{key}.recorded has losses already; give one of them");
    refuse(&said, &format!("{key}.loss"), &why)?;
    *loss = None;
    Ok(Some(ErrorModel::Recorded(Arc::clone(&recorded.content))))
}

/// The losses of each direction by error models.
fn modelled_losses(
    table: &mut LinkTable,
    inputs: &Inputs,
) -> Result<(ErrorModel, ErrorModel), Problem> {
    let loss = table.loss.get_or_insert_default();
    if loss.model.is_none() && loss.rate.is_none() {
        loss.rate = unanswered(inputs);
    }
    damage::refuse_counted(loss, key!(link.loss))?;
    let model = error_model(loss, key!(link.loss))?;
    let direction = loss.direction();
    let of_reverse = match table
        .reverse
        .as_mut()
        .and_then(|reverse| reverse.loss.as_mut())
    {
        Some(reverse) => Some(reverse_errors(reverse, direction)?),
        None => None,
    };
    Ok(match direction {
        LossDirection::Data => (model, of_reverse.unwrap_or(ErrorModel::None)),
        LossDirection::Acks => (ErrorModel::None, model),
        LossDirection::Both => (model.clone(), model),
    })
}

/// Share of a ping log's probes that got no answer; `None` without such a log, or without loss in
/// it. The log cannot show whether the probe or its answer was lost: all count as data.
fn unanswered(inputs: &Inputs) -> Option<Probability> {
    let summary = inputs.rtt_log.as_ref()?.content.summary();
    let sent = summary.count as u64 + summary.lost;
    let share = summary.lost as f64 / sent as f64;
    Probability::new(share).ok().filter(|_| summary.lost > 0)
}

fn reverse_errors(table: &mut LossTable, direction: LossDirection) -> Result<ErrorModel, Problem> {
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
