//! A sender for low-latency queues: it reacts to each mark.

use airtcp_tcp::config::{CongestionControl, EcnUse, PRAGUE_BURST_SHIFT, SlowStart};

use crate::choices::WINDOW;
use crate::deployment::{At, Step, Way};
use crate::{Changes, Deployment, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "prague",
    place: Place::Sender,
    effect: "reduces in proportion to the fraction of marked packets and sends paced ECT(1): a \
             queue of about a millisecond where the bottleneck supports it (dualpi2); Reno if the \
             receiver does not count marks",
    source: "draft-briscoe-iccrg-prague-congestion-control; RFC 9331, RFC 9768; L4STeam/linux, \
             tcp_prague.c",
    parameters: &[],
    deployment: Deployment::by(&[Way::new(
        At::BothEnds,
        &[
            Step::CongestionControl { name: "prague" },
            Step::fixed_sysctl("net.ipv4.tcp_ecn", "3"),
        ],
    )
    .only_in("kernels of the L4S project (L4STeam/linux)")])
    .noting(
        "The receiver's kernel has to count marks (Linux 6.18 or later, net.ipv4.tcp_ecn 3), the \
         sender's device to pace (fq), and the bottleneck to mark ECT(1) early (dualpi2). Here \
         retransmissions are ECT(1), too, but no acknowledgments and no SYNs, and an old queue \
         that marks is not told from one that is made for it.",
    ),
    decides: WINDOW,
    apply,
};

fn apply(_: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Prague;
    changes.tcp.ecn = EcnUse::Accurate;
    changes.tcp.slow_start = SlowStart::Standard;
    changes.tcp.pacing = true;
    changes.tcp.pacing_shift = PRAGUE_BURST_SHIFT;
}
