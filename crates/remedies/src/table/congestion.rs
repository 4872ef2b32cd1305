//! Congestion controls: how large the window is.

use airtcp_tcp::config::{CongestionControl, EcnUse, SlowStart};
use airtcp_units::Duration;

use super::row::{
    BACKLOG, EXPONENT, LATENCY, LOSS, TEN_SECONDS, aim, control, paced_by_utility, queued,
    standard_start,
};
use crate::deployment::endpoints;
use crate::sender::{prague, sprout};
use crate::{Parameter, Remedy};

#[rustfmt::skip] // Each row in few lines.
pub(crate) const ROWS: &[Remedy] = &[
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
        .sets(|_, to| standard_start(CongestionControl::Jersey, to))
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
    control("copa")
        .effect("moves the window towards a rate inversely proportional to the queueing delay: a \
                 queue of a few segments, and no reduction for losses")
        .from("Arun & Balakrishnan, Copa, NSDI 2018")
        .takes(&[
            Parameter::number(
                "delta", "", 0.5, (0.004, 1.0), "at rest 1.25/delta segments queue",
            ),
            Parameter::switch("competes", 1, "whether delta falls while others fill the queue"),
        ])
        .sets(|values, to| {
            to.tcp.congestion = CongestionControl::Copa;
            to.tcp.copa_delta = values.number("delta");
            to.tcp.copa_competes = values.is_on("competes");
        })
        .no_way("No Linux kernel has it; the authors' code runs over UDP, Meta's over QUIC."),
    control("vivace")
        .effect("measures a utility of rate, delay and losses at two rates in turn and moves the \
                 pace towards more: no reduction for random losses up to 5 %, and a short queue")
        .from("Dong et al., PCC Vivace: Online-Learning Congestion Control, NSDI 2018; its \
               authors' code (github.com/PCCproject/PCC-Uspace, branch NSDI-2018)")
        .takes(&[
            EXPONENT, LATENCY, LOSS,
            Parameter::number(
                "mild", "", 0.0, (0.0, 1.0),
                "loss rate up to which that weight is 1; 0.03 in the authors' code",
            ),
        ])
        .sets(|values, to| {
            paced_by_utility(CongestionControl::Vivace, values, to);
            to.tcp.pcc_mild_loss = values.number("mild");
        })
        .no_way("No released kernel has it: its authors' program runs over UDP, in user space, and \
                 their kernel module (PCCproject/PCC-Kernel, branch vivace) is a draft."),
    control("proteus-p")
        .effect("as vivace, with decisions by majority and a filter for noisy round trips, which \
                 are no reward when they fall")
        .from("Meng et al., PCC Proteus: Scavenger Transport And Beyond, SIGCOMM 2020; its \
               authors' code (github.com/PCCproject/PCC-Uspace)")
        .takes(&[EXPONENT, LATENCY, LOSS])
        .sets(|values, to| paced_by_utility(CongestionControl::ProteusP, values, to))
        .no_way("No Linux kernel has it: its authors' program runs over UDP, in user space."),
    control("proteus-s")
        .effect("background transfer: as proteus-p, but yields to flows that make round trips \
                 deviate, and fills a link that it has alone")
        .from("Meng et al., PCC Proteus: Scavenger Transport And Beyond, SIGCOMM 2020; its \
               authors' code (github.com/PCCproject/PCC-Uspace)")
        .takes(&[
            EXPONENT, LATENCY, LOSS,
            Parameter::number(
                "d", "", 1500.0, (0.0, 1_000_000.0),
                "weight of the deviation of round trips, a second",
            ),
        ])
        .sets(|values, to| {
            paced_by_utility(CongestionControl::ProteusS, values, to);
            to.tcp.pcc_deviation = values.number("d");
        })
        .no_way("No Linux kernel has it: its authors' program runs over UDP, in user space. TCP-LP \
                 (modprobe tcp_lp), which Linux has, yields as well, by another rule."),
    control("verus")
        .effect("moves a target delay every 5 ms by the trend of the delays, and sets the window \
                 that goes with it in a learned profile of delays: for cellular links that change \
                 fast")
        .from("Zaki et al., Adaptive Congestion Control for Unpredictable Cellular Networks, \
               SIGCOMM 2015; its authors' code (github.com/yzaki/verus)")
        .takes(&[Parameter::number(
            "r", "", 6.0, (1.1, 100.0),
            "ratio of longest and shortest delay above which the target falls: less is a shorter \
             queue",
        )])
        .sets(|values, to| {
            to.tcp.congestion = CongestionControl::Verus;
            to.tcp.verus_ratio = values.number("r");
        })
        .no_way("No Linux kernel has it: its authors' program runs over UDP, in user space."),
    sprout::REMEDY,
    sprout::MOVING_AVERAGE,
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
];
