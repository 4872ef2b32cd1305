//! `[arq]`: a stop-and-wait link.

use airtcp_link::mac::arq::{ArqConfig, ArqError};
use airtcp_link::mac::damage::{Affects, DamageConfig};
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_link::{Delay, PipeConfig, Service};

use super::damage;
use super::queue::queue;
use crate::document::{ArqTable, error_model};
use crate::error::Problem;
use crate::medium::Arq;

pub(super) fn resolve(table: &ArqTable) -> Result<Arq, Problem> {
    let delay = table.delay();
    let loss = &table.loss();
    damage::refuse_counted(loss, key!(arq.loss))?;
    let why = "the link repeats what goes to the mobile, data or not; remove the key";
    refuse_keys!(loss, key!(arq.loss), why; direction);
    let model = error_model(loss, key!(arq.loss))?;
    let config = ArqConfig {
        rate: table.rate(),
        delay,
        frame_payload: table.frame(),
        overhead: table.overhead(),
        ack_time: table.ack_time(),
        retry_limit: damage::attempts(table.retry_limit()),
        queue: queue(table.queue()),
        order: RetransmissionOrder::HeadOfLine,
        damage: DamageConfig {
            model,
            affects: Affects::Both,
            outage: table
                .outage
                .map(|outage| damage::away(outage, key!(arq.outage)))
                .transpose()?,
            ..DamageConfig::default()
        },
        report_retries: false,
    };
    config.check().map_err(|error| {
        let key = match error {
            ArqError::Rate => key!(arq.rate),
            ArqError::Frame => key!(arq.frame),
        };
        Problem::at(key, error.to_string())
    })?;
    let back = PipeConfig::line(Service::Constant(config.rate), Delay::Constant(delay));
    Ok(Arq { config, back })
}
