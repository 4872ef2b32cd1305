//! `[selective_repeat]`: a link on which frames overtake one that is retransmitted.

use airtcp_link::mac::damage::{Counted, DamageConfig};
use airtcp_link::mac::selective_repeat::{
    EndConfig, Handover, SelectiveRepeatConfig, SelectiveRepeatError, Window,
};
use airtcp_link::scheduler::RetransmissionOrder;
use airtcp_units::{BitRate, ByteCount, Duration};
use std::num::NonZeroU32;

use super::link::queue;
use super::{loss, wlan};
use crate::document::SelectiveRepeatTable;
use crate::error::Problem;
use crate::medium::SelectiveRepeat;
use crate::names::{DelayOrder, WindowCount};
use airtcp_units::bounded::{Limit, Whole, Within};

const DEFAULT_RATE: BitRate = BitRate::from_bps(10_000_000);
const DEFAULT_DELAY: Duration = Duration::from_millis(1);
const DEFAULT_RETRY_TIMEOUT: Duration = Duration::from_millis(20);
/// Eight attempts.
const DEFAULT_ATTEMPTS: u64 = 8;
/// A block ACK agreement's largest window (IEEE 802.11-2016 §9.4.1.14).
const DEFAULT_WINDOW: u64 = 64;
/// IEEE 802.16-2009 §6.3.2.1.2 and §6.3.2.2: generic MAC header, fragmentation subheader, CRC.
const DEFAULT_OVERHEAD: u64 = 6 + 2 + 4;
const DEFAULT_ACK_TIME: Duration = Duration::from_micros(100);

pub(super) fn resolve(table: &mut SelectiveRepeatTable) -> Result<SelectiveRepeat, Problem> {
    let end = EndConfig {
        queue: queue(table.queue.get_or_insert_default()),
        retry_limit: wlan::attempts(&mut table.retry_limit, DEFAULT_ATTEMPTS),
        order: RetransmissionOrder::FirstDue,
    };
    let config = SelectiveRepeatConfig {
        rate: table
            .rate
            .get_or_insert(Within::clamped(DEFAULT_RATE))
            .get(),
        delay: table
            .delay
            .get_or_insert(Within::clamped(DEFAULT_DELAY))
            .get(),
        retry_timeout: table
            .retry_timeout
            .get_or_insert(Within::clamped(DEFAULT_RETRY_TIMEOUT))
            .get(),
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
        window: window(table)?,
        handover: match table.order.get_or_insert(DelayOrder::Reorder) {
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
            SelectiveRepeatError::Rate => "selective_repeat.rate",
            SelectiveRepeatError::RetryTimeout { .. } => "selective_repeat.retry_timeout",
        };
        Problem::at(key, error.to_string())
    })?;
    Ok(SelectiveRepeat {
        config,
        tells_retry_timeout: *table.tell_retry_timeout.get_or_insert(true),
    })
}

fn window(table: &mut SelectiveRepeatTable) -> Result<Window, Problem> {
    let limit = *table
        .window
        .get_or_insert(Limit::At(Whole::clamped(DEFAULT_WINDOW)));
    let Some(frames) = limit.get_u32().and_then(NonZeroU32::new) else {
        super::refuse(
            &table.window_counts,
            "selective_repeat.window_counts",
            "selective_repeat.window = \"unlimited\" counts nothing; remove one of them",
        )?;
        return Ok(Window::Unlimited);
    };
    Ok(match table.window_counts.get_or_insert_default() {
        WindowCount::Numbers => Window::Numbers(frames),
        WindowCount::Outstanding => Window::Outstanding(frames),
    })
}

fn damage(table: &mut SelectiveRepeatTable) -> Result<DamageConfig, Problem> {
    const KEY: &str = "selective_repeat.loss";
    let loss = table.loss.get_or_insert_default();
    wlan::refuse_counted(loss, KEY)?;
    Ok(DamageConfig {
        model: loss::resolve(loss, KEY)?,
        affects: wlan::affects(loss),
        counted: Counted::Station,
        outage: table
            .outage
            .map(|outage| wlan::away(outage, "selective_repeat.outage"))
            .transpose()?,
        radio: None,
    })
}
