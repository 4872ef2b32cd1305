//! The remedies of the endpoints, a row each: name, effect, source, choice, parameters, other keys
//! in `[tcp]`, and deployment. A parameter with a key sets it. A remedy with logic has a file,
//! and its name here.

mod row;

use airtcp_tcp::Profile;
use airtcp_tcp::config::{
    CongestionControl, DeviationFrom, EcnUse, LossDetection, ReceiveWindow, Reduction,
    Retransmission, RttEstimation, RttSampling, SlowStart, SpuriousDetection, SpuriousResponse,
};
use airtcp_tcp::loss_differentiation::Differentiation;
use airtcp_units::Duration;

use crate::choices::{
    INITIAL_WINDOW, LARGEST_OFFER, LARGEST_WINDOW, LOSS_DETECTION, REDUCTION, RETRANSMISSION,
    SLOW_START_END,
};
use crate::deployment::endpoints;
use crate::key::key;
use crate::receiver::{acknowledgments, mss_clamp, outages};
use crate::sender::{prague, send_buffer, wsc, zigzag};
use crate::{Parameter, Quantity, Remedy};
use row::{
    BACKLOG, BY_ITSELF, ON_OR_OFF, TEN_SECONDS, aim, classifier, control, queued, receiver, repair,
    repair_as, sender, standard_start, undo,
};

use Quantity::{Count, Number, Time};

/// In the order of the catalogue: the sender from the timer to the window, then the receiver.
#[rustfmt::skip] // Each row in few lines.
pub(crate) const TABLE: &[Remedy] = &[
    sender("rto-factor")
        .effect("sets the number of mean deviations (m) in the retransmission timeout, in place of \
                 4")
        .from("Miyim, Techniques for Throughput Enhancement in Wireless Networks, §III, eq. 3; RFC \
               6298 §2.3 (K = 4)")
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
    control("cubic")
        .effect("grows the window as a cubic function of the time since the last loss, flattest \
                 near the window of that loss")
        .from("RFC 9438")
        .sets(|_, to| to.tcp.congestion = CongestionControl::Cubic)
        .by(endpoints::CUBIC),
    control("westwood")
        .effect("sets the window after a loss to the measured bandwidth times the minimum round \
                 trip")
        .from("Grieco & Mascolo, Performance evaluation and comparison of Westwood+, New Reno, and \
               Vegas, CCR 34(2), 2004")
        .sets(|_, to| standard_start(CongestionControl::Westwood, to))
        .by(endpoints::WESTWOOD),
    control("veno")
        .effect("reduces the window by only a fifth when a loss occurs without a backlog in the \
                 network")
        .from("Fu & Liew, TCP Veno, JSAC 21(2), 2003, §II")
        .takes(&[BACKLOG])
        .sets(|values, to| {
            standard_start(CongestionControl::Veno, to);
            to.tcp.veno_backlog = values.number("beta");
        })
        .by(endpoints::VENO),
    control("vegas")
        .effect("keeps a few segments queued in the network, measured by delay: low latency, but \
                 yields to flows that fill the queue")
        .from("Brakmo & Peterson, TCP Vegas, JSAC 13(8), 1995; Linux, tcp_vegas.c")
        .takes(&[
            queued("alpha", 2, "the window opens while fewer wait in the network"),
            queued("beta", 4, "the window closes while more wait"),
        ])
        .sets(|values, to| {
            standard_start(CongestionControl::Vegas, to);
            to.tcp.vegas_alpha = values.count("alpha");
            to.tcp.vegas_beta = values.count("beta");
        })
        .by(endpoints::VEGAS),
    control("illinois")
        .effect("grows fast and backs off little while queueing delay is low; grows slowly and \
                 halves the window when it is high")
        .from("Liu, Başar & Srikant, TCP-Illinois, Performance Evaluation 65, 2008; Linux, \
               tcp_illinois.c")
        .sets(|_, to| standard_start(CongestionControl::Illinois, to))
        .by(endpoints::ILLINOIS),
    control("hybla")
        .effect("grows as fast in bytes per second as at a reference round trip: a satellite path \
                 grows like a short one")
        .from("Caini & Firrincieli, TCP Hybla, IJSCN 22(5), 2004; Linux, tcp_hybla.c")
        .takes(&[Parameter::count(
            "reference", "ms", 25, (1, 1000), "the round trip at which it is Reno (rtt0)",
        )])
        .sets(|values, to| {
            standard_start(CongestionControl::Hybla, to);
            let reference = values.count("reference").into();
            to.tcp.hybla_reference_rtt = Duration::from_millis(reference);
        })
        .by(endpoints::HYBLA),
    control("htcp")
        .effect("grows faster the longer ago the last loss was, and keeps 50 to 80 % of the window \
                 at a loss, by the ratio of shortest to longest round trip")
        .from("Shorten & Leith, H-TCP, PFLDnet 2004; draft-leith-tcp-htcp; Linux, tcp_htcp.c")
        .sets(|_, to| standard_start(CongestionControl::HTcp, to))
        .by(endpoints::HTCP),
    control("yeah")
        .effect("grows as Scalable TCP while the queue is short and as Reno while it is long, and \
                 drains the queue it built before it overflows")
        .from("Baiocchi, Castellani & Vacirca, YeAH-TCP, PFLDnet 2007; Linux, tcp_yeah.c")
        .sets(|_, to| standard_start(CongestionControl::Yeah, to))
        .by(endpoints::YEAH),
    control("cdg")
        .effect("backs off as round trips grow, and after a loss keeps at least Reno's window: a \
                 short queue, and mainline Linux's only loss differentiation")
        .from("Hayes & Armitage, Revisiting TCP congestion control using delay gradients, IFIP \
               Networking 2011; Linux, tcp_cdg.c")
        .takes(&[Parameter::switch(
            "tolerance", 0, "whether a loss before the queue is full costs nothing (use_tolerance)",
        )])
        .sets(|values, to| {
            standard_start(CongestionControl::Cdg, to);
            to.tcp.cdg_tolerance = values.is_on("tolerance");
        })
        .by(endpoints::CDG),
    control("dctcp")
        .effect("reduces its window in proportion to the fraction of marked bytes: a queue as \
                 short as the marking threshold, if the bottleneck marks and both ends run DCTCP")
        .from("RFC 8257; Alizadeh et al., Data Center TCP, SIGCOMM 2010; Linux, tcp_dctcp.c")
        .sets(|_, to| {
            standard_start(CongestionControl::Dctcp, to);
            to.tcp.ecn = EcnUse::Request;
        })
        .by(endpoints::DCTCP),
    control("c2tcp")
        .effect("CUBIC that collapses its window while round trips exceed a target: low delay in \
                 the deep queues of cellular links")
        .from("Abbasloo, Xu & Chao, C2TCP, IFIP Networking 2018, and its patch of Linux 4.13")
        .takes(&[
            aim("target", TEN_SECONDS, "target round trip, including the path's base delay"),
            aim(
                "interval", TEN_SECONDS,
                "for how long round trips may be longer before the window falls",
            ),
        ])
        .sets(|values, to| {
            to.tcp.congestion = CongestionControl::C2Tcp;
            to.tcp.c2tcp_target = values.time("target");
            to.tcp.c2tcp_interval = values.time("interval");
        })
        .no_way("No released kernel has it; its authors publish a patch of 4.13."),
    control("jersey")
        .effect("sets the window after a loss by its estimate of the available bandwidth; without \
                 the routers' congestion warnings")
        .from("Xu, Tian & Ansari, TCP-Jersey for wireless IP communications, JSAC 22(4), 2004, \
               §III")
        .sets(|_, to| to.tcp.congestion = CongestionControl::Jersey)
        .no_way("No implementation is known."),
    control("bbr")
        .effect("paces at the measured bandwidth and does not treat loss as congestion")
        .from("Cardwell, Cheng, Gunn, Yeganeh & Jacobson, BBR, ACM Queue 14(5), 2016; Linux, \
               tcp_bbr.c")
        .sets(|_, to| to.tcp.congestion = CongestionControl::Bbr)
        .by(endpoints::BBR),
    control("bbr-v3")
        .effect("paces at the measured bandwidth and backs off once more than 2 % is lost")
        .from("draft-ietf-ccwg-bbr")
        .sets(|_, to| to.tcp.congestion = CongestionControl::BbrV3)
        .by(endpoints::BBR_V3),
    prague::REMEDY,
    control("ledbat")
        .effect("background transfer: shrinks the window while the queueing delay exceeds a \
                 target, measured by the round trip (the RFC uses one-way delay)")
        .from("RFC 6817; draft-irtf-iccrg-ledbat-plus-plus for round trips and slow start")
        .takes(&[aim(
            "target", Duration::from_millis(100),
            "delay in the queues that is aimed at; RFC 6817 §2.5: at most 100 ms",
        )])
        .sets(|values, to| {
            to.tcp.congestion = CongestionControl::Ledbat;
            to.tcp.slow_start = SlowStart::Standard;
            to.tcp.ledbat_target = values.time("target");
        })
        .no_way("No released kernel has it; its authors published a module. TCP-LP (modprobe \
                 tcp_lp), which Linux has, yields as well, by another rule."),
    sender("hystart")
        .effect("ends slow start when ACK trains or round trips grow long")
        .from("Ha & Rhee, Taming the elephants, Computer Networks 55(9), 2011")
        .decides(SLOW_START_END)
        .sets(|_, to| to.tcp.slow_start = SlowStart::HyStart)
        .by(endpoints::HYSTART),
    sender("hystart-plus-plus")
        .effect("slows slow start down when round trips grow, and ends it five round trips later")
        .from("RFC 9406")
        .decides(SLOW_START_END)
        .sets(|_, to| to.tcp.slow_start = SlowStart::HyStartPlusPlus)
        .no_way("The default of Windows and of Apple's systems; not in Linux."),
    sender("pacing")
        .effect("spreads segments evenly over the round trip instead of sending them as ACKs \
                 arrive")
        .from("Aggarwal, Savage & Anderson, Understanding the performance of TCP pacing, INFOCOM \
               2000; Linux, tcp_update_pacing_rate")
        .decides("when segments leave")
        .sets(|_, to| to.tcp.pacing = true)
        .by(endpoints::PACING),
    sender("small-queue")
        .effect("limits a flow's packets in the sender's wireless device; the rest waits in the \
                 socket, where it delays no other flow")
        .from("Linux, TCP small queues (net/ipv4/tcp_output.c); net/mac80211/main.c, \
               tx_sk_pacing_shift")
        .decides("how much of a flow waits in the sender's device")
        .takes(&[Parameter::key("shift", key!(pacing_shift), Count(7))
            .advised("7 is 8 ms of the flow's rate, 10 is 1 ms")])
        .sets(|_, to| to.tcp.small_queue = true)
        .by(endpoints::SMALL_QUEUE),
    wsc::TOGETHER,
    wsc::CORRECTED_RTT,
    wsc::DYNAMIC_DUPACK,
    sender("wsc-best-start")
        .effect("starts with the final window of past sessions with the same peer; airtcp run \
                 --sessions FILE reads and updates it")
        .from("Srinivasan, Efficient TCP enhancements for hybrid networks (WSC-TCP), §3.3; RFC \
               6928 for the usual ten")
        .decides(INITIAL_WINDOW)
        .takes(&[Parameter::key("window", key!(initial_window), Count(30))
            .in_unit("segments")
            .advised("the steady window of past sessions")])
        .by(endpoints::WSC_BEST_START),
    wsc::RTT_CLUSTERS,
    sender("dupack-threshold")
        .effect("raises the number of duplicate acknowledgments that count as a loss: for links \
                 that reorder")
        .from("RFC 5681 §3.2 (3); RFC 4653")
        .decides("the duplicate-acknowledgment threshold")
        .takes(&[Parameter::key("segments", key!(duplicate_ack_threshold), Count(6))])
        .by(endpoints::DUPACK_THRESHOLD),
    sender("limited-transmit")
        .effect("sends a new segment on each of the first duplicate acknowledgments, so that small \
                 windows reach the third")
        .from("RFC 3042")
        .decides("limited transmit")
        .takes(&[Parameter::key("on", key!(limited_transmit), Count(1)).advised(ON_OR_OFF)])
        .by(endpoints::LIMITED_TRANSMIT),
    sender("initial-window")
        .effect("sets the initial congestion window, in segments")
        .from("RFC 6928 (10); RFC 5681 §3.1 (2 to 4)")
        .decides(INITIAL_WINDOW)
        .takes(&[Parameter::key("segments", key!(initial_window), Count(10)).in_unit("segments")])
        .by(endpoints::INITIAL_WINDOW),
    sender("max-window")
        .effect("caps the segments in flight, which keeps a deep queue from filling")
        .from("RFC 5681 §3.1 leaves it to the sender; ns-2's window_")
        .decides(LARGEST_WINDOW)
        .takes(&[Parameter::key("segments", key!(max_window), Count(64)).in_unit("segments")])
        .by(endpoints::MAX_WINDOW),
    send_buffer::REMEDY,
    sender("timestamps")
        .effect("adds a timestamp to every segment, so that retransmissions give round trips too; \
                 costs 12 bytes per segment")
        .from("RFC 7323 §3 and §4")
        .decides("timestamps")
        .takes(&[Parameter::key("on", key!(timestamps), Count(1)).advised(ON_OR_OFF)])
        .by(endpoints::TIMESTAMPS),
    sender("nodelay")
        .effect("sends short segments at once instead of waiting for outstanding ACKs (disables \
                 Nagle)")
        .from("RFC 9293 §3.7.4; tcp(7), TCP_NODELAY")
        .decides("when a short segment leaves")
        .sets(|_, to| to.tcp.nagle = false)
        .by(endpoints::NODELAY),
    sender("mtu-probing")
        .effect("falls back to shorter segments when the path drops long ones, and later probes \
                 longer ones")
        .from("RFC 4821; Linux, tcp_mtu_probing")
        .decides("how long segments are on a path that swallows long ones")
        .by(endpoints::MTU_PROBING),
    acknowledgments::DELAYED_ACK,
    acknowledgments::ACK_RATE,
    receiver("dsack")
        .effect("reports duplicate arrivals, so that the sender can detect needless \
                 retransmissions; implies SACK")
        .from("RFC 2883")
        .decides("reports of duplicates")
        .takes(&[Parameter::key("on", key!(dsack), Count(1))
            .advised("1: on, and SACK with it; 0: off")])
        // RFC 2883 §4: the report is a SACK block.
        .sets(|_, to| to.tcp.sack |= to.tcp.dsack)
        .by(endpoints::DSACK),
    receiver("receive-window")
        .effect("caps the sender's data in flight: a client's remedy for the queue of its download")
        .from("RFC 9293 §3.8.6; Spring et al., Receiver Based Management of Low Bandwidth Access \
               Links, INFOCOM 2000")
        .decides(LARGEST_OFFER)
        .takes(&[Parameter::key("bytes", key!(receive_buffer), Count(65_536))
            .advised("all of it is offered: the link's rate times the round trip that you want")])
        .sets(|_, to| to.tcp.receive_window = ReceiveWindow::Fixed)
        .by(endpoints::RECEIVE_WINDOW),
    receiver("receive-buffer")
        .effect("sets the maximum receive buffer and so the largest advertised window: below the \
                 bandwidth-delay product it leaves the link idle")
        .from("Fisk & Feng, Dynamic right-sizing in TCP, LACSI 2001; RFC 7323 §2; Linux, tcp(7), \
               tcp_rmem")
        .decides(LARGEST_OFFER)
        .takes(&[Parameter::key("bytes", key!(receive_buffer), Count(8 << 20))
            .advised("twice the link's rate times the round trip, since data buffered behind a gap \
                      waits one more round trip")])
        .by(endpoints::RECEIVE_BUFFER),
    acknowledgments::TACK,
    outages::FREEZE_TCP,
    outages::HAND_OFF_ACKS,
    mss_clamp::REMEDY,
];
