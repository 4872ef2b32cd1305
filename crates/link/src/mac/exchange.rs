//! The end of an IEEE 802.11 frame exchange, and the time from which the medium is idle for its
//! participants and for listeners.

use airtcp_units::{Duration, Instant};

use crate::phy::{ControlFrame, Phy};

/// Outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The answer is received; its last bit leaves at that time.
    Answered(Instant),
    /// The frame is received, at least in part, but its answer, which ends at that time, is not.
    AnswerDamaged(Instant),
    /// The frame is not received, and there is no answer.
    Unanswered,
    /// The CTS is damaged.
    CtsDamaged,
    /// Several stations sent at the same time.
    Collision,
}

/// The medium after an exchange, as a station senses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quiet {
    /// End of the busy medium: a packet that arrives at an empty queue before it backs off.
    pub busy_until: Instant,
    /// Start of DIFS or AIFS; postponed by the leading part of EIFS if the last frame was not
    /// understood.
    pub idle_from: Instant,
}

impl Quiet {
    /// The medium after a frame that ended at `end` and was understood.
    pub(super) const fn from(end: Instant) -> Self {
        Self {
            busy_until: end,
            idle_from: end,
        }
    }
}

/// Pauses within an exchange and after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pauses {
    pub sifs: Duration,
    /// The part of EIFS before DIFS or AIFS: SIFS and an ACK at the lowest rate.
    eifs_before_difs: Duration,
    answer_timeout: Duration,
}

impl Pauses {
    /// The pauses of a physical layer, with a sender's answer timeout if it differs from the
    /// standard.
    pub(super) fn new(phy: &Phy, answer_timeout: Option<Duration>) -> Self {
        Self {
            sifs: phy.sifs(),
            eifs_before_difs: phy.sifs() + phy.lowest_ack_time(),
            answer_timeout: answer_timeout.unwrap_or_else(|| phy.answer_timeout()),
        }
    }

    /// The medium after an attempt without a collision, as its sender senses it and as the others
    /// do. `ends` is the last bit of the deciding frame.
    ///
    /// A station with a missing answer contends DIFS later (IEEE 802.11-2020 §10.3.2.11). One that
    /// has received an undecodable frame leaves time for an answer: EIFS (§10.3.2.3.7). The wait
    /// for an answer ends with the answer, which may not be understood.
    #[inline]
    pub(super) fn behind(&self, ends: Instant, attempt: Attempt) -> (Quiet, Quiet) {
        match attempt {
            Attempt::Answered(answered) => (Quiet::from(answered), Quiet::from(answered)),
            Attempt::AnswerDamaged(answered) => {
                (self.not_understood(answered), Quiet::from(answered))
            }
            Attempt::CtsDamaged => (self.not_understood(ends), self.not_understood(ends)),
            Attempt::Unanswered | Attempt::Collision => {
                (Quiet::from(self.gives_up(ends)), self.not_understood(ends))
            }
        }
    }

    /// The medium after a collision, as one of its senders senses it; its frame ended at `own`, and
    /// the longest at `all`: the channel must be idle too.
    #[inline]
    pub(super) fn behind_collision(&self, own: Instant, all: Instant) -> Quiet {
        Quiet::from(self.gives_up(own).max(all))
    }

    /// End of a sender's wait for an answer to begin.
    #[inline]
    pub(super) fn gives_up(&self, ends: Instant) -> Instant {
        ends + self.answer_timeout
    }

    /// The medium after a frame that was not understood.
    #[inline]
    pub(super) fn not_understood(&self, end: Instant) -> Quiet {
        Quiet {
            busy_until: end,
            idle_from: end + self.eifs_before_difs,
        }
    }

    /// RTS and CTS between two stations: the end of the CTS; or the damaged frame and its end.
    /// `send` sends a frame, and returns its end and whether it is damaged.
    #[inline]
    pub(super) fn clear(
        &self,
        (sender, receiver): (u32, u32),
        start: Instant,
        mut send: impl FnMut((u32, u32), ControlFrame, Instant) -> (Instant, bool),
    ) -> Result<Instant, (Instant, Attempt)> {
        let (ends, is_damaged) = send((sender, receiver), ControlFrame::Rts, start);
        if is_damaged {
            return Err((ends, Attempt::Unanswered));
        }
        let (ends, is_damaged) = send((receiver, sender), ControlFrame::Cts, ends + self.sifs);
        if is_damaged {
            return Err((ends, Attempt::CtsDamaged));
        }
        Ok(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{Preamble, Standard};
    use airtcp_units::BitRate;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// 802.11b with its long preamble: SIFS is 10 µs, an ACK at 1 Mbit/s 304 µs, and a sender waits
    /// for 10 + 20 + 192 µs.
    fn pauses() -> Pauses {
        let rate = |megabits: u64| BitRate::from_bps(megabits * 1_000_000);
        let phy = Phy::new(Standard::B, Preamble::Long, rate(11), rate(1)).unwrap();
        Pauses::new(&phy, None)
    }

    /// EIFS is SIFS, an ACK and DIFS (§10.3.7): 364 µs after a frame that no station understands,
    /// DIFS after any other.
    #[test]
    fn the_medium_is_idle_later_behind_what_is_not_understood() {
        let idle = |attempt| {
            let (own, others) = pauses().behind(at(1000), attempt);
            (own.idle_from, others.idle_from)
        };
        let answered = at(1314);
        let both = |at| (at, at);
        assert_eq!(idle(Attempt::Answered(answered)), both(answered));
        let damaged = idle(Attempt::AnswerDamaged(answered));
        assert_eq!(damaged, (at(1314 + 314), answered));
        assert_eq!(idle(Attempt::Unanswered), (at(1222), at(1314)));
        assert_eq!(idle(Attempt::CtsDamaged), both(at(1314)));
        let collided = |own| pauses().behind_collision(at(own), at(1000)).idle_from;
        assert_eq!((collided(500), collided(900)), (at(1000), at(1122)));
    }

    /// RTS of 352 µs, CTS of 304 µs, SIFS between them; no CTS without an RTS.
    #[test]
    fn a_cts_follows_an_rts_that_is_received() {
        let clear = |damaged: Option<ControlFrame>| {
            let mut sent = Vec::new();
            let result = pauses().clear((1, 0), at(50), |ends, frame, start| {
                sent.push((ends.0, frame, start));
                let micros = if frame == ControlFrame::Rts { 352 } else { 304 };
                let time = Duration::from_micros(micros);
                (start + time, Some(frame) == damaged)
            });
            (result, sent)
        };
        let rts = (1, ControlFrame::Rts, at(50));
        let cts = (0, ControlFrame::Cts, at(412));
        assert_eq!(clear(None), (Ok(at(716)), vec![rts, cts]));
        let unanswered = Err((at(402), Attempt::Unanswered));
        assert_eq!(clear(Some(ControlFrame::Rts)), (unanswered, vec![rts]));
        let damaged = Err((at(716), Attempt::CtsDamaged));
        assert_eq!(clear(Some(ControlFrame::Cts)), (damaged, vec![rts, cts]));
    }
}
