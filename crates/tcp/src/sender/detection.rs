//! Loss detection, by acknowledgments or by time.

use alloc::boxed::Box;

use airtcp_units::{Duration, Instant};

use crate::config::{Config, DuplicateCounting, LossDetection};
use crate::loss_detection::{
    Arrivals, Delivery, Detected, DuplicateAcks, Outage, Outstanding, Rack, Scoreboard,
    SentSegment, Tolerance, reordering_of,
};
use crate::timeout::RetransmissionTimeout;

/// Arrivals inferred from duplicates.
#[derive(Clone, Copy, Debug, Default)]
struct InferredArrivals {
    arrivals: Arrivals,
    /// Bytes that the current acknowledgment delivered by that count.
    delivered: u64,
}

/// Marks segments of the scoreboard lost, by the configured rule.
#[derive(Clone, Debug)]
pub(super) struct Detection {
    choice: LossDetection,
    duplicates: DuplicateAcks,
    /// The threshold without the link's reports.
    base_threshold: u32,
    rack: Option<Box<Rack>>,
    /// Arrivals inferred from duplicates, if they are counted so.
    arrivals: Option<Box<InferredArrivals>>,
    /// Total bytes presumed lost.
    lost_in_all: u64,
}

impl Detection {
    pub fn new(config: &Config) -> Self {
        let threshold = config.duplicate_ack_threshold;
        let by_time = config.sack && config.loss_detection.is_by_time();
        Self {
            choice: config.loss_detection,
            duplicates: DuplicateAcks::new(threshold),
            base_threshold: threshold,
            rack: by_time.then(|| Box::new(Rack::new(threshold))),
            arrivals: (!config.sack
                && config.quirks.duplicate_counting == DuplicateCounting::Arrivals)
                .then(Box::default),
            lost_in_all: 0,
        }
    }

    /// Whether losses are detected by time (RACK, QUIC).
    #[inline]
    pub const fn is_by_time(&self) -> bool {
        self.rack.is_some()
    }

    /// Duplicate acknowledgments in a row.
    #[inline]
    pub const fn duplicates(&self) -> u32 {
        self.duplicates.count()
    }

    /// Number of duplicate acknowledgments that mean a loss.
    #[inline]
    pub const fn threshold(&self) -> u32 {
        self.duplicates.threshold()
    }

    /// The same without the link's reports.
    pub const fn base_threshold(&self) -> u32 {
        self.base_threshold
    }

    /// Sets the number of duplicates that mean a loss.
    pub const fn set_threshold(&mut self, threshold: u32) {
        self.duplicates.set_threshold(threshold);
    }

    /// Counts a duplicate acknowledgment.
    pub const fn on_duplicate(&mut self) {
        self.duplicates.on_duplicate();
    }

    /// Whether the threshold of duplicates is reached; if they count as arrivals, whether that many
    /// segments have arrived, and more than reordering explains (Linux, `tcp_newreno_mark_lost`).
    pub fn is_loss_told(&self, mss: u64) -> bool {
        match &self.arrivals {
            Some(counted) => counted.arrivals.bytes() >= u64::from(self.reordering()) * mss,
            None => self.duplicates.is_reached(),
        }
    }

    /// Restarts the count of duplicates: new data was acknowledged, or the timer expired.
    #[inline]
    pub const fn forget_duplicates(&mut self) {
        self.duplicates.reset();
    }

    /// Whether a duplicate counts as an arrived segment rather than inflating the window.
    #[inline]
    pub const fn counts_arrivals(&self) -> bool {
        self.arrivals.is_some()
    }

    /// Bytes that have arrived according to duplicates.
    #[inline]
    pub fn arrived(&self) -> u64 {
        self.arrivals
            .as_ref()
            .map_or(0, |counted| counted.arrivals.bytes())
    }

    /// Bytes delivered by the current acknowledgment, if duplicates count as arrivals.
    #[inline]
    pub fn counted(&self) -> Option<u64> {
        self.arrivals.as_ref().map(|counted| counted.delivered)
    }

    /// Takes an acknowledgment of `acked` bytes; zero makes it a duplicate.
    #[inline]
    pub fn count_arrivals(&mut self, acked: u64, board: &Scoreboard, mss: u64) {
        let Some(counted) = &mut self.arrivals else {
            return;
        };
        let outstanding = Outstanding {
            bytes: board.outstanding(),
            lost: board.lost(),
            mss,
        };
        counted.delivered = if acked > 0 {
            counted.arrivals.on_acknowledged(acked, outstanding)
        } else {
            counted.arrivals.on_duplicate(outstanding)
        };
    }

    /// Takes a duplicate that does not count as an arrival.
    pub fn ignore_duplicate(&mut self) {
        if let Some(counted) = &mut self.arrivals {
            counted.arrivals.forget();
            counted.delivered = 0;
        }
    }

    /// Forgets inferred arrivals: their data is acknowledged or given up.
    #[inline]
    pub fn forget_arrivals(&mut self) {
        if let Some(counted) = &mut self.arrivals {
            counted.arrivals.forget();
        }
    }

    /// Presumes the first outstanding segment lost, as duplicates or a partial acknowledgment
    /// suggest.
    pub fn presume_front_lost(&mut self, board: &mut Scoreboard) {
        let before = board.lost();
        board.mark_lost(0);
        self.lost_in_all += board.lost().saturating_sub(before);
    }

    /// Total bytes presumed lost.
    #[inline]
    pub const fn lost_in_all(&self) -> u64 {
        self.lost_in_all
    }

    /// Extent of reordering in segments, at least the duplicate-ACK threshold.
    pub fn reordering(&self) -> u32 {
        if let Some(rack) = &self.rack {
            // The link's reports may have raised the threshold.
            return rack.reordering().max(self.threshold());
        }
        let seen = self
            .arrivals
            .as_ref()
            .map_or(0, |counted| counted.arrivals.reordering());
        self.threshold().max(seen)
    }

    /// Number of segments seen to arrive after a later one.
    pub fn reorderings_seen(&self) -> u32 {
        self.rack.as_ref().map_or(0, |rack| rack.reorderings_seen())
    }

    /// Records that data presumed lost has arrived after `bytes` sent later: it was late (Linux,
    /// `tcp_check_sack_reordering`).
    pub fn on_reordering(&mut self, bytes: u64, mss: u64) {
        let reach = reordering_of(bytes.div_ceil(mss));
        if let Some(rack) = &mut self.rack {
            rack.on_reordering(reach);
        }
        if let Some(counted) = &mut self.arrivals {
            counted.arrivals.on_reordering(reach);
        }
    }

    /// Records that the timer expired with `reported` bytes SACKed and no known loss. If those are
    /// enough segments to mean a loss, the extent of reordering was overestimated (Linux,
    /// `tcp_enter_loss`).
    pub fn on_silent_loss(&mut self, reported: u64, mss: u64) {
        let threshold = self.base_threshold;
        if let Some(rack) = &mut self.rack
            && reported >= u64::from(threshold) * mss
        {
            rack.bound_reordering(threshold);
        }
        if let Some(counted) = &mut self.arrivals
            && counted.arrivals.bytes() >= u64::from(threshold) * mss
        {
            counted.arrivals.forget_reordering();
        }
    }

    /// The timestamp of a transmission at `now` of the segment at `start`.
    #[inline]
    pub fn stamp(&mut self, now: Instant, start: u64) -> Instant {
        match &mut self.rack {
            Some(rack) => rack.stamp(now, start),
            None => now,
        }
    }

    /// Records a transmission or retransmission of `segment`.
    #[inline]
    pub fn on_sent(&mut self, segment: &SentSegment) {
        if let Some(rack) = &mut self.rack {
            rack.on_sent(segment);
        }
    }

    /// Records that everything below `una` is acknowledged, and `delivery` was delivered, above
    /// `highest_before`.
    #[inline]
    pub fn on_delivery(
        &mut self,
        now: Instant,
        una: u64,
        delivery: &Delivery,
        highest_before: u64,
        mss: u64,
    ) {
        if let Some(rack) = &mut self.rack {
            rack.on_acknowledged(una);
            rack.on_delivery(now, delivery, highest_before, mss);
        }
    }

    /// Records that the peer reported a duplicate, which counts where reordering was seen, or else
    /// only if `early`.
    pub fn on_duplicate_reported(&mut self, una: u64, nxt: u64, early: bool) {
        if let Some(rack) = &mut self.rack
            && (early || rack.reordering_seen())
        {
            rack.on_duplicate_reported(una, nxt);
        }
    }

    /// Records that a recovery ended without a sign that it was needless.
    pub fn on_recovered(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.on_recovered();
        }
    }

    /// Makes the next call repeat loss detection, since a recovery was undone.
    pub fn look_again(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.look_again();
        }
    }

    /// Records that data presumed lost is back in flight.
    pub fn watch_again(&mut self, board: &Scoreboard) {
        if let Some(rack) = &mut self.rack {
            rack.watch_again(board);
        }
    }

    /// Marks the losses that the last SACK shows.
    pub fn detect_by_reports(&self, board: &mut Scoreboard, mss: u64) {
        let threshold = self.threshold();
        match self.choice {
            LossDetection::DuplicateAcks => {
                board.detect_losses(threshold, mss);
            }
            LossDetection::ForwardAcknowledgment => {
                let reach = u64::from(threshold) * mss;
                let edge = board.highest_sacked().saturating_sub(reach);
                board.mark_lost_below(edge);
            }
            LossDetection::Rack | LossDetection::Quic => {}
        }
    }

    /// Marks the losses that time shows (RFC 8985 §6.2 step 5). `repairing`: losses are evident;
    /// `forced` by the reordering timer.
    pub fn detect_by_time(
        &mut self,
        now: Instant,
        board: &mut Scoreboard,
        (timeout, mss): (&RetransmissionTimeout, u64),
        repairing: bool,
        forced: bool,
    ) -> Detected {
        let Some(rack) = &mut self.rack else {
            return Detected::default();
        };
        if !rack.has_earlier() {
            return Detected::default();
        }
        let rtt = rack.rtt(timeout.longest_round_trip());
        let tolerance = if self.choice == LossDetection::Quic {
            quic_tolerance(rtt, timeout, self.duplicates.threshold())
        } else {
            let estimator = timeout.estimator();
            let minimum = estimator.minimum().unwrap_or(Duration::ZERO);
            let srtt = estimator.srtt().unwrap_or(Duration::ZERO);
            let enough = u64::from(rack.reordering().max(self.duplicates.threshold())) * mss;
            let evident = repairing || board.sacked() >= enough;
            Tolerance {
                time: rtt + rack.window(evident, minimum, srtt),
                segments: None,
            }
        };
        let detected = rack.detect(now, board, tolerance, forced);
        self.lost_in_all += detected.lost;
        detected
    }

    /// Notes the outage that the acknowledgment of everything below `una` ends. To be called before
    /// [`on_delivery`](Self::on_delivery).
    pub fn note_outage(
        &mut self,
        now: Instant,
        board: &Scoreboard,
        una: u64,
        timeout: &RetransmissionTimeout,
    ) {
        let newest = board.delivery().and_then(|delivery| delivery.latest);
        let (Some(rack), Some(newest)) = (&mut self.rack, newest) else {
            return;
        };
        let rtt = (now - newest.sent_at).min(timeout.longest_round_trip());
        let tolerance = quic_tolerance(rtt, timeout, self.duplicates.threshold());
        rack.note_outage(now, board, (una, newest), tolerance);
    }

    /// Takes the outage that the current acknowledgment has ended, if any.
    #[inline]
    pub fn take_outage(&mut self) -> Option<Outage> {
        self.rack.as_mut()?.take_outage()
    }

    /// Time of transmission of the delivered segment that was sent last.
    pub fn delivered_until(&self) -> Option<Instant> {
        self.rack.as_ref()?.delivered_until()
    }

    /// Presumes everything from `start` on lost; if by time, except segments sent within the last
    /// round trip, at most `longest`. Returns the number of bytes newly lost.
    pub fn give_up(
        &mut self,
        now: Instant,
        board: &mut Scoreboard,
        start: u64,
        longest: Duration,
    ) -> u64 {
        let before = board.lost();
        match &self.rack {
            Some(rack) => {
                let recent = now.as_nanos().saturating_sub(rack.rtt(longest).as_nanos());
                board.mark_lost_but_recent(Instant::from_nanos(recent), start);
            }
            None => board.mark_lost_from(start),
        }
        let newly = board.lost().saturating_sub(before);
        self.lost_in_all += newly;
        newly
    }
}

/// QUIC's tolerance after a round trip of `rtt`: `segments` sent later, or 9/8 of it or of the
/// average (RFC 9002 §6.1).
fn quic_tolerance(rtt: Duration, timeout: &RetransmissionTimeout, segments: u32) -> Tolerance {
    let srtt = timeout.estimator().srtt().unwrap_or(rtt);
    let time = Duration::from_nanos(rtt.max(srtt).as_nanos() / 8 * 9);
    Tolerance {
        time: time.max(timeout.granularity()),
        segments: Some(u64::from(segments)),
    }
}
