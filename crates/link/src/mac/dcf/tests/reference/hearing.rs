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
        for Sent { on_air, to, bytes } in ended {
            for (index, station) in (0..).zip(&mut self.stations) {
                // Whoever sent when it began has missed its preamble: to them it is noise.
                let sent_itself = station.last_sent == Some(on_air.start);
                let understood = match on_air.fate {
                    Fate::Received => true,
                    Fate::Collided => sent_itself,
                    // Damaged on its way to its receiver. A damaged ACK is understood by the
                    // others; whoever sent a damaged CTS waits with the rest.
                    Fate::Damaged if on_air.frame == FrameKind::Ack => index != to,
                    Fate::Damaged => sent_itself && on_air.frame != FrameKind::Cts,
                };
                station.quiet_since = now;
                station.space = if understood { self.difs } else { self.eifs };
            }
            self.receive(&on_air, to, bytes);
            for index in 0..=self.config.stations {
                if self.stations[index as usize].awaits == Awaits::OthersEnd {
                    let cleared = self.last_sent_was_rts(index);
                    self.fail(index, cleared);
                }
            }
        }
    }

    /// Actions of the receiver, and of the station that waits for an answer.
    fn receive(&mut self, on_air: &OnAir, to: u32, bytes: u32) {
        let from = on_air.station;
        let follow = |kind, from, to| Following {
            start: on_air.end + self.sifs,
            from,
            to,
            kind,
        };
        match (on_air.frame, on_air.fate) {
            (FrameKind::Data, Fate::Received) => {
                self.following = Some(follow(FrameKind::Ack, to, from));
                let now = self.now;
                let packet = self.head(from);
                if packet.fragments.len() == 1 && !packet.arrived {
                    packet.arrived = true;
                    let told = (now, packet.name, packet.data_failures + 1);
                    self.history.delivered.push(told);
                }
            }
            (FrameKind::Rts, Fate::Received) => {
                self.following = Some(follow(FrameKind::Cts, to, from));
            }
            (FrameKind::Cts, Fate::Received) => {
                self.following = Some(follow(FrameKind::Data, to, from));
                self.head(to).short = 0;
            }
            (FrameKind::Ack, Fate::Received) => {
                let next = follow(FrameKind::Data, to, from);
                let smallest = self.config.windows().0;
                let station = &mut self.stations[to as usize];
                station.awaits = Awaits::Nothing;
                station.window = smallest;
                let packet = &mut station.queue[0];
                (packet.short, packet.long) = (0, 0);
                packet.fragments.pop_front();
                if packet.fragments.is_empty() {
                    station.queue.pop_front();
                    station.draw();
                } else {
                    self.following = Some(next);
                }
            }
            (FrameKind::Ack, _) => self.fail(to, false),
            (FrameKind::Cts, _) => self.fail(to, true),
            (FrameKind::Data | FrameKind::Rts, _) => assert!(bytes >= 20, "no answer"),
            (of_blocks, _) => panic!("{of_blocks:?}"),
        }
    }

    /// Stations with an answer not started by now know that their frame failed. They contend DIFS
    /// later, once the medium is idle.
    pub(super) fn time_out(&mut self) {
        for index in 0..=self.config.stations {
            let station = &mut self.stations[index as usize];
            if !matches!(station.awaits, Awaits::Answer { by } if by == self.now) {
                continue;
            }
            station.quiet_since = self.now;
            station.space = self.difs;
            let cleared = self.last_sent_was_rts(index);
            self.fail(index, cleared);
        }
    }

    fn last_sent_was_rts(&self, index: u32) -> bool {
        let mut frames = self.history.frames.iter().rev();
        frames
            .find(|sent| {
                sent.station == index && matches!(sent.frame, FrameKind::Data | FrameKind::Rts)
            })
            .is_some_and(|sent| sent.frame == FrameKind::Rts)
    }

    /// Retry counts and window (§10.3.3, §10.3.4.4).
    fn fail(&mut self, index: u32, cleared: bool) {
        let bytes = self.head(index).fragments[0];
        let is_long = self.needs_clearance(bytes) && !cleared;
        let (smallest, largest) = self.config.windows();
        let station = &mut self.stations[index as usize];
        station.awaits = Awaits::Nothing;
        let packet = &mut station.queue[0];
        if cleared {
            packet.rts_failures += 1;
        } else {
            packet.data_failures += 1;
        }
        let (count, limit) = if is_long {
            (&mut packet.long, station.config.long_retry_limit)
        } else {
            (&mut packet.short, station.config.short_retry_limit)
        };
        *count += 1;
        let (from, to) = (packet.arrival.from, packet.arrival.to);
        let own = self.config.station_retry_limits.of(from, to);
        if own.unwrap_or(limit).is_reached(*count) {
            let given_up = (packet.name, packet.data_failures, packet.arrived);
            self.history.discarded.push(given_up);
            station.queue.pop_front();
            station.window = smallest;
        } else {
            station.window = (2 * (station.window + 1) - 1).min(largest);
        }
        station.draw();
    }
}
