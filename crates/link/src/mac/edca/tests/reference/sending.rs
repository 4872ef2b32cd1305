//! Putting frames together, and sending them.

use super::*;

impl Reference<'_> {
    /// An EDCAF has won the contention.
    pub(super) fn initiate(&mut self, index: usize, collides: bool) {
        let edcaf = &mut self.edcafs[index];
        edcaf.txop_ends = self.now + edcaf.access.txop_limit.as_nanos();
        assert!(self.prepare(index, self.now, None), "it has work");
        let edcaf = &self.edcafs[index];
        let (station, peer) = (edcaf.station, edcaf.flight.as_ref().unwrap().peer);
        let to = edcaf.station_of(peer);
        self.stations[station as usize].active = index;
        let kind = match edcaf.flight.as_ref().unwrap() {
            flight if flight.is_request => FrameKind::BlockAckRequest,
            flight if self.is_to_be_cleared(flight.bytes) => FrameKind::Rts,
            _ => FrameKind::Data,
        };
        self.transmit(station, to, kind, index, collides);
    }

    pub(super) fn is_to_be_cleared(&self, bytes: u32) -> bool {
        self.config.rts_threshold.is_some_and(|most| bytes > most)
    }

    /// A frame SIFS after another.
    pub(super) fn follow(&mut self, next: &Following) {
        self.transmit(next.from, next.to, next.kind, next.edcaf, false);
        if !matches!(next.kind, FrameKind::Data | FrameKind::BlockAckRequest) {
            let sender = &mut self.stations[next.to as usize];
            assert_eq!(sender.awaits, Awaits::OthersEnd, "it waits for this");
            sender.awaits = Awaits::End;
        }
    }

    /// Chooses the frame sent at `start`: a request first, then packets for the destination with
    /// the oldest packet. With an end of the TXOP, only frames answered before it. Returns whether
    /// there is any.
    pub(super) fn prepare(&mut self, index: usize, start: u64, ends: Option<u64>) -> bool {
        let config = self.config;
        let edcaf = &mut self.edcafs[index];
        let mobile_of = |peer: usize| match edcaf.station {
            ACCESS_POINT => peer as u32 + 1,
            mobile => mobile,
        };
        if let Some(request) = &edcaf.request {
            let mode = config.data_mode(mobile_of(request.peer));
            let time = |frame| {
                let mode = config.phy.answer_mode(mode);
                config.phy.control_time(frame, mode).as_nanos()
            };
            let answer = ControlFrame::BlockAck {
                window: config.block_ack.window,
            };
            let takes = time(ControlFrame::BlockAckRequest) + self.sifs + time(answer);
            if ends.is_some_and(|ends| start + takes > ends) {
                return false;
            }
            edcaf.flight = Some(Flight {
                peer: request.peer,
                mode,
                mpdus: Vec::new(),
                damaged: Vec::new(),
                bytes: ControlFrame::BlockAckRequest.bytes(),
                attempt: request.failures + 1,
                is_request: true,
                is_sent: false,
            });
            return true;
        }
        let fresh = edcaf.queue.iter().map(|packet| packet.name);
        let retries = edcaf.peers.iter().flat_map(|peer| peer.retries.values());
        let Some(first) = fresh.chain(retries.map(|packet| packet.name)).min() else {
            return false;
        };
        let all = edcaf
            .queue
            .iter()
            .chain(edcaf.peers.iter().flat_map(|peer| peer.retries.values()));
        let to = all
            .clone()
            .find(|packet| packet.name == first)
            .unwrap()
            .arrival
            .to;
        let peer = edcaf.peer_of(to);
        let mode = config.data_mode(mobile_of(peer));
        let mut most = config.ampdu.time.as_nanos();
        if edcaf.access.txop_limit > Duration::ZERO {
            let answer = ControlFrame::BlockAck {
                window: config.block_ack.window,
            };
            let slowest = |frame| config.phy.control_time(frame, Mode::OFDM_6).as_nanos();
            let mut takes = self.sifs + slowest(answer);
            if ends.is_none() && config.rts_threshold.is_some() {
                takes += slowest(ControlFrame::Rts) + slowest(ControlFrame::Cts) + 2 * self.sifs;
            }
            let left = edcaf.txop_ends.saturating_sub(start + takes);
            most = most.min(left / 32_000 * 32_000);
        }
        let fits = |bytes: u32| {
            bytes <= config.ampdu.bytes && config.phy.data_time_in(mode, bytes).as_nanos() <= most
        };
        let length = |packet: &Packet| packet.arrival.bytes + config.overhead;
        let add = |bytes: u32, packet: &Packet| match bytes {
            0 => 4 + length(packet),
            some => some.next_multiple_of(4) + 4 + length(packet),
        };
        let count = usize::from(config.ampdu.mpdus.min(config.block_ack.window));
        let own = &mut edcaf.peers[peer];
        let mut bytes = 0;
        let mut mpdus: Vec<Packet> = Vec::new();
        while mpdus.len() < count
            && let Some((&number, retry)) = own.retries.first_key_value()
            && ((mpdus.is_empty() && ends.is_none()) || fits(add(bytes, retry)))
        {
            bytes = add(bytes, retry);
            mpdus.extend(own.retries.remove(&number));
        }
        if own.retries.is_empty() || !mpdus.is_empty() {
            while mpdus.len() < count
                && own.is_open(config.block_ack.window)
                && let Some(place) = edcaf
                    .queue
                    .iter()
                    .position(|packet| packet.arrival.to == to)
                && ((mpdus.is_empty() && ends.is_none()) || fits(add(bytes, &edcaf.queue[place])))
            {
                bytes = add(bytes, &edcaf.queue[place]);
                let mut packet = edcaf.queue.remove(place);
                packet.number = own.next;
                own.outstanding.insert(own.next);
                own.next += 1;
                mpdus.push(packet);
            }
        }
        if mpdus.is_empty() {
            return false;
        }
        if mode.family() == Family::Ht && mpdus.len() == 1 {
            bytes = length(&mpdus[0]);
        }
        edcaf.flight = Some(Flight {
            peer,
            mode,
            attempt: mpdus[0].failures + 1,
            damaged: vec![false; mpdus.len()],
            mpdus,
            bytes,
            is_request: false,
            is_sent: false,
        });
        true
    }

    pub(super) fn transmit(
        &mut self,
        from: u32,
        to: u32,
        kind: FrameKind,
        index: usize,
        collides: bool,
    ) {
        let phy = &self.config.phy;
        let flight = self.edcafs[index].flight.as_mut().unwrap();
        flight.is_sent |= kind == FrameKind::Data;
        let control = match kind {
            FrameKind::Data => None,
            FrameKind::Ack => Some(ControlFrame::Ack),
            FrameKind::Rts => Some(ControlFrame::Rts),
            FrameKind::Cts => Some(ControlFrame::Cts),
            FrameKind::BlockAckRequest => Some(ControlFrame::BlockAckRequest),
            FrameKind::BlockAck => Some(ControlFrame::BlockAck {
                window: self.config.block_ack.window,
            }),
        };
        let (mode, time) = match control {
            None => (flight.mode, phy.data_time_in(flight.mode, flight.bytes)),
            Some(frame) => {
                let mode = phy.answer_mode(flight.mode);
                (mode, phy.control_time(frame, mode))
            }
        };
        let end = self.now + time.as_nanos();
        let span = (at(self.now), at(end));
        let frame = |class, bytes| Frame::between((from, to), class, bytes, span);
        let (mpdus, mut damaged) = if let Some(control) = control {
            let frame = frame(None, control.bytes());
            (1, u32::from(self.damage.damages_in(&frame, mode, 0)))
        } else {
            for (place, packet) in (0..).zip(&flight.mpdus) {
                let bytes = packet.arrival.bytes + self.config.overhead;
                let frame = frame(Some(packet.arrival.class), bytes);
                flight.damaged[place as usize] = self.damage.damages_in(&frame, mode, place);
            }
            let damaged = flight.damaged.iter().filter(|&&damaged| damaged).count();
            (flight.mpdus.len() as u32, damaged as u32)
        };
        let fate = match () {
            () if collides => Fate::Collided,
            () if damaged == mpdus => Fate::Damaged,
            () => Fate::Received,
        };
        if collides {
            damaged = mpdus;
        }
        let on_air = OnAir {
            station: from,
            start: self.now,
            end,
            frame: kind,
            attempt: flight.attempt,
            fate,
            mpdus,
            damaged,
        };
        self.history.frames.push(on_air);
        self.air.push(Sent {
            on_air,
            to,
            edcaf: index,
        });
        self.stations[from as usize].last_sent = Some(self.now);
        assert!(collides || self.air.len() == 1, "nobody else may send");
        // "Recognition of anything else, including any other valid frame, is a failure"
        // (§10.3.2.11).
        for station in &mut self.stations {
            if matches!(station.awaits, Awaits::Answer { by } if by >= self.now)
                && station.last_sent != Some(self.now)
            {
                station.awaits = Awaits::OthersEnd;
            }
        }
        if matches!(
            kind,
            FrameKind::Data | FrameKind::Rts | FrameKind::BlockAckRequest
        ) {
            self.stations[from as usize].awaits = Awaits::Answer {
                by: end + self.timeout,
            };
        }
    }
}
