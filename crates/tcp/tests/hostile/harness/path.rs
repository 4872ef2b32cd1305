//! The network's treatment of packets in flight.

use std::mem;
use std::rc::Rc;

use airtcp_packet::{Ecn, Flags};
use airtcp_units::Duration;

use super::plan::{Mangling, MarkRule, Treatment, WindowRule};
use super::world::{End, Packet, World, assert_intact};

/// Number of packets kept for replays.
const REMEMBERED: usize = 64;
/// Number of packets that the network may lose while neither endpoint makes progress: fewer than
/// the attempts after which an endpoint may give up (RFC 9293 §3.8.3; `tcp_syn_retries`,
/// `tcp_synack_retries` and `tcp_orphan_retries` of Linux: 6, 5, 8).
const MAX_LOSSES_IN_A_ROW: u32 = 6;
const MAX_LOSSES_OPENING: u32 = 4;
/// Time without progress after which the network loses nothing more. An established connection is
/// bounded by time: an endpoint keeps trying for 924.6 s from its first timeout (`tcp_retries2`).
/// An RTO that has backed off to the longest, 120 s, stays there until a segment sent only once is
/// measured (Karn's rule, RFC 6298 §3), so that few losses can take long; but anything that leaves
/// after this time arrives, and one RTO later something has left.
const MAX_LOSSES: Duration = Duration::from_secs(300);

impl World<'_> {
    /// Takes a packet from its sender.
    pub fn send(&mut self, packet: Packet) {
        let to = packet.to;
        let history = &mut self.history[to];
        if history.len() == REMEMBERED {
            // The first three stay: they open the connection.
            history.remove(3);
        }
        history.push_back(packet.clone());
        let mut copies = vec![(self.plan.delays[to], packet)];
        let mut treatments = mem::take(&mut self.treatments[to]);
        for (left, treatment) in &mut treatments {
            *left -= 1;
            copies = self.treat(copies, *treatment);
        }
        treatments.retain(|&(left, _)| left > 0);
        self.treatments[to] = treatments;
        for (delay, packet) in copies {
            self.serial += 1;
            self.queue.insert((self.now + delay, self.serial), packet);
        }
    }

    /// Whether the network may lose another packet.
    fn may_lose(&mut self) -> bool {
        let ends = &self.ends;
        let offsets =
            |end: &End| end.connection.sender().una() + end.connection.receiver().next_expected();
        let opening = ends.iter().any(End::is_opening);
        let progress = ends.iter().map(offsets).sum::<u64>() + u64::from(!opening);
        if progress != self.progress {
            (self.progress, self.lost_since_progress) = (progress, 0);
        }
        let most = if opening {
            MAX_LOSSES_OPENING
        } else {
            MAX_LOSSES_IN_A_ROW
        };
        self.lost_since_progress += 1;
        self.lost_since_progress <= most
            && ends
                .iter()
                .all(|end| self.now - end.progress_at <= MAX_LOSSES)
    }

    fn treat(
        &mut self,
        mut copies: Vec<(Duration, Packet)>,
        treatment: Treatment,
    ) -> Vec<(Duration, Packet)> {
        let Some((delay, packet)) = copies.first_mut() else {
            return copies;
        };
        self.outcome.count(treatment.name());
        match treatment {
            Treatment::Lose if self.may_lose() => copies.clear(),
            Treatment::Lose => {}
            Treatment::Delay { by } => *delay += by,
            Treatment::Duplicate { later } => {
                let copy = (*delay + later, packet.clone());
                copies.push(copy);
            }
            Treatment::Flip { .. } | Treatment::Cut { .. } => {
                // At most one change per packet: the sum of two could restore the checksum.
                if packet.damaged.is_none() && self.may_lose() {
                    let meant = self.wire.unpack(packet.to, &packet.bytes);
                    packet.damaged = packet.damaged.or(meant);
                    packet.intact = None;
                    damage(Rc::make_mut(&mut packet.bytes), treatment);
                }
            }
            Treatment::Mangle { mangling } if packet.damaged.is_none() => {
                let breaks = mangling.breaks_negotiation();
                let drops = mangling.may_drop();
                if !(breaks && self.plan.both_open) && (!drops || self.may_lose()) {
                    packet.intact = None;
                    self.syn_rewritten |= matches!(mangling, Mangling::UrgentAndEcn { .. });
                    self.wire.mangle(Rc::make_mut(&mut packet.bytes), mangling);
                }
            }
            Treatment::Mangle { .. } => {}
            Treatment::Window { rule } => self.rewrite_window(&mut copies, rule),
            Treatment::Mark { rule } => self.rewrite_marks(packet, rule),
        }
        copies
    }

    fn rewrite_marks(&mut self, packet: &mut Packet, rule: MarkRule) {
        let Some(mut segment) = self.wire.unpack(packet.to, &packet.bytes) else {
            return;
        };
        if let Some(damaged) = packet.damaged {
            assert_intact(segment, damaged);
        }
        match rule {
            MarkRule::Congested if segment.ecn.is_capable() => {
                segment.ecn = Ecn::CongestionExperienced;
            }
            MarkRule::Congested => {}
            MarkRule::Field { bits } => segment.ecn = Ecn::from_bits(bits),
            MarkRule::Flags { ece, cwr } => {
                let marks = [(ece, Flags::ECE), (cwr, Flags::CWR)];
                let kept = segment.flags.bits() & !(Flags::ECE | Flags::CWR).bits();
                let set = marks.iter().filter(|(on, _)| *on);
                let rewritten = set.fold(Flags::from_bits(kept), |flags, (_, mark)| flags | *mark);
                self.syn_rewritten |=
                    segment.flags.contains(Flags::SYN) && segment.flags != rewritten;
                segment.flags = rewritten;
            }
        }
        packet.bytes = Rc::new(self.wire.pack(1 - packet.to, &segment));
        packet.intact = Some(segment);
        packet.damaged = None;
    }

    fn rewrite_window(&self, copies: &mut Vec<(Duration, Packet)>, rule: WindowRule) {
        let (delay, packet) = copies[0].clone();
        let Some(mut segment) = self.wire.unpack(packet.to, &packet.bytes) else {
            return;
        };
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if let Some(damaged) = packet.damaged {
            assert_intact(segment, damaged);
        }
        let real = segment.window;
        segment.window = match rule {
            WindowRule::Shrink { shift } => real.checked_shr(shift).unwrap_or(0),
            WindowRule::AtMost { field } => real.min(field),
            _ => 0,
        };
        let bytes = Rc::new(self.wire.pack(1 - packet.to, &segment));
        let rewritten = Packet {
            bytes,
            intact: Some(segment),
            damaged: None,
            ..packet
        };
        match rule {
            WindowRule::ShutBefore => copies.insert(0, (delay, rewritten)),
            WindowRule::ShutAfter => copies.push((delay, rewritten)),
            _ => copies[0] = (delay, rewritten),
        }
    }
}

fn damage(bytes: &mut Vec<u8>, treatment: Treatment) {
    match treatment {
        Treatment::Flip { bit } => {
            let bit = bit as usize % (bytes.len() * 8);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        Treatment::Cut { keep } => bytes.truncate((keep as usize % bytes.len()).max(1)),
        _ => {}
    }
}
