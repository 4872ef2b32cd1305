//! `[link]`: its defaults depend on its kind (a rate, a recorded link, recorded round-trip times)
//! and on the losses that its files hold. The reverse direction is like the other.

use airtcp_units::written::{completed, read};
use airtcp_units::{BitRate, Duration, Probability};

use crate::document::{LinkTable, LossTable, ReverseTable};
use crate::inputs::Inputs;

/// The default link is the lossy pipe of `scenarios/lossy-pipe.toml`.
const RATE: Option<BitRate> = Some(BitRate::from_bps(10_000_000));
const DELAY: Duration = Duration::from_millis(25);

/// The table with its defaults, except the ones that the tables inside it know.
pub(super) fn complete(table: &LinkTable, inputs: &Inputs) -> LinkTable {
    let table = losses(table, inputs);
    if table.rtt_log.is_some() || table.rtt_model.is_some() {
        return table;
    }
    let reverse = table.reverse.clone().unwrap_or_default();
    let (rate, reverse_rate) = match table.trace {
        Some(_) => (table.rate, reverse.rate),
        None => {
            let data = read(&table.rate, &RATE);
            let rate = completed(&table.rate, &RATE);
            (rate, completed(&reverse.rate, &data))
        }
    };
    let (delay, reverse_delay) = match (&table.recorded, &reverse.recorded) {
        (Some(_), _) => (table.delay, reverse.delay),
        (None, Some(_)) => (completed(&table.delay, &DELAY), reverse.delay),
        (None, None) => {
            let data = read(&table.delay, &DELAY);
            let delay = completed(&table.delay, &DELAY);
            (delay, completed(&reverse.delay, &data))
        }
    };
    let queue = Some(table.queue.unwrap_or_default());
    LinkTable {
        rate,
        delay,
        queue,
        reverse: Some(ReverseTable {
            rate: reverse_rate,
            delay: reverse_delay,
            queue: reverse.queue.or(queue),
            aqm: reverse.aqm.or(table.aqm),
            jitter: reverse.jitter.or(table.jitter),
            late: reverse.late.or(table.late),
            recorded: reverse.recorded.or_else(|| table.recorded.clone()),
            ..reverse
        }),
        ..table
    }
}

/// The table with its losses: by an error model, unless they are listed or recorded.
fn losses(table: &LinkTable, inputs: &Inputs) -> LinkTable {
    let [data, acks] = [0, 1].map(|direction| inputs.has_losses(direction));
    // A table without keys, as `--set link.loss={}` leaves one, gives no losses.
    let said = |loss: Option<LossTable>| loss.filter(|table| *table != LossTable::default());
    let loss = if data {
        said(table.loss)
    } else {
        let loss = table.loss.unwrap_or_default().with_direction();
        let from_log = loss.model.is_none() && loss.rate.is_none();
        Some(LossTable {
            rate: if from_log {
                unanswered(inputs)
            } else {
                loss.rate
            },
            ..loss
        })
    };
    LinkTable {
        loss,
        reverse: table.reverse.clone().map(|reverse| ReverseTable {
            loss: if acks {
                said(reverse.loss)
            } else {
                reverse.loss
            },
            ..reverse
        }),
        ..table.clone()
    }
}

/// Share of a ping log's probes that got no answer; `None` without such a log, or without loss in
/// it. The log cannot show whether the probe or its answer was lost: all count as data.
fn unanswered(inputs: &Inputs) -> Option<Probability> {
    let summary = inputs.rtt_log.as_ref()?.content.summary();
    let sent = summary.count as u64 + summary.lost;
    let share = summary.lost as f64 / sent as f64;
    Probability::new(share).ok().filter(|_| summary.lost > 0)
}
