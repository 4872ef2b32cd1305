//! Polling: when the transmitter asks for a status (TS 36.322 §5.2.2, TS 38.322 §5.3.3).

use airtcp_units::Instant;

use crate::mac::ran::config::RlcConfig;

/// State of polling.
#[derive(Clone, Debug, Default)]
pub(super) struct Poll {
    /// PDU_WITHOUT_POLL and BYTE_WITHOUT_POLL.
    pdus: u32,
    bytes: u64,
    /// POLL_SN, and when `t-PollRetransmit` expires; while it runs.
    running: Option<(u64, Instant)>,
    /// Whether the next PDU has to poll: the timer has expired.
    is_due: bool,
}

impl Poll {
    /// A PDU with `bytes` of new data is sent; returns whether it polls by `pollPDU` or `pollByte`.
    pub(super) fn on_new_data(&mut self, bytes: u64, config: &RlcConfig) -> bool {
        self.pdus += 1;
        self.bytes += bytes;
        config.poll_pdu.is_some_and(|most| self.pdus >= most.get())
            || config.poll_byte.is_some_and(|most| self.bytes >= most)
    }

    /// Whether the timer has expired, and no PDU polled since.
    pub(super) const fn is_due(&self) -> bool {
        self.is_due
    }

    /// A PDU polls; `highest` is the highest number sent.
    pub(super) fn on_polled(&mut self, now: Instant, highest: u64, config: &RlcConfig) {
        self.pdus = 0;
        self.bytes = 0;
        self.is_due = false;
        self.start(now, highest, config);
    }

    /// Starts `t-PollRetransmit`.
    pub(super) fn start(&mut self, now: Instant, highest: u64, config: &RlcConfig) {
        self.running = Some((highest, now + config.poll_retransmit));
    }

    /// Whether the timer runs.
    pub(super) const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// A status acknowledges numbers below `acknowledged`, missing ones apart, or reports them
    /// missing: the timer stops if that covers the poll.
    pub(super) fn on_status(&mut self, acknowledged: u64) {
        if self
            .running
            .is_some_and(|(number, _)| number < acknowledged)
        {
            self.running = None;
        }
    }

    /// Whether the timer expires by `now`; the next PDU polls then.
    pub(super) fn expires(&mut self, now: Instant) -> bool {
        let expires = self.running.is_some_and(|(_, at)| at <= now);
        if expires {
            self.running = None;
            self.is_due = true;
        }
        expires
    }
}
