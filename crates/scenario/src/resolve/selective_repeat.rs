//! `[selective_repeat]`: a link on which frames overtake one that is retransmitted.

use airtcp_link::mac::damage::{Counted, DamageConfig};
use airtcp_link::mac::selective_repeat::{
    EndConfig, Handover, SelectiveRepeatConfig, SelectiveRepeatError, Window,
};
use airtcp_link::scheduler::RetransmissionOrder;
use std::num::NonZeroU32;

use super::damage;
use super::queue::queue;
use crate::document::{SelectiveRepeatTable, error_model};
use crate::error::Problem;
use crate::medium::SelectiveRepeat;
use crate::names::{DelayOrder, WindowCount};

pub(super) fn resolve(table: &SelectiveRepeatTable) -> Result<SelectiveRepeat, Problem> {
    let end = EndConfig {
        queue: queue(table.queue()),
        retry_limit: damage::attempts(table.retry_limit()),
        order: RetransmissionOrder::FirstDue,
    };
    let config = SelectiveRepeatConfig {
        rate: table.rate(),
        delay: table.delay(),
        retry_timeout: table.retry_timeout(),
        overhead: table.overhead(),
        ack_time: table.ack_time(),
        window: window(table),
        handover: match table.order() {
            DelayOrder::Reorder => Handover::AsReceived,
            DelayOrder::InOrder => Handover::InOrder,
        },
        mobile: end,
        access_point: end,
        damage: damage(table)?,
        report_retries: false,
    };
    config.check().map_err(|error| {
        let key = match error {
            SelectiveRepeatError::Rate => key!(selective_repeat.rate),
            SelectiveRepeatError::RetryTimeout { .. } => key!(selective_repeat.retry_timeout),
        };
        Problem::at(key, error.to_string())
    })?;
    Ok(SelectiveRepeat {
        config,
        tells_retry_timeout: table.tell_retry_timeout(),
    })
}

fn window(table: &SelectiveRepeatTable) -> Window {
    let Some(frames) = table.window().and_then(NonZeroU32::new) else {
        return Window::Unlimited;
    };
    match table.window_counts.unwrap_or_default() {
        WindowCount::Numbers => Window::Numbers(frames),
        WindowCount::Outstanding => Window::Outstanding(frames),
    }
}

fn damage(table: &SelectiveRepeatTable) -> Result<DamageConfig, Problem> {
    const KEY: &str = key!(selective_repeat.loss);
    let loss = &table.loss();
    damage::refuse_counted(loss, KEY)?;
    Ok(DamageConfig {
        model: error_model(loss, KEY)?,
        affects: damage::affects(loss),
        counted: Counted::Station,
        outage: table
            .outage
            .map(|outage| damage::away(outage, key!(selective_repeat.outage)))
            .transpose()?,
        radio: None,
    })
}
