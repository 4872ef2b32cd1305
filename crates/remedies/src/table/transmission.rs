//! When segments leave, and how many at first: slow start, pacing, thresholds, windows, options.

use airtcp_tcp::config::SlowStart;

use super::row::{ON_OR_OFF, sender};
use crate::choices::{INITIAL_WINDOW, LARGEST_WINDOW, SLOW_START_END};
use crate::deployment::endpoints;
use crate::key::key;
use crate::sender::{send_buffer, wsc};
use crate::{Parameter, Quantity, Remedy};

use Quantity::Count;

#[rustfmt::skip] // Each row in few lines.
pub(crate) const ROWS: &[Remedy] = &[
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
    sender("fast-open")
        .effect("sends data in the SYN to a server that has granted a cookie: from the second \
                 connection on, a request that fits is answered one round trip earlier")
        .from("RFC 7413; Linux, ip-sysctl, tcp_fastopen")
        .decides("whether a SYN carries data")
        .sets(|_, to| to.tcp.fast_open = true)
        .by(endpoints::FAST_OPEN),
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
];
