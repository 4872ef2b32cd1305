//! Each station's view of the medium when a frame ends or an answer is missing, and the
//! consequences.

use super::*;

impl Reference<'_> {
    pub(super) fn end_frames(&mut self) {
        let now = self.now;
        let (ended, still): (Vec<Sent>, Vec<Sent>) = std::mem::take(&mut self.air)
            .into_iter()
            .partition(|sent| sent.on_air.end == now);
        self.air = still;
        for Sent { on_air, to, edcaf } in ended {
            for (index, station) in (0..).zip(&mut self.stations) {
                // Whoever sent when it began has missed its preamble: to them it is noise.
                let sent_itself = station.last_sent == Some(on_air.start);
                let understood = match (on_air.fate, on_air.frame) {
                    (Fate::Received, _) => true,
                    (Fate::Collided, _) => sent_itself,
                    // Damaged on its way to its receiver. A damaged ACK is understood by the
                    // others; whoever sent a damaged CTS waits with the rest.
                    (Fate::Damaged, FrameKind::Ack | FrameKind::BlockAck) => index != to,
                    (Fate::Damaged, FrameKind::Cts) => false,
                    (Fate::Damaged, _) => sent_itself,
                };
                station.quiet_since = now;
                station.before_aifs = if understood { 0 } else { self.eifs_before_aifs };
            }
            self.receive(&on_air, to, edcaf);
            for index in 0..=self.config.stations {
                if self.stations[index as usize].awaits == Awaits::OthersEnd {
                    self.fail(self.stations[index as usize].active);
                }
            }
        }
    }

    /// Actions of the receiver, and of the station that waits for an answer.
    fn receive(&mut self, on_air: &OnAir, to: u32, index: usize) {
        let follow = |kind, from, to| Following {
            start: on_air.end + self.sifs,
            from,
            to,
            kind,
            edcaf: index,
        };
        let from = on_air.station;
        match (on_air.frame, on_air.fate) {
            (FrameKind::Data, Fate::Received) => {
                let kind = match on_air.mpdus {
                    1 => FrameKind::Ack,
                    _ => FrameKind::BlockAck,
                };
                self.following = Some(follow(kind, to, from));
                self.receive_mpdus(index);
            }
            (FrameKind::BlockAckRequest, Fate::Received) => {
                self.following = Some(follow(FrameKind::BlockAck, to, from));
                let edcaf = &mut self.edcafs[index];
                let peer = edcaf.flight.as_ref().unwrap().peer;
                let peer = &mut edcaf.peers[peer];
                peer.move_to(peer.window_start());
                peer.time_out(self.now, self.config.block_ack.reorder_timeout);
                self.history.hand_on(self.now, peer);
            }
            (FrameKind::Rts, Fate::Received) => {
                self.following = Some(follow(FrameKind::Cts, to, from));
            }
            (FrameKind::Cts, Fate::Received) => {
                self.following = Some(follow(FrameKind::Data, to, from));
                self.stations[to as usize].awaits = Awaits::Nothing;
            }
            (FrameKind::Ack | FrameKind::BlockAck, Fate::Received) => self.succeed(index),
            (FrameKind::Cts, _) => self.fail(index),
            (FrameKind::Ack | FrameKind::BlockAck, _) => self.fail(index),
            (FrameKind::Data | FrameKind::Rts | FrameKind::BlockAckRequest, _) => {}
        }
    }

    /// The receiver has the MPDUs that are not damaged. A packet is handed on once, in order.
    fn receive_mpdus(&mut self, index: usize) {
        let window = self.config.block_ack.window;
        let Edcaf { flight, peers, .. } = &mut self.edcafs[index];
        let Flight {
            peer,
            mpdus,
            damaged,
            ..
        } = flight.as_mut().unwrap();
        let peer = &mut peers[*peer];
        for (packet, damaged) in mpdus.iter_mut().zip(damaged) {
            if *damaged || std::mem::replace(&mut packet.arrived, true) {
                continue;
            }
            let attempts = packet.failures + 1;
            if !peer.receive(packet.number, packet.name, attempts, self.now, window) {
                self.history.discarded.push((packet.name, attempts, false));
            }
        }
        peer.time_out(self.now, self.config.block_ack.reorder_timeout);
        self.history.hand_on(self.now, peer);
    }

    /// The answer is received.
    fn succeed(&mut self, index: usize) {
        let started = self.stations[self.edcafs[index].station as usize].last_sent;
        let edcaf = &mut self.edcafs[index];
        let station = edcaf.station;
        self.stations[station as usize].awaits = Awaits::Nothing;
        let flight = edcaf.flight.take().unwrap();
        let peer = flight.peer;
        edcaf.succeed();
        if flight.is_request {
            for packet in edcaf.request.take().unwrap().mpdus {
                if packet.arrived {
                    self.acknowledge(index, peer, &packet);
                } else {
                    self.fail_mpdu(index, peer, packet);
                }
            }
        } else {
            for (packet, damaged) in flight.mpdus.into_iter().zip(flight.damaged) {
                if damaged {
                    self.fail_mpdu(index, peer, packet);
                } else {
                    self.acknowledge(index, peer, &packet);
                }
            }
        }
        assert!(started.is_some(), "its frame was answered");
        if !self.continue_txop(index) {
            self.edcafs[index].back_off();
        }
    }

    /// Another frame SIFS after the answer, if it can be answered before the TXOP ends.
    fn continue_txop(&mut self, index: usize) -> bool {
        let start = self.now + self.sifs;
        let edcaf = &mut self.edcafs[index];
        let (station, ends) = (edcaf.station, edcaf.txop_ends);
        if edcaf.access.txop_limit == Duration::ZERO || start >= ends {
            return false;
        }
        // Packets that arrived after the end of the last one are left.
        let ended = self.history.frames[self.history.frames.len() - 2].end;
        let late = edcaf
            .queue
            .iter()
            .position(|packet| packet.arrival.at > ended)
            .unwrap_or(edcaf.queue.len());
        let late = edcaf.queue.split_off(late);
        let is_prepared = self.prepare(index, start, Some(ends));
        let edcaf = &mut self.edcafs[index];
        edcaf.queue.extend(late);
        let Some(flight) = edcaf.flight.as_ref().filter(|_| is_prepared) else {
            return false;
        };
        let kind = if flight.is_request {
            FrameKind::BlockAckRequest
        } else {
            FrameKind::Data
        };
        self.following = Some(Following {
            start,
            from: station,
            to: edcaf.station_of(flight.peer),
            kind,
            edcaf: index,
        });
        true
    }

    pub(super) fn time_out(&mut self) {
        for index in 0..=self.config.stations {
            let station = &mut self.stations[index as usize];
            if !matches!(station.awaits, Awaits::Answer { by } if by == self.now) {
                continue;
            }
            if self.air.is_empty() {
                station.quiet_since = self.now;
                station.before_aifs = 0;
            }
            let active = station.active;
            self.fail(active);
        }
    }

    /// An EDCAF's attempt failed: its MPDUs await retransmission, or the block ACK that it asks for
    /// (§10.25.5.3), whatever kept it away; its window doubles, it backs off (§10.23.2.2,
    /// §10.23.2.12).
    fn fail(&mut self, index: usize) {
        let edcaf = &mut self.edcafs[index];
        let station = edcaf.station;
        let limit = self.config.retry_limit(station);
        self.stations[station as usize].awaits = Awaits::Nothing;
        let flight = edcaf.flight.take().unwrap();
        let own = self
            .config
            .mpdu_limit(station, edcaf.station_of(flight.peer));
        if flight.is_request {
            let request = edcaf.request.as_mut().unwrap();
            request.failures += 1;
            if own.is_reached(request.failures) {
                for packet in edcaf.request.take().unwrap().mpdus {
                    self.fail_mpdu(index, flight.peer, packet);
                }
            }
        } else if self.config.block_ack.requests && flight.is_sent && flight.mpdus.len() > 1 {
            edcaf.request = Some(Request {
                peer: flight.peer,
                mpdus: flight.mpdus,
                failures: 0,
            });
        } else {
            for packet in flight.mpdus {
                self.fail_mpdu(index, flight.peer, packet);
            }
        }
        let edcaf = &mut self.edcafs[index];
        edcaf.fail(limit);
        edcaf.back_off();
    }

    fn acknowledge(&mut self, index: usize, peer: usize, packet: &Packet) {
        let told = (packet.name, packet.failures + 1);
        self.history.acknowledged.push(told);
        self.edcafs[index].peers[peer]
            .outstanding
            .remove(&packet.number);
    }

    /// It is retransmitted or given up; then the receiver is informed that it need not wait
    /// (§10.25.6.3).
    fn fail_mpdu(&mut self, index: usize, peer: usize, mut packet: Packet) {
        packet.failures += 1;
        let edcaf = &mut self.edcafs[index];
        if !self
            .config
            .mpdu_limit(edcaf.station, edcaf.station_of(peer))
            .is_reached(packet.failures)
        {
            edcaf.peers[peer].retries.insert(packet.number, packet);
            return;
        }
        let told = (packet.name, packet.failures, packet.arrived);
        self.history.discarded.push(told);
        edcaf.peers[peer].outstanding.remove(&packet.number);
        if edcaf.request.is_none() {
            edcaf.request = Some(Request {
                peer,
                mpdus: Vec::new(),
                failures: 0,
            });
        }
    }
}
