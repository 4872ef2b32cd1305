//! Loss: how it is found, repaired and told from congestion.

use airtcp_tcp::Profile;
use airtcp_tcp::config::{LossDetection, Recovery, Reduction, Retransmission, RttEstimation};
use airtcp_tcp::loss_differentiation::Differentiation;
use airtcp_units::Duration;

use super::row::{BACKLOG, BY_ITSELF, classifier, repair, repair_as, sender};
use crate::choices::{LOSS_DETECTION, REDUCTION};
use crate::deployment::endpoints;
use crate::key::key;
use crate::sender::zigzag;
use crate::{Parameter, Quantity, Remedy};

use Quantity::Time;

#[rustfmt::skip] // Each row in few lines.
pub(crate) const ROWS: &[Remedy] = &[
    repair("tahoe")
        .effect("after three duplicate acknowledgments slow-starts from one segment")
        .from("Jacobson, Congestion Avoidance and Control, SIGCOMM 1988")
        .sets(|_, to| repair_as(Profile::Tahoe, to))
        .no_way("The recovery of Linux is that of NewReno or SACK."),
    repair("reno")
        .effect("fast recovery that ends at the first new acknowledgment: one loss a window")
        .from("RFC 2581 §3.2")
        .sets(|_, to| repair_as(Profile::Reno, to))
        .no_way("The congestion control that Linux calls reno is the window rule alone; its \
                 recovery without SACK is NewReno's."),
    repair("newreno")
        .effect("fast recovery through partial acknowledgments: one lost segment a round trip")
        .from("RFC 6582")
        .sets(|_, to| repair_as(Profile::NewReno, to))
        .by(endpoints::NEWRENO),
    repair("sack")
        .effect("repairs several losses per round trip, guided by the receiver's selective \
                 acknowledgments")
        .from("RFC 2018, RFC 6675")
        .sets(|_, to| repair_as(Profile::Sack, to))
        .by(endpoints::SACK),
    sender("rack-tlp")
        .effect("declares a segment lost when one sent later has been delivered, and probes for \
                 lost tails")
        .from("RFC 8985")
        .decides(LOSS_DETECTION)
        .sets(|_, to| {
            (to.tcp.sack, to.tcp.tail_loss_probe) = (true, true);
            to.tcp.loss_detection = LossDetection::Rack;
        })
        .by(endpoints::RACK_TLP),
    sender("quic-recovery")
        .effect("recovers as QUIC does: losses by packet order or 9/8 of a round trip, probes in \
                 place of timeouts, and one reduction of the window a round trip")
        .from("RFC 9002")
        .decides(LOSS_DETECTION)
        .takes(&[Parameter::key("ack-delay", key!(ack_delay), Time(Duration::from_millis(25)))])
        .sets(|_, to| {
            (to.tcp.sack, to.tcp.tail_loss_probe) = (true, false);
            to.tcp.loss_detection = LossDetection::Quic;
            to.tcp.recovery = Recovery::RecoveryPeriod;
            to.tcp.retransmission = Retransmission::Probe;
            to.tcp.timeout.estimation = RttEstimation::Rfc6298;
            to.tcp.timeout.min = Duration::from_millis(1);
            to.tcp.timeout.scope = None;
        })
        .no_way("Part of a QUIC stack, not of the kernel's TCP: an application gets it by QUIC."),
    sender("fack")
        .effect("declares every hole lost that ends three segments below the highest byte reported")
        .from("Mathis & Mahdavi, Forward acknowledgment, SIGCOMM 1996")
        .decides(LOSS_DETECTION)
        .sets(|_, to| {
            to.tcp.sack = true;
            to.tcp.loss_detection = LossDetection::ForwardAcknowledgment;
        })
        .no_way("Linux removed it in version 4.15; RACK took its place."),
    sender("prr")
        .effect("reduces the window in proportion to delivered data instead of at once")
        .from("RFC 6937 and its successor, RFC 9937")
        .decides(REDUCTION)
        .sets(|_, to| to.tcp.reduction = Reduction::Proportional)
        .by(BY_ITSELF),
    sender("rate-halving")
        .effect("sends one segment per two acknowledged until the window has halved")
        .from("Mathis, Semke & Mahdavi, The rate-halving algorithm, 1999; Linux 2.4")
        .decides(REDUCTION)
        .sets(|_, to| to.tcp.reduction = Reduction::RateHalving)
        .no_way("Linux replaced it by PRR in version 3.2."),
    zigzag::NEWZAG,
    zigzag::ZIGZAG,
    classifier("spike")
        .effect("like newzag, but classifies a loss as congestion during a round-trip spike")
        .from("Tobe et al., LCN 2000; Cen, Cosman & Voelker §III.A")
        .sets(|_, to| to.tcp.differentiation = Some(Differentiation::Spike)),
    classifier("mbiaz")
        .effect("like newzag, but classifies a loss as random when the arrival gap equals the \
                 missing segments' transmission time")
        .from("Biaz & Vaidya, ASSET 1999; Cen, Cosman & Voelker §III.B")
        .sets(|_, to| to.tcp.differentiation = Some(Differentiation::MBiaz)),
    classifier("zbs")
        .effect("like newzag, switching between zigzag, mbiaz and spike by the state of the path")
        .from("Cen, Cosman & Voelker §V")
        .sets(|_, to| to.tcp.differentiation = Some(Differentiation::Zbs)),
    classifier("veno-classifier")
        .effect("like newzag, but classifies a loss as congestion where Veno's estimate shows a \
                 backlog")
        .from("Fu & Liew, TCP Veno, JSAC 21(2), 2003, §II")
        .takes(&[BACKLOG])
        .sets(|values, to| {
            let beta = values.number("beta");
            to.tcp.differentiation = Some(Differentiation::Veno { beta });
        }),
    classifier("oracle")
        .effect("like newzag, but knows the true cause of each loss (simulation only)")
        .from("a bound for the others, none of the papers has it")
        .sets(|_, to| to.tcp.differentiation = Some(Differentiation::Oracle))
        .no_way("Only a simulator knows why a packet was lost."),
    classifier("coin")
        .effect("like newzag, but classifies each loss as random with a fixed probability")
        .from("a control for the others (Lien et al. has none)")
        .takes(&[Parameter::number("q", "", 0.4, (0.0, 1.0), "how often a loss is called random")])
        .sets(|values, to| {
            let radio_probability = values.number("q");
            to.tcp.differentiation = Some(Differentiation::Coin { radio_probability });
        })
        .by(endpoints::COIN),
];
