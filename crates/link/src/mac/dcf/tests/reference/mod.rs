//! A second model of the same stations, that steps through time microsecond by microsecond and is
//! written from the text of IEEE 802.11-2016 §10.3: each station's view of the medium, and its
//! actions. It shares the durations, the addresses of the draws and the damage with the model under
//! test.

use std::collections::VecDeque;

use super::scenario::{Scenario, at};
use super::*;
use crate::frame::{Fate, FrameKind};
use crate::mac::damage::Frame;
use crate::mac::history::{Arrival, History, OnAir};

mod hearing;

struct Packet {
    name: u32,
    arrival: Arrival,
    /// Sizes of the fragments that are left, headers included.
    fragments: VecDeque<u32>,
    /// Failed data frames, and failed RTS.
    data_failures: u32,
    rts_failures: u32,
    /// The short and the long retry count of the fragment.
    short: u32,
    long: u32,
    arrived: bool,
}

/// The answer that a station waits for after its frame.
#[derive(PartialEq)]
enum Awaits {
    Nothing,
    /// An answer that must start by then.
    Answer {
        by: u64,
    },
    /// The end of an answer that has started.
    End,
    /// The end of another's frame, which has started in place of the answer.
    OthersEnd,
}

struct Station {
    queue: VecDeque<Packet>,
    config: StationConfig,
    draws: Stream,
    drawn: u64,
    window: u32,
    back_off: Option<u32>,
    /// It found the medium idle for long enough and has no back-off to do.
    immediate: bool,
    awaits: Awaits,
    /// When its last frame started.
    last_sent: Option<u64>,
    /// The medium is idle for this station since then, and must stay so for the interframe space.
    quiet_since: u64,
    space: u64,
}

struct Sent {
    on_air: OnAir,
    to: u32,
    bytes: u32,
}

/// A frame that follows SIFS after another.
struct Following {
    start: u64,
    from: u32,
    to: u32,
    kind: FrameKind,
}

pub(super) struct Reference<'a> {
    config: &'a BssConfig,
    damage: Damage,
    stations: Vec<Station>,
    air: Vec<Sent>,
    following: Option<Following>,
    now: u64,
    history: History,
    // In microseconds.
    slot: u64,
    sifs: u64,
    difs: u64,
    eifs: u64,
    timeout: u64,
}

fn micros(duration: Duration) -> u64 {
    duration.as_nanos() / 1000
}

impl<'a> Reference<'a> {
    pub(super) fn run(scenario: &'a Scenario) -> History {
        let config = &scenario.config;
        let stream = Stream::new(scenario.seed, "bss");
        let (smallest, _) = config.windows();
        let difs = micros(config.phy.difs());
        let station = |index: u32| Station {
            queue: VecDeque::new(),
            config: if index == ACCESS_POINT {
                config.access_point
            } else {
                config.mobile
            },
            draws: stream.substream(0).substream(u64::from(index)),
            drawn: 0,
            window: smallest,
            back_off: None,
            immediate: false,
            awaits: Awaits::Nothing,
            last_sent: None,
            quiet_since: 0,
            space: difs,
        };
        let timeout = config.answer_timeout;
        let mut model = Self {
            config,
            damage: Damage::new(&config.damage, config.stations + 1, stream.substream(1)),
            stations: (0..=config.stations).map(station).collect(),
            air: Vec::new(),
            following: None,
            now: 0,
            history: Scenario::untold(),
            slot: micros(config.phy.slot()),
            sifs: micros(config.phy.sifs()),
            difs,
            eifs: micros(config.phy.eifs()),
            timeout: micros(timeout.unwrap_or_else(|| config.phy.answer_timeout())),
        };
        let mut arrivals = (0_u32..).zip(&scenario.arrivals).peekable();
        while arrivals.peek().is_some() || !model.is_done() {
            while let Some((name, &arrival)) =
                arrivals.next_if(|(_, arrival)| arrival.at == model.now)
            {
                model.arrive(name, arrival);
            }
            model.step();
            model.now += 1;
        }
        model.history.sort();
        model.history
    }

    fn is_done(&self) -> bool {
        self.air.is_empty() && self.stations.iter().all(|station| station.queue.is_empty())
    }

    /// A frame that starts now is not sensed yet, one that ends now still is.
    fn is_quiet(&self) -> bool {
        self.air.iter().all(|sent| sent.on_air.start == self.now)
    }

    /// "If the medium has been idle for DIFS (EIFS) or more, it may transmit. Otherwise it defers
    /// and selects a random back-off interval", if no back-off is pending (§10.3.4.2).
    fn arrive(&mut self, name: u32, arrival: Arrival) {
        let quiet = self.is_quiet();
        let whole = arrival.bytes + self.config.overhead;
        let fragments = match self.config.fragmentation_threshold {
            Some(threshold) if whole > threshold => {
                // Of an even number of octets but for the last (§10.5).
                let most = (threshold - MAC_BYTES) / 2 * 2;
                let mut left = whole - MAC_BYTES;
                let mut sizes = VecDeque::new();
                while left > 0 {
                    sizes.push_back(MAC_BYTES + left.min(most));
                    left -= left.min(most);
                }
                sizes
            }
            _ => VecDeque::from([whole]),
        };
        let station = &mut self.stations[arrival.from as usize];
        if station.queue.is_empty() && station.back_off.is_none() {
            if quiet && self.now >= station.quiet_since + station.space {
                station.immediate = true;
            } else {
                station.draw();
            }
        }
        station.queue.push_back(Packet {
            name,
            arrival,
            fragments,
            data_failures: 0,
            rts_failures: 0,
            short: 0,
            long: 0,
            arrived: false,
        });
    }

    fn step(&mut self) {
        self.end_frames();
        self.time_out();
        if let Some(Following { from, to, kind, .. }) =
            self.following.take_if(|next| next.start == self.now)
        {
            let bytes = match kind {
                FrameKind::Data => self.head(from).fragments[0],
                _ => 14,
            };
            self.transmit(from, to, kind, bytes, false);
            if kind != FrameKind::Data {
                let sender = &mut self.stations[to as usize];
                assert!(sender.awaits == Awaits::OthersEnd, "it waits for this");
                sender.awaits = Awaits::End;
            }
        }
        let ready: Vec<u32> = (0..=self.config.stations)
            .filter(|&index| self.counts_down(index))
            .collect();
        let collides = ready.len() > 1;
        for index in ready {
            let bytes = self.head(index).fragments[0];
            let to = self.head(index).arrival.to;
            if self.needs_clearance(bytes) {
                self.transmit(index, to, FrameKind::Rts, 20, collides);
            } else {
                self.transmit(index, to, FrameKind::Data, bytes, collides);
            }
        }
    }

    fn needs_clearance(&self, bytes: u32) -> bool {
        self.config.rts_threshold.is_some_and(|most| bytes > most)
    }

    fn head(&mut self, station: u32) -> &mut Packet {
        &mut self.stations[station as usize].queue[0]
    }

    /// One microsecond of the back-off procedure (§10.3.4.3): whether the station sends now.
    fn counts_down(&mut self, index: u32) -> bool {
        let (quiet, now, slot) = (self.is_quiet(), self.now, self.slot);
        let station = &mut self.stations[index as usize];
        if std::mem::take(&mut station.immediate) {
            return true;
        }
        let from = station.quiet_since + station.space;
        let Some(left) = &mut station.back_off else {
            return false;
        };
        if !quiet || now < from || !(now - from).is_multiple_of(slot) {
            return false;
        }
        if now > from {
            *left -= 1;
        }
        if *left > 0 {
            return false;
        }
        station.back_off = None;
        !station.queue.is_empty()
    }

    fn transmit(&mut self, from: u32, to: u32, frame: FrameKind, bytes: u32, collides: bool) {
        let phy = &self.config.phy;
        let end = self.now
            + micros(match frame {
                FrameKind::Data => phy.data_time(bytes),
                FrameKind::Ack => phy.ack_time(),
                FrameKind::Rts => phy.rts_time(),
                FrameKind::Cts => phy.cts_time(),
                of_blocks => panic!("{of_blocks:?}"),
            });
        let (about, class) = match frame {
            FrameKind::Data => (from, Some(self.head(from).arrival.class)),
            FrameKind::Rts => (from, None),
            FrameKind::Ack | FrameKind::Cts => (to, None),
            of_blocks => panic!("{of_blocks:?}"),
        };
        let on_air = Frame::between((from, to), class, bytes, (at(self.now), at(end)));
        let damaged = self.damage.damages(&on_air);
        let packet = self.head(about);
        let attempt = packet.data_failures + packet.rts_failures + 1;
        let on_air = OnAir {
            station: from,
            start: self.now,
            end,
            frame,
            attempt,
            fate: match (collides, damaged) {
                (true, _) => Fate::Collided,
                (false, true) => Fate::Damaged,
                (false, false) => Fate::Received,
            },
            mpdus: 1,
            damaged: u32::from(collides || damaged),
        };
        self.history.frames.push(on_air);
        self.air.push(Sent { on_air, to, bytes });
        self.stations[from as usize].last_sent = Some(self.now);
        assert!(collides || self.air.len() == 1, "nobody else may send");
        // "Recognition of anything else, including any other valid frame, is a failure"
        // (§10.3.2.9).
        for station in &mut self.stations {
            if matches!(station.awaits, Awaits::Answer { by } if by >= self.now)
                && station.last_sent != Some(self.now)
            {
                station.awaits = Awaits::OthersEnd;
            }
        }
        if matches!(frame, FrameKind::Data | FrameKind::Rts) {
            self.stations[from as usize].awaits = Awaits::Answer {
                by: end + self.timeout,
            };
        }
    }
}

impl Station {
    /// Uniform from 0 to the window (§10.3.3).
    fn draw(&mut self) {
        let draw = u128::from(self.draws.draw(self.drawn));
        self.drawn += 1;
        self.back_off = Some(((draw * u128::from(self.window + 1)) >> 64) as u32);
    }
}

proptest::proptest! {
    /// The same frames at the same times with the same fates, the same packets delivered then.
    #[test]
    fn does_what_the_text_says(scenario in super::scenario::scenario()) {
        let (ours, _) = scenario.run();
        ours.agrees_with(&Reference::run(&scenario))?;
    }
}
