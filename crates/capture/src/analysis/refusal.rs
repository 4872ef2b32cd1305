//! Conclusions that a capture does not support, and the capture that would.

use airtcp_packet::Flags;
use airtcp_units::Duration;

use super::limit::{Limit, Shares};
use super::vantage::Place;
use super::wire;
use crate::decode::Other;
use crate::flow::{Flow, Half};
use crate::packet::{Packet, Way};
use crate::survey::Survey;

/// Minimum number of losses for a loss model.
const MIN_LOSSES: usize = 30;
/// Minimum time with data in flight to fit a link.
const MIN_UNDER_WAY: Duration = Duration::from_secs(5);
/// Maximum share of the time limited by the application for a fit of the link.
const MAX_APPLICATION: f64 = 0.8;
/// Maximum percentage of packets out of order; above it there are several clocks.
const MAX_BEHIND_PERCENT: u64 = 1;
/// Minimum ratio of the fastest answer to data to the handshake's answer, for a proxy.
const PROXY_RATIO: u64 = 3;
/// Minimum difference of the two: longer than any delayed ACK.
const PROXY_MIN: Duration = Duration::from_millis(250);
/// Minimum percentage of hidden bytes that makes them the capture's subject.
const HIDDEN_PERCENT: u64 = 50;

/// Why part of an analysis was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its kind.
    pub kind: RefusalKind,
    /// The reason with its figures.
    pub reason: String,
    /// The capture that would help.
    pub remedy: &'static str,
}

/// Kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// Too few losses for a model of loss.
    FewLosses,
    /// Too little time with data in flight.
    Short,
    /// The application is the limit.
    Application,
    /// One direction only.
    OneWay,
    /// The order of packets is wrong.
    Order,
    /// The capture dropped packets.
    Dropped,
    /// A middlebox answers for the far end.
    Proxy,
    /// Most of the capture is QUIC.
    Quic,
    /// Most of the capture is in encrypted tunnels or frames.
    Encrypted,
    /// The flow's packets were not stored.
    NotKept,
    /// There is no TCP.
    NoTcp,
    /// The SYN, which carries the window scale, was not captured.
    NoSyn,
    /// The snap length cut off TCP options.
    CutOptions,
    /// Captured at the receiver, without timestamps that date the sender's packets.
    NoClock,
}

impl RefusalKind {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FewLosses => "few-losses",
            Self::Short => "short",
            Self::Application => "application-limited",
            Self::OneWay => "one-way",
            Self::Order => "wrong-order",
            Self::Dropped => "dropped",
            Self::Proxy => "proxy",
            Self::Quic => "quic",
            Self::Encrypted => "encrypted",
            Self::NotKept => "not-kept",
            Self::NoTcp => "no-tcp",
            Self::NoSyn => "no-syn",
            Self::CutOptions => "cut-options",
            Self::NoClock => "no-clock",
        }
    }

    /// Whether labels and shares are meaningless, too: they are left empty.
    #[must_use]
    pub const fn is_total(self) -> bool {
        matches!(
            self,
            Self::OneWay | Self::Order | Self::NotKept | Self::NoTcp
        )
    }

    /// Whether it is only a reservation: a link can be fitted and remedies ranked.
    #[must_use]
    pub const fn is_reservation(self) -> bool {
        matches!(self, Self::NoSyn | Self::CutOptions)
    }
}

const FROM_THE_START: &str = "capture from before the connection opens: \
     tcpdump -s 128 -w FILE.pcap, then start the transfer";
const WHOLE_HEADERS: &str = "capture whole headers: tcpdump -s 128 -w FILE.pcap";
const LONGER: &str =
    "capture a longer bulk transfer, a minute or more: iperf3, scp of a large file";
const BOTH_WAYS: &str = "capture both directions on one interface: no filter on source or \
     destination alone, and no mirror port of one direction";
const ONE_CLOCK: &str = "capture on one host and one interface: \
     tcpdump -i INTERFACE --time-stamp-precision=nano -s 128 -w FILE.pcap";
const NO_DROPS: &str = "capture less of each packet with a larger buffer: tcpdump -s 128 -B 65536";
const AT_SENDER: &str = "capture at the sender itself, or on the proxy's far side";
const WITH_CLOCK: &str = "capture at the sender with tcpdump -s 128, or switch timestamps on at \
     both ends (Linux: sysctl net.ipv4.tcp_timestamps=1)";
const PLAIN_TCP: &str = "capture a transfer over TCP: switch QUIC off in the browser, or use \
     curl --http2";
const INSIDE: &str = "capture inside the tunnel, on its own interface (wg0, tun0)";
const OTHER_LINK: &str = "capture on the interface that has the IP address; where the frames \
     hold IP behind a header of N bytes, cut it off: editcap -C N -T rawip FILE.pcap OUT.pcap";
const LONGER_PACKETS: &str = "capture more of each packet: tcpdump -s 256 -w FILE.pcap";
const IN_CLEAR: &str = "capture on the client itself, where frames are in clear, or decrypt with \
     the network's key in Wireshark and export the packets";
const SECOND_PASS: &str = "give the capture as a file and name the flow, so that it is read for \
     that flow alone";

impl Refusal {
    fn new(kind: RefusalKind, reason: String, remedy: &'static str) -> Self {
        Self {
            kind,
            reason,
            remedy,
        }
    }
}

/// Refusals for a whole capture.
pub fn of_capture(survey: &Survey) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let others = &survey.others;
    let sum = |kinds: &[Other]| kinds.iter().map(|kind| others.bytes(*kind)).sum::<u64>();
    let quic = sum(&[Other::Quic]);
    let hidden = sum(&[
        Other::Ipsec,
        Other::WireGuard,
        Other::EncryptedRadio,
        Other::Encrypted,
    ]);
    let tcp: u64 = survey.flows().map(Flow::bytes).sum::<u64>() + survey.unlisted().bytes;
    let whole = Other::ALL
        .iter()
        .fold(tcp, |sum, kind| sum.saturating_add(others.bytes(*kind)));
    let is_most = |bytes: u64| bytes > 0 && bytes * 100 / whole.max(1) >= HIDDEN_PERCENT;
    if is_most(quic) {
        refusals.push(Refusal::new(
            RefusalKind::Quic,
            format!(
                "{} % of the bytes are QUIC, whose ACKs are encrypted",
                quic * 100 / whole
            ),
            PLAIN_TCP,
        ));
    }
    if is_most(hidden) {
        let on_air = others.bytes(Other::EncryptedRadio);
        let (by, remedy) = if 2 * on_air > hidden {
            ("by the Wi-Fi", IN_CLEAR)
        } else {
            ("below TCP", INSIDE)
        };
        refusals.push(Refusal::new(
            RefusalKind::Encrypted,
            format!("{} % of the bytes are encrypted {by}", hidden * 100 / whole),
            remedy,
        ));
    }
    if survey.flow_count() == 0 {
        refusals.push(Refusal::new(
            RefusalKind::NoTcp,
            without_tcp(survey),
            find_tcp(survey),
        ));
    }
    // Steps within this are sorted.
    if survey.steps_back * 100 > survey.packets * MAX_BEHIND_PERCENT
        && survey.longest_step_back > wire::SORTED_WITHIN
    {
        refusals.push(Refusal::new(
            RefusalKind::Order,
            format!(
                "time steps back {} times, by up to {}",
                survey.steps_back, survey.longest_step_back
            ),
            ONE_CLOCK,
        ));
    }
    refusals
}

/// The kinds of packets of a capture without TCP, the most frequent first.
fn without_tcp(survey: &Survey) -> String {
    let mut kinds: Vec<(u64, Other)> = Other::ALL
        .iter()
        .map(|kind| (survey.others.packets(*kind), *kind))
        .filter(|(packets, _)| *packets > 0)
        .collect();
    kinds.sort_by_key(|(packets, kind)| (std::cmp::Reverse(*packets), *kind));
    let words: Vec<String> = kinds
        .iter()
        .map(|(packets, kind)| match (kind, survey.unknown_link) {
            (Other::UnknownLink, Some(link)) => {
                let name = link_name(link).map_or_else(String::new, |name| format!(" ({name})"));
                format!("{packets} of link type {link}{name}, which is not read")
            }
            _ => format!("{packets} {}", kind.name()),
        })
        .collect();
    let packets = survey.packets;
    if words.is_empty() {
        return format!("there is no TCP among {packets} packets");
    }
    format!(
        "there is no TCP among {packets} packets: {}",
        words.join(", ")
    )
}

/// Captures that would show TCP, by the content of this one.
fn find_tcp(survey: &Survey) -> &'static str {
    let most = Other::ALL
        .iter()
        .max_by_key(|kind| survey.others.packets(**kind));
    match most {
        Some(kind) if survey.others.packets(*kind) == 0 => FROM_THE_START,
        Some(Other::UnknownLink) => OTHER_LINK,
        Some(Other::Tunnel | Other::Encrypted | Other::Ipsec | Other::WireGuard) => INSIDE,
        Some(Other::Cut) => LONGER_PACKETS,
        Some(Other::EncryptedRadio) => IN_CLEAR,
        _ => FROM_THE_START,
    }
}

/// Names of link types without IP, or with IP in an unsupported form (tcpdump.org).
fn link_name(link: u16) -> Option<&'static str> {
    Some(match link {
        6 => "Token Ring",
        7 => "ARCNET",
        10 => "FDDI",
        11 | 100 => "ATM",
        104 => "Cisco HDLC",
        107 => "frame relay",
        122 => "Fibre Channel",
        138 => "IP over FireWire",
        143 => "DOCSIS",
        147..=162 => "a private type",
        187 | 201 | 251 | 256 => "Bluetooth",
        189 | 220 | 249 | 266 => "USB",
        195 | 215 | 230 | 283 => "IEEE 802.15.4",
        227 => "CAN",
        239 => "nflog",
        240 => "netANALYZER",
        252 => "Wireshark's upper PDUs",
        253 => "netlink",
        _ => return None,
    })
}

/// Refusals known before the analysis of the flow's packets.
pub fn of_flow(flow: &Flow, kept: usize) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if !flow.data().is_seen() || !flow.acks().is_seen() {
        refusals.push(Refusal::new(
            RefusalKind::OneWay,
            "only one direction was captured".to_owned(),
            BOTH_WAYS,
        ));
    } else if kept == 0 {
        refusals.push(Refusal::new(
            RefusalKind::NotKept,
            "the packets of this flow gave way to those of larger ones".to_owned(),
            SECOND_PASS,
        ));
    }
    if flow.data().syn.is_none() || flow.acks().syn.is_none() {
        refusals.push(Refusal::new(
            RefusalKind::NoSyn,
            "the connection's SYNs are missing, and with them the scale of its windows".to_owned(),
            FROM_THE_START,
        ));
    }
    refusals.extend(cut_options(flow));
    refusals
}

/// The options that the snap length cut off, if any.
fn cut_options(flow: &Flow) -> Option<Refusal> {
    let is_scale_cut = |half: &Half| half.syn.is_some() && !half.has_scale();
    let scale = (is_scale_cut(flow.data()) || is_scale_cut(flow.acks()))
        .then(|| "the scale of its windows".to_owned());
    let blocks = flow.acks().cut_options;
    let blocks =
        (blocks > 0).then(|| format!("the SACK blocks or timestamps of {blocks} acknowledgments"));
    let lacking: Vec<String> = scale.into_iter().chain(blocks).collect();
    (!lacking.is_empty()).then(|| {
        let reason = format!(
            "the capture cut off TCP's options, and with them {}",
            lacking.join(" and ")
        );
        Refusal::new(RefusalKind::CutOptions, reason, WHOLE_HEADERS)
    })
}

/// Results of the pass over a flow.
#[derive(Clone, Copy, Debug)]
pub struct PassSummary {
    pub losses: usize,
    pub sent: usize,
    pub behind_ack: u64,
    pub unseen_bytes: u64,
    pub data_bytes: u64,
    pub base: Duration,
    pub place: Place,
}

/// Refusals after the analysis of a flow. `shares` are from its sender's view, if available.
pub fn of_found(found: &PassSummary, shares: Option<&Shares>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if found.behind_ack * 100 > found.sent as u64 * MAX_BEHIND_PERCENT {
        refusals.push(Refusal::new(
            RefusalKind::Order,
            format!(
                "{} of {} packets stand behind their acknowledgment: two clocks, or two captures \
                 in one",
                found.behind_ack, found.sent
            ),
            ONE_CLOCK,
        ));
    } else if found.unseen_bytes * 100 > found.data_bytes {
        refusals.push(Refusal::new(
            RefusalKind::Dropped,
            format!(
                "{} of {} bytes were acknowledged but never captured",
                found.unseen_bytes,
                found.data_bytes + found.unseen_bytes
            ),
            NO_DROPS,
        ));
    }
    if found.losses < MIN_LOSSES {
        refusals.push(Refusal::new(
            RefusalKind::FewLosses,
            format!(
                "{} losses: expected at least {MIN_LOSSES} for a model of loss",
                found.losses
            ),
            LONGER,
        ));
    }
    let Some(shares) = shares else {
        refusals.push(Refusal::new(
            RefusalKind::NoClock,
            "the capture is the receiver's, and without TCP timestamps nothing tells when its \
             sender sent what: where the time went, and the link, are the sender's to see"
                .to_owned(),
            WITH_CLOCK,
        ));
        return refusals;
    };
    if shares.under_way() < MIN_UNDER_WAY {
        refusals.push(Refusal::new(
            RefusalKind::Short,
            format!(
                "data was under way for {:.1} s: expected at least 5 s",
                shares.under_way().as_secs_f64()
            ),
            LONGER,
        ));
    }
    if shares.share(Limit::Application) > MAX_APPLICATION {
        refusals.push(Refusal::new(
            RefusalKind::Application,
            format!(
                "the application had nothing to send for {:.0} % of the time",
                100.0 * shares.share(Limit::Application)
            ),
            LONGER,
        ));
    }
    refusals
}

/// Whether a proxy is on the path: the handshake was answered far sooner than any data, or packets
/// of one end have different hop counts.
pub fn proxy(
    packets: impl Iterator<Item = Packet>,
    flow: &Flow,
    way: Way,
    found: &PassSummary,
) -> Option<Refusal> {
    // The sender's SYN or that of its peer, whichever the far end answered.
    let handshake = match way {
        Way::FromClient => flow.handshake(),
        Way::FromServer => None,
    };
    if found.place == Place::Sender
        && let Some(handshake) = handshake
        && found.base > handshake * PROXY_RATIO
        && found.base > handshake + PROXY_MIN
    {
        return Some(Refusal::new(
            RefusalKind::Proxy,
            format!(
                "the handshake was answered in {handshake}, data never before {}: something in \
                 between answers for the far end",
                found.base
            ),
            AT_SENDER,
        ));
    }
    // Hop counts of the opening packets, and of later ones.
    let mut hops: [Option<u8>; 2] = [None; 2];
    let mut others = [0_u32; 2];
    for packet in packets.take(200) {
        let side = packet.way.index();
        if packet.segment.flags.contains(Flags::SYN) {
            hops[side] = Some(packet.hops);
        } else {
            let is_other = hops[side].is_some_and(|hops| hops != packet.hops);
            others[side] += u32::from(is_other && !packet.segment.flags.contains(Flags::RST));
        }
    }
    let far = way.back().index();
    (others[far] > 10).then(|| {
        Refusal::new(
            RefusalKind::Proxy,
            "the far end's SYN came over another number of hops than its other packets: something \
             in between answered for it"
                .to_owned(),
            AT_SENDER,
        )
    })
}
