//! Remedies that would change nothing at a sender or receiver: it does so already, or another of
//! its choices leaves the setting unread.

use airtcp_tcp::Config;
use airtcp_tcp::config::{LossDetection, Recovery, RttEstimation, SlowStart};

use crate::Selection;

/// Why a remedy would change nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// The endpoint does so without it.
    AlreadySo,
    /// The endpoint ignores the remedy's settings, for this reason.
    Unread(&'static str),
}

/// Settings that an endpoint with certain choices does not read.
struct Unread {
    /// Whether the endpoint has these choices.
    by: fn(&Config) -> bool,
    /// Copies the settings from the second configuration, so that only settings in use still
    /// differ.
    take: fn(&mut Config, &Config),
    /// Why they are not read.
    because: &'static str,
}

/// Segments of the window from which HyStart looks, and round trips that it needs (Linux,
/// `hystart_low_window` and `HYSTART_MIN_SAMPLES`).
const HYSTART_MIN_WINDOW: u64 = 16;
const HYSTART_SAMPLES: u64 = 8;

/// Whether the window follows a model of the path.
const fn has_model(tcp: &Config) -> bool {
    tcp.congestion.is_model()
}

const UNREAD: &[Unread] = &[
    Unread {
        by: has_model,
        take: |to, from| {
            to.differentiation = from.differentiation;
            to.bounded_radio = from.bounded_radio;
        },
        because: "BBR's window follows a model of the path, and no loss is judged for it; choose \
                  another congestion control",
    },
    Unread {
        by: has_model,
        take: |to, from| to.slow_start = from.slow_start,
        because: "BBR begins by its own rule, STARTUP; choose another congestion control",
    },
    Unread {
        by: has_model,
        take: |to, from| to.pacing = from.pacing,
        because: "BBR always paces",
    },
    Unread {
        by: |tcp| tcp.timeout.estimation != RttEstimation::Rfc6298,
        take: |to, from| to.timeout.deviation_from = from.timeout.deviation_from,
        because: "only RFC 6298's estimator has this choice; set tcp.rtt_estimation = \"rfc6298\"",
    },
    Unread {
        by: |tcp| has_model(tcp) && tcp.sack && tcp.loss_detection == LossDetection::Rack,
        take: |to, from| {
            to.link_feedback.dynamic_threshold = from.link_feedback.dynamic_threshold;
        },
        because: "RACK counts duplicates only until it has seen reordering, and BBR's window does \
                  not follow from losses; set tcp.loss_detection = \"duplicate-acks\"",
    },
    Unread {
        by: |tcp| tcp.spurious_detection.eifel && tcp.timestamps,
        take: |to, from| to.spurious_detection.frto = from.spurious_detection.frto,
        because: "the echo of a timestamp tells a needless timeout before new data could; set \
                  tcp.eifel = false",
    },
    Unread {
        by: |tcp| {
            let round = HYSTART_MIN_WINDOW + HYSTART_SAMPLES;
            let most = round * u64::from(tcp.mss);
            tcp.slow_start == SlowStart::HyStart
                && tcp.initial_ssthresh.is_some_and(|bytes| bytes < most)
        },
        take: |to, from| to.slow_start = from.slow_start,
        because: "slow start ends at tcp.initial_ssthresh before HyStart has measured a round of 16 \
                  segments",
    },
    Unread {
        by: |tcp| matches!(tcp.recovery, Recovery::Tahoe),
        take: |to, from| to.reduction = from.reduction,
        because: "Tahoe has no fast recovery during which the window could come down; choose \
                  another tcp.recovery",
    },
];

impl Selection {
    /// Why the remedy at `position` changes nothing at an endpoint that is `tcp` without any of
    /// them; `None` if it does. The other remedies are made first.
    pub fn idle(&self, position: usize, tcp: &Config) -> Option<Idle> {
        let one = self.as_slice().get(position)?;
        let mut without = *tcp;
        let mut link = Vec::new();
        for (other, remedy) in self.as_slice().iter().enumerate() {
            if other != position {
                link.extend(remedy.apply(&mut without));
            }
        }
        let mut with = without;
        if one.apply(&mut with).iter().any(|own| !link.contains(own)) {
            return None;
        }
        if with == without {
            return Some(Idle::AlreadySo);
        }
        let mut because = None;
        for rule in UNREAD.iter().filter(|rule| (rule.by)(&with)) {
            let before = without;
            (rule.take)(&mut without, &with);
            if without != before {
                because = because.or(Some(rule.because));
            }
        }
        because.filter(|_| with == without).map(Idle::Unread)
    }
}

#[cfg(test)]
mod tests {
    use airtcp_tcp::Profile;

    use super::*;
    use crate::parse;

    fn idle(remedies: &str, profile: Profile) -> Option<Idle> {
        parse(remedies).unwrap().idle(0, &profile.config())
    }

    #[test]
    fn what_an_endpoint_does_already_is_no_change() {
        for (remedy, profile) in [
            ("cubic", Profile::Linux),
            ("go-back-n", Profile::NewReno),
            ("initial-window:segments=10", Profile::Linux),
            ("bbr", Profile::LinuxBbr),
        ] {
            assert_eq!(idle(remedy, profile), Some(Idle::AlreadySo), "{remedy}");
        }
        assert_eq!(idle("cubic", Profile::LinuxReno), None);
        assert_eq!(idle("codel", Profile::Linux), None, "the link is changed");
    }

    #[test]
    fn what_is_not_read_is_named_with_the_reason() {
        for (remedy, profile, reason) in [
            ("newzag", Profile::LinuxBbr, "no loss is judged"),
            ("hystart-plus-plus", Profile::LinuxBbr, "STARTUP"),
            ("pacing", Profile::LinuxBbr, "always paces"),
            ("rto-deviation", Profile::Linux, "RFC 6298's estimator"),
            ("rate-halving", Profile::Tahoe, "no fast recovery"),
            ("f-rto", Profile::Linux24, "the echo of a timestamp"),
            ("hystart", Profile::Ns2NewReno, "tcp.initial_ssthresh"),
            ("wsc-dynamic-dupack", Profile::LinuxBbr, "RACK counts"),
        ] {
            let Some(Idle::Unread(found)) = idle(remedy, profile) else {
                panic!("{remedy}: read");
            };
            assert!(found.contains(reason), "{remedy}: {found}");
        }
        // Combined with another choice, the same remedy has an effect.
        assert_eq!(idle("newzag+cubic", Profile::LinuxBbr), None);
        assert_eq!(idle("rate-halving+newreno", Profile::Tahoe), None);
    }
}
