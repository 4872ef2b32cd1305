//! Triggers of retransmissions, from the circumstances at that moment.

use airtcp_units::Duration;

use super::label::Trigger;

/// Maximum delay of a retransmission triggered by an ACK, on a busy sender.
const PROMPT: Duration = Duration::from_millis(2);

/// Circumstances at the moment of a retransmission.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// It repeats a SYN.
    pub is_syn: bool,
    /// Time since the last packet of the other direction.
    pub since_ack: Duration,
    /// Time since the retransmission timer was last started.
    pub silence: Duration,
    /// The RTO as reconstructed, with its backoff.
    pub timeout: Duration,
    /// Smoothed RTT, if known.
    pub srtt: Option<Duration>,
    /// Whether it repeats the lowest unacknowledged byte.
    pub is_lowest: bool,
    /// Whether it repeats the highest byte sent.
    pub is_highest: bool,
    /// Whether later data was SACKed.
    pub is_sacked_above: bool,
    /// Number of consecutive duplicate ACKs.
    pub duplicates: u32,
    /// Whether the bytes were outstanding at a timeout since which not all has been acknowledged.
    pub is_after_timeout: bool,
    /// Whether the bytes were outstanding at the start of the current fast recovery.
    pub is_in_recovery: bool,
    /// Whether nothing was retransmitted since the lowest byte last advanced.
    pub is_first: bool,
    /// Whether SACK was negotiated, a condition of tail loss probes.
    pub has_sack: bool,
    /// Whether the receive window is closed.
    pub is_window_shut: bool,
}

/// Classifies a retransmission. Returns `None` if a timeout and a tail loss probe cannot be
/// distinguished: a single segment is in flight, and the timer of a probe ends with that of the
/// timeout (Linux, `tcp_schedule_loss_probe`).
pub fn classify(seen: &Circumstances) -> Option<Trigger> {
    if seen.is_syn {
        return Some(Trigger::Timeout);
    }
    if seen.is_window_shut {
        return Some(Trigger::WindowProbe);
    }
    let srtt = seen.srtt.unwrap_or_default();
    // An ACK would have triggered it at once; pacing and RACK's timer wait for a fraction of a
    // round trip (RFC 8985 §6.2: a quarter).
    let is_unprompted = seen.since_ack >= PROMPT.max((srtt / 3).min(seen.timeout / 4));
    let is_due = seen.silence * 10 >= seen.timeout * 7;
    let may_be_probe = seen.has_sack
        && seen.is_highest
        && seen.is_first
        && !seen.is_sacked_above
        && !seen.is_after_timeout
        && !seen.is_in_recovery;
    if is_unprompted && may_be_probe && seen.silence >= srtt {
        return if seen.is_lowest {
            None
        } else {
            Some(Trigger::TailProbe)
        };
    }
    if is_unprompted && seen.is_lowest && is_due {
        return Some(Trigger::Timeout);
    }
    // Without SACK, duplicates may come until the timer expires: they give no evidence on the loss
    // of a retransmission (RFC 6582 §4), nor on losses before the end of the last recovery (§3.2).
    let is_overdue = seen.silence * 10 >= seen.timeout * 9;
    if !seen.has_sack && seen.is_lowest && (is_overdue || is_due && !seen.is_first) {
        return Some(Trigger::Timeout);
    }
    if seen.is_after_timeout {
        return Some(Trigger::GoOn);
    }
    if seen.is_sacked_above || seen.duplicates >= 3 || seen.is_in_recovery {
        return Some(Trigger::Fast);
    }
    if is_unprompted && seen.is_lowest && seen.silence * 2 >= seen.timeout {
        return Some(Trigger::Timeout);
    }
    if seen.duplicates > 0 {
        // Early retransmit and RACK need fewer (RFC 5827, RFC 8985).
        return Some(Trigger::Fast);
    }
    Some(Trigger::Unclear)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// The timer expired on one of many segments in flight.
    const EXPIRED: Circumstances = Circumstances {
        is_syn: false,
        since_ack: ms(250),
        silence: ms(250),
        timeout: ms(250),
        srtt: Some(ms(50)),
        is_lowest: true,
        is_highest: false,
        is_sacked_above: false,
        duplicates: 0,
        is_after_timeout: false,
        is_in_recovery: false,
        is_first: true,
        has_sack: true,
        is_window_shut: false,
    };
    /// An ACK with SACK blocks just came.
    const SACKED: Circumstances = Circumstances {
        since_ack: ms(0),
        silence: ms(20),
        is_sacked_above: true,
        duplicates: 1,
        ..EXPIRED
    };

    #[test]
    fn each_trigger_has_its_circumstances() {
        let backed_off = Circumstances {
            silence: ms(480),
            since_ack: ms(730),
            timeout: ms(500),
            is_after_timeout: true,
            is_first: false,
            ..EXPIRED
        };
        // RFC 8985 §7.2: a probe after two round trips, of the last segment.
        let probe = Circumstances {
            since_ack: ms(104),
            silence: ms(104),
            is_lowest: false,
            is_highest: true,
            ..EXPIRED
        };
        let single = Circumstances {
            is_highest: true,
            ..EXPIRED
        };
        let cases = [
            (EXPIRED, Some(Trigger::Timeout)),
            (backed_off, Some(Trigger::Timeout)),
            (probe, Some(Trigger::TailProbe)),
            (single, None),
            (
                Circumstances {
                    has_sack: false,
                    ..single
                },
                Some(Trigger::Timeout),
            ),
            (SACKED, Some(Trigger::Fast)),
            (
                Circumstances {
                    is_after_timeout: true,
                    ..SACKED
                },
                Some(Trigger::GoOn),
            ),
            (
                Circumstances {
                    duplicates: 3,
                    is_sacked_above: false,
                    ..SACKED
                },
                Some(Trigger::Fast),
            ),
            // A partial ACK (RFC 6582 §3.2).
            (
                Circumstances {
                    duplicates: 0,
                    is_sacked_above: false,
                    is_in_recovery: true,
                    ..SACKED
                },
                Some(Trigger::Fast),
            ),
            // The retransmission of a segment was lost, which only the timer detects.
            (
                Circumstances {
                    is_sacked_above: true,
                    is_in_recovery: true,
                    is_first: false,
                    ..EXPIRED
                },
                Some(Trigger::Timeout),
            ),
            // Without SACK this is the only evidence, although duplicate ACKs arrive.
            (
                Circumstances {
                    has_sack: false,
                    is_sacked_above: false,
                    duplicates: 40,
                    since_ack: ms(0),
                    is_in_recovery: true,
                    is_first: false,
                    ..EXPIRED
                },
                Some(Trigger::Timeout),
            ),
            (
                Circumstances {
                    is_window_shut: true,
                    ..EXPIRED
                },
                Some(Trigger::WindowProbe),
            ),
            (
                Circumstances {
                    duplicates: 0,
                    is_sacked_above: false,
                    ..SACKED
                },
                Some(Trigger::Unclear),
            ),
        ];
        for (seen, expected) in cases {
            assert_eq!(classify(&seen), expected, "{seen:?}");
        }
    }
}
