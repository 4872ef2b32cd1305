//! `[arq]`: a stop-and-wait link.

use airtcp_link::mac::arq::{ArqConfig, ArqError};
use airtcp_link::mac::damage::{Affects, DamageConfig};
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_link::{Delay, Discipline, ErrorModel, PipeConfig, QueueLimit, Service};
use airtcp_units::{BitRate, ByteCount, Duration};

use super::link::queue;
use super::{loss, refuse, wlan};
use crate::document::ArqTable;
use crate::error::Problem;
use crate::medium::Arq;
use airtcp_units::bounded::{Limit, Within};

/// Mahmoodi et al. §IV: 802.11a at 6 Mbit/s, frames of 320 bytes.
const DEFAULT_RATE: BitRate = BitRate::from_bps(6_000_000);
const DEFAULT_FRAME: u64 = 320;
/// MAC header and FCS.
const DEFAULT_OVERHEAD: u64 = 28;
/// SIFS and an ACK at 6 Mbit/s, and SIFS before the next frame.
const DEFAULT_ACK_TIME: Duration = Duration::from_micros(16 + 44 + 16);
/// Three retransmissions.
const DEFAULT_ATTEMPTS: u64 = 4;

pub(super) fn resolve(table: &mut ArqTable) -> Result<Arq, Problem> {
    let frame = *table
        .frame
        .get_or_insert(Limit::At(Within::clamped(ByteCount::from_bytes(
            DEFAULT_FRAME,
        ))));
    let delay = table
        .delay
        .get_or_insert(Within::clamped(Duration::from_micros(1)))
        .get();
    let loss = table.loss.get_or_insert_default();
    wlan::refuse_counted(loss, "arq.loss")?;
    refuse(
        &loss.direction,
        "arq.loss.direction",
        "the link repeats what goes to the mobile, data or not; remove the key",
    )?;
    let config = ArqConfig {
        rate: table
            .rate
            .get_or_insert(Within::clamped(DEFAULT_RATE))
            .get(),
        delay,
        frame_payload: frame.at().map(|bytes| wlan::whole_bytes(bytes.get())),
        overhead: wlan::whole_bytes(
            table
                .overhead
                .get_or_insert(Within::clamped(ByteCount::from_bytes(DEFAULT_OVERHEAD)))
                .get(),
        ),
        ack_time: table
            .ack_time
            .get_or_insert(Within::clamped(DEFAULT_ACK_TIME))
            .get(),
        retry_limit: wlan::attempts(&mut table.retry_limit, DEFAULT_ATTEMPTS),
        queue: queue(table.queue.get_or_insert_default()),
        order: RetransmissionOrder::HeadOfLine,
        damage: DamageConfig {
            model: loss::resolve(loss, "arq.loss")?,
            affects: Affects::Both,
            outage: table
                .outage
                .map(|outage| wlan::away(outage, "arq.outage"))
                .transpose()?,
            ..DamageConfig::default()
        },
        report_retries: false,
    };
    config.check().map_err(|error| {
        let key = match error {
            ArqError::Rate => "arq.rate",
            ArqError::Frame => "arq.frame",
        };
        Problem::at(key, error.to_string())
    })?;
    let back = PipeConfig {
        service: Service::Constant(config.rate),
        queue: QueueLimit::Unlimited,
        discipline: Discipline::DropTail,
        error: ErrorModel::None,
        delay: Delay::Constant(delay),
    };
    Ok(Arq { config, back })
}
