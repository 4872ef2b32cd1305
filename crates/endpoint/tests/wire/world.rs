//! Two endpoints, and a wire that loses, duplicates, reorders, damages and cuts.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use airtcp_endpoint::{
    ConnectionId, Endpoint, ListenOptions, ListenerId, Options, Read, Settings, Transmit,
};
use airtcp_units::{Duration, Instant};

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

/// SplitMix64 (Steele, Lea & Flood, OOPSLA 2014): one word of state.
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// One of the first `count` numbers.
    pub fn below(&mut self, count: u64) -> u64 {
        self.next() % count.max(1)
    }

    pub fn happens(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }
}

/// Faults of the wire, as packets in a thousand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub lost: u64,
    pub duplicated: u64,
    pub damaged: u64,
    /// Delayed by up to 20 ms, so that others overtake it.
    pub late: u64,
}

/// How packets too large for the wire are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// By a router's error.
    Told,
    /// In silence.
    Silent,
}

pub struct World {
    pub ends: [Endpoint; 2],
    pub now: Instant,
    pub faults: Faults,
    pub delay: Duration,
    /// The longest packet that passes, and the fate of others.
    pub mtu: Option<(usize, Refusal)>,
    pub draws: Draws,
    /// The longest packet that arrived at each side.
    pub longest: [usize; 2],
    pub packets: u64,
    flying: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    buffer: Vec<u8>,
}

pub fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

pub fn server_address() -> SocketAddr {
    address("10.0.0.2:80")
}

impl World {
    pub fn new(seed: u64) -> Self {
        Self::with(seed, |settings| settings)
    }

    pub fn with(seed: u64, change: impl Fn(Settings) -> Settings) -> Self {
        let end = |number| Endpoint::new(change(Settings::new([number; 16])));
        Self {
            ends: [end(1), end(2)],
            now: Instant::ZERO + Duration::from_secs(1000),
            faults: Faults::default(),
            delay: Duration::from_millis(5),
            mtu: None,
            draws: Draws(seed),
            longest: [0; 2],
            packets: 0,
            flying: BTreeMap::new(),
            buffer: Vec::new(),
        }
    }

    pub fn listen(&mut self, options: ListenOptions) -> ListenerId {
        self.ends[SERVER].listen(server_address(), options).unwrap()
    }

    pub fn connect(&mut self, options: &Options) -> ConnectionId {
        let from = address("10.0.0.1:0");
        self.ends[CLIENT]
            .connect(self.now, from, server_address(), options)
            .unwrap()
    }

    /// A connection that is open on both sides.
    pub fn open(&mut self, client: &Options, server: ListenOptions) -> [ConnectionId; 2] {
        let listener = self.listen(server);
        let id = self.connect(client);
        let mut accepted = None;
        self.until(|world| {
            accepted = world.ends[SERVER].accept(listener);
            accepted.is_some()
        });
        [id, accepted.unwrap()]
    }

    /// Sends all pending packets.
    pub fn flush(&mut self) {
        for side in [CLIENT, SERVER] {
            loop {
                let mut packet = std::mem::take(&mut self.buffer);
                let transmit = self.ends[side].poll_transmit(self.now, &mut packet);
                if let Some(transmit) = transmit {
                    self.carry(1 - side, &packet, transmit);
                }
                self.buffer = packet;
                if transmit.is_none() {
                    break;
                }
            }
        }
    }

    fn carry(&mut self, to: usize, packet: &[u8], transmit: Transmit) {
        assert!(transmit.cut.is_none(), "nothing here cuts packets");
        self.packets += 1;
        if let Some((most, refusal)) = self.mtu
            && packet.len() > most
        {
            if refusal == Refusal::Told {
                let error = fragmentation_needed(packet, most);
                self.fly(1 - to, error, self.delay);
            }
            return;
        }
        if self.draws.happens(self.faults.lost) {
            return;
        }
        let copies = 1 + u64::from(self.draws.happens(self.faults.duplicated));
        for _ in 0..copies {
            let mut bytes = packet.to_vec();
            if self.draws.happens(self.faults.damaged) {
                let bit = self.draws.below(bytes.len() as u64 * 8) as usize;
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            let mut delay = self.delay;
            if self.draws.happens(self.faults.late) {
                delay += Duration::from_micros(self.draws.below(20_000));
            }
            self.fly(to, bytes, delay);
        }
    }

    /// A packet arrives at `to` after `delay`.
    pub fn fly(&mut self, to: usize, packet: Vec<u8>, delay: Duration) {
        let number = self.draws.next() >> 32;
        let place = (self.flying.len() as u64) << 32 | number;
        self.flying.insert((self.now + delay, place), (to, packet));
    }

    /// Goes on to the next thing that happens; returns whether there is one.
    pub fn step(&mut self) -> bool {
        self.flush();
        let arrival = self
            .flying
            .keys()
            .next()
            .map_or(Instant::FAR_FUTURE, |key| key.0);
        let wakeup = self.ends.iter().map(Endpoint::next_wakeup).min().unwrap();
        let next = arrival.min(wakeup);
        if next == Instant::FAR_FUTURE {
            return false;
        }
        self.now = self.now.max(next);
        for end in &mut self.ends {
            end.on_wakeup(self.now);
        }
        while let Some(first) = self.flying.first_entry() {
            if first.key().0 > self.now {
                break;
            }
            let (to, packet) = first.remove();
            self.longest[to] = self.longest[to].max(packet.len());
            let _ = self.ends[to].handle_packet(self.now, &packet);
        }
        self.flush();
        true
    }

    /// Continues until `done`, which may perform the remaining work.
    pub fn until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let mut idle = 0;
        for _ in 0..2_000_000 {
            if done(self) {
                return;
            }
            idle = if self.step() { 0 } else { idle + 1 };
            assert!(idle < 100, "nothing will happen any more");
        }
        panic!("it does not end");
    }

    /// Goes on for that long.
    pub fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.flush();
            let next = self.ends.iter().map(Endpoint::next_wakeup).min().unwrap();
            let arrival = self
                .flying
                .keys()
                .next()
                .map_or(Instant::FAR_FUTURE, |key| key.0);
            if next.min(arrival) > end {
                self.now = end;
            } else {
                self.step();
            }
        }
    }

    /// All that can be read now.
    pub fn read(&mut self, side: usize, id: ConnectionId) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 16];
        match self.ends[side].read(id, &mut bytes).unwrap() {
            Read::Bytes(count) => bytes.truncate(count),
            Read::Nothing | Read::Finished => bytes.clear(),
        }
        bytes
    }
}

/// RFC 1191 §4: a router's error about `packet`, with its MTU.
pub fn fragmentation_needed(packet: &[u8], mtu: usize) -> Vec<u8> {
    let sum = |bytes: &[u8]| {
        let sum: u32 = bytes
            .chunks(2)
            .map(|pair| u32::from(pair[0]) << 8 | pair.get(1).copied().map_or(0, u32::from))
            .sum();
        let sum = (sum & 0xffff) + (sum >> 16);
        !((sum & 0xffff) + (sum >> 16)) as u16
    };
    let mut message = vec![3, 4, 0, 0, 0, 0];
    message.extend((mtu as u16).to_be_bytes());
    message.extend(&packet[..28]);
    let check = sum(&message);
    message[2..4].copy_from_slice(&check.to_be_bytes());
    let mut error = vec![0x45, 0];
    error.extend((20 + message.len() as u16).to_be_bytes());
    error.extend([0, 0, 0, 0, 64, 1, 0, 0, 192, 0, 2, 1]);
    error.extend(&packet[12..16]);
    let check = sum(&error);
    error[10..12].copy_from_slice(&check.to_be_bytes());
    error.extend(message);
    error
}

/// The byte at an offset of a stream with that seed.
pub fn pattern(seed: u64, offset: u64) -> u8 {
    (Draws(seed ^ (offset >> 3)).next() >> ((offset & 7) * 8)) as u8
}

pub fn patterned(seed: u64, offset: u64, count: usize) -> Vec<u8> {
    (offset..).take(count).map(|at| pattern(seed, at)).collect()
}
