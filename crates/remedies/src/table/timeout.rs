//! The retransmission timeout: its computation, the data it resends, and the response to a
//! spurious one.

use airtcp_tcp::config::{
    DeviationFrom, Retransmission, RttEstimation, RttSampling, SpuriousDetection, SpuriousResponse,
};
use airtcp_units::Duration;

use super::row::{BY_ITSELF, sender, undo};
use crate::choices::RETRANSMISSION;
use crate::deployment::endpoints;
use crate::key::key;
use crate::{Parameter, Quantity, Remedy};

use Quantity::{Number, Time};

#[rustfmt::skip] // Each row in few lines.
pub(crate) const ROWS: &[Remedy] = &[
    sender("rto-factor")
        .effect("sets the number of mean deviations (m) in the retransmission timeout, in place of \
                 4")
        .from("Miyim, Techniques for Throughput Enhancement in Wireless Networks, §III, eq. 3; \
               RFC 6298 §2.3 (K = 4)")
        .decides("the factor of the RTT deviation")
        .takes(&[Parameter::key("factor", key!(factor), Number(10.0))])
        .by(endpoints::RTO_FACTOR),
    sender("min-rto")
        .effect("sets the minimum retransmission timeout: a lower one repairs losses sooner, a \
                 higher one rides out delay spikes")
        .from("RFC 6298 §2.4")
        .decides("the least RTO")
        .takes(&[Parameter::key("min", key!(min), Time(Duration::from_secs(1)))])
        .by(endpoints::MIN_RTO),
    sender("linux-rto")
        .effect("computes the timeout as Linux does: smoothed round trip plus the largest recent \
                 deviation, at least 200 ms")
        .from("Sarolahti & Kuznetsov, Congestion control in Linux TCP, USENIX 2002, §4.1; Linux, \
               tcp_rtt_estimator")
        .decides("how round trips become a timeout")
        .sets(|_, to| to.tcp.timeout.estimation = RttEstimation::Linux)
        .by(BY_ITSELF),
    sender("rtt-sampling")
        .effect("chooses whether one round trip per window is measured or one per acknowledgment")
        .from("RFC 6298 §3; RFC 7323 §4.1; Miyim §III (one packet at a time without timestamps)")
        .decides("which round trips are measured")
        .takes(&[Parameter::switch("every", 0, "0: one segment a window; 1: every acknowledgment")])
        .sets(|values, to| {
            to.tcp.timeout.sampling = match values.is_on("every") {
                true => RttSampling::PerAcknowledgment,
                false => RttSampling::PerWindow,
            }
        })
        .by(endpoints::RTT_SAMPLING),
    sender("rto-deviation")
        .effect("computes each sample's deviation from the mean that already includes it: 7/8 of \
                 the standard's")
        .from("Miyim §III, eq. 2; Fotiadis & Siris, eq. 2; RFC 6298 §2.3 takes the mean before")
        .decides("the mean that deviations are taken from")
        .takes(&[Parameter::switch(
            "updated", 1, "1: from the mean after the sample; 0: from the mean before it",
        )])
        .sets(|values, to| {
            to.tcp.timeout.deviation_from = match values.is_on("updated") {
                true => DeviationFrom::UpdatedMean,
                false => DeviationFrom::PreviousMean,
            }
        })
        .by(endpoints::RTO_DEVIATION),
    sender("eifel")
        .effect("detects a spurious timeout by the echoed timestamp and restores the windows")
        .from("RFC 3522 (detection), RFC 4015 (response)")
        .decides("what is done about needless recoveries")
        .sets(|_, to| {
            to.tcp.timestamps = true;
            to.tcp.spurious_detection = SpuriousDetection::default();
            to.tcp.spurious_detection.eifel = true;
            to.tcp.spurious_response = SpuriousResponse::Eifel;
        })
        .by(endpoints::EIFEL),
    sender("f-rto")
        .effect("sends new data after a timeout and undoes the timeout if data that was never \
                 retransmitted is acknowledged")
        .from("RFC 5682")
        .decides("whether timeouts are tested with new data")
        .sets(|_, to| { to.tcp.spurious_detection.frto = true; undo(to); })
        .by(endpoints::F_RTO),
    sender("dsack-undo")
        .effect("undoes a recovery when every retransmission is reported as a duplicate")
        .from("RFC 3708 §2; Linux, tcp_try_undo_dsack")
        .decides("whether reports of duplicates take recoveries back")
        .sets(|_, to| {
            (to.tcp.sack, to.tcp.dsack) = (true, true);
            to.tcp.spurious_detection.dsack_undo = true;
            undo(to);
        })
        .by(endpoints::DSACK_UNDO),
    sender("go-back-n")
        .effect("retransmits all outstanding data in order after a timeout, starting at the \
                 expired segment")
        .from("Miyim §IV (\"trace-N-retransmit\"); RFC 5681 §3.1, RFC 2018 §5.1")
        .decides(RETRANSMISSION)
        .sets(|_, to| to.tcp.retransmission = Retransmission::GoBackN)
        .by(endpoints::GO_BACK_N),
    sender("selective-repeat")
        .effect("retransmits only the expired segment after a timeout; each segment has its own \
                 timer")
        .from("Miyim §IV (\"select-N-repeat\")")
        .decides(RETRANSMISSION)
        .sets(|_, to| to.tcp.retransmission = Retransmission::SelectiveRepeat)
        .by(endpoints::SELECTIVE_REPEAT),
];
