//! A whole endpoint driven by bytes: packets of the fuzzer, altered packets of a real peer, elapsed
//! time, and an application with arbitrary calls. Nothing panics, and nothing grows beyond its
//! bound.

#![no_main]

use std::net::SocketAddr;

use airtcp_endpoint::{
    ConnectionId, Endpoint, FastOpenListen, Linger, ListenOptions, Options, Settings,
};
use airtcp_packet::wire::Checksums;
use airtcp_tcp::config::CongestionControl;
use airtcp_tcp::{Config, Profile};
use airtcp_units::{Duration, Instant};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// The next event.
#[derive(Arbitrary, Debug)]
enum Operation {
    /// Bytes arrive, as they are.
    Raw {
        side: bool,
        bytes: Vec<u8>,
        trusted: bool,
    },
    /// A packet of the other side arrives with one byte changed.
    Bent {
        at: u16,
        value: u8,
        trusted: bool,
    },
    /// Packets pass, except at places with a bit set.
    Pass {
        lost: u8,
    },
    /// An old packet arrives again.
    Again {
        which: u8,
    },
    Wait {
        milliseconds: u16,
    },
    Connect,
    Accept,
    Write {
        side: bool,
        which: u8,
        count: u16,
    },
    Read {
        side: bool,
        which: u8,
        count: u16,
    },
    Shut {
        side: bool,
        which: u8,
        reading: bool,
    },
    Release {
        side: bool,
        which: u8,
        linger: u8,
    },
    Set {
        side: bool,
        which: u8,
        what: u8,
        value: u32,
    },
}

#[derive(Arbitrary, Debug)]
struct Input {
    timestamps: bool,
    sack: bool,
    probes: bool,
    backlog: u8,
    buffer: u16,
    operations: Vec<Operation>,
}

const MAX: usize = 16;
const KEPT: usize = 32;

struct World {
    ends: [Endpoint; 2],
    ids: [Vec<ConnectionId>; 2],
    now: Instant,
    old: Vec<(usize, Vec<u8>)>,
}

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

impl World {
    fn id(&self, side: usize, which: u8) -> Option<ConnectionId> {
        let ids = &self.ids[side];
        ids.get(usize::from(which) % ids.len().max(1)).copied()
    }

    /// Hands on the next packet of each side, as long as there is one and `most` allows.
    fn pass(&mut self, most: usize, lost: u8) {
        let mut packet = Vec::new();
        for number in 0..most {
            let mut any = false;
            for side in 0..2 {
                let Some(transmit) = self.ends[side].poll_transmit(self.now, &mut packet) else {
                    continue;
                };
                any = true;
                if let Some(departure) = transmit.departure {
                    self.ends[side].on_transmitted(self.now, departure);
                }
                if self.old.len() < KEPT {
                    self.old.push((1 - side, packet.clone()));
                }
                if lost >> (number % 8) & 1 == 0 {
                    let _ = self.ends[1 - side].handle_packet(self.now, &packet);
                }
            }
            if !any {
                return;
            }
        }
    }
}

fuzz_target!(|input: Input| {
    let config = Config {
        timestamps: input.timestamps,
        sack: input.sack,
        receive_buffer: u64::from(input.buffer) + 1,
        ..Profile::Linux.config()
    };
    let options = Options {
        send_buffer: usize::from(input.buffer) + 1,
        path_probe: input.probes.then_some(512),
        departures: input.probes,
        ..Options::new(config)
    };
    let settings = |number| Settings {
        most_connections: MAX,
        most_time_wait: 4,
        ..Settings::new([number; 16])
    };
    let mut world = World {
        ends: [Endpoint::new(settings(1)), Endpoint::new(settings(2))],
        ids: [Vec::new(), Vec::new()],
        now: Instant::ZERO + Duration::from_secs(1000),
        old: Vec::new(),
    };
    let listening = ListenOptions {
        options: options.clone(),
        backlog: usize::from(input.backlog % 4),
        syn_cookies: true,
        fast_open: (input.backlog & 4 != 0).then(|| FastOpenListen {
            without_cookie: input.backlog & 8 != 0,
            ..FastOpenListen::default()
        }),
    };
    let listener = world.ends[1]
        .listen(address("10.0.0.2:80"), listening)
        .expect("a free port");
    let mut work = 0_usize;
    for operation in &input.operations {
        act(&mut world, operation, &options, listener);
        work += 1;
        for end in &world.ends {
            assert!(end.len() <= MAX && end.closed() <= 4);
            let each = 2 * (usize::from(input.buffer) + 1) + (1 << 17);
            assert!(end.buffered() <= (MAX * each) as u64);
        }
        if work > 400 {
            return;
        }
    }
});

fn act(
    world: &mut World,
    operation: &Operation,
    options: &Options,
    listener: airtcp_endpoint::ListenerId,
) {
    let now = world.now;
    let checksums = |trusted: bool| {
        if trusted {
            Checksums::Trusted
        } else {
            Checksums::Verified
        }
    };
    match *operation {
        Operation::Raw {
            side,
            ref bytes,
            trusted,
        } => {
            let end = &mut world.ends[usize::from(side)];
            let _ = end.handle_packet_with(now, bytes, checksums(trusted));
        }
        Operation::Bent { at, value, trusted } => {
            let mut packet = Vec::new();
            for side in 0..2 {
                if world.ends[side].poll_transmit(now, &mut packet).is_some() {
                    let place = usize::from(at) % packet.len();
                    packet[place] = value;
                    let _ =
                        world.ends[1 - side].handle_packet_with(now, &packet, checksums(trusted));
                }
            }
        }
        Operation::Pass { lost } => world.pass(64, lost),
        Operation::Again { which } => {
            if let Some((to, packet)) = world.old.get(usize::from(which) % KEPT).cloned() {
                let _ = world.ends[to].handle_packet(now, &packet);
            }
        }
        Operation::Wait { milliseconds } => {
            world.now += Duration::from_millis(u64::from(milliseconds));
            for end in &mut world.ends {
                end.on_wakeup(world.now);
            }
        }
        Operation::Connect => {
            let (from, to) = (address("10.0.0.1:0"), address("10.0.0.2:80"));
            if let Ok(id) = world.ends[0].connect(now, from, to, options) {
                world.ids[0].push(id);
            }
        }
        Operation::Accept => {
            if let Some(id) = world.ends[1].accept(listener) {
                world.ids[1].push(id);
            }
        }
        Operation::Write { side, which, count } => {
            let side = usize::from(side);
            if let Some(id) = world.id(side, which) {
                let _ = world.ends[side].write(id, &vec![7; usize::from(count)]);
            }
        }
        Operation::Read { side, which, count } => {
            let side = usize::from(side);
            if let Some(id) = world.id(side, which) {
                let mut into = vec![0; usize::from(count)];
                let _ = world.ends[side].read(id, &mut into);
            }
        }
        Operation::Shut {
            side,
            which,
            reading,
        } => {
            let side = usize::from(side);
            if let Some(id) = world.id(side, which) {
                let end = &mut world.ends[side];
                let _ = if reading {
                    end.shut_reading(id)
                } else {
                    end.shut_writing(id)
                };
            }
        }
        Operation::Release {
            side,
            which,
            linger,
        } => {
            let side = usize::from(side);
            if let Some(id) = world.id(side, which) {
                let linger = match linger % 3 {
                    0 => Linger::Background,
                    1 => Linger::AtMost(Duration::from_millis(u64::from(linger))),
                    _ => Linger::Reset,
                };
                let _ = world.ends[side].release(now, id, linger);
                world.ids[side].retain(|&other| other != id);
            }
        }
        Operation::Set {
            side,
            which,
            what,
            value,
        } => {
            let side = usize::from(side);
            let Some(id) = world.id(side, which) else {
                return;
            };
            let end = &mut world.ends[side];
            let _ = match what % 4 {
                0 => end.set_congestion_control(id, control(value)),
                1 => end.set_buffers(id, value as usize % 65_536, u64::from(value) % 65_536),
                2 => end.set_low_water(id, value as usize, value as usize),
                _ => end.set_user_timeout(id, Some(Duration::from_millis(u64::from(value)))),
            };
        }
    }
}

fn control(value: u32) -> CongestionControl {
    match value % 7 {
        0 => CongestionControl::Reno,
        1 => CongestionControl::Cubic,
        2 => CongestionControl::Westwood,
        3 => CongestionControl::Veno,
        4 => CongestionControl::Jersey,
        5 => CongestionControl::Bbr,
        _ => CongestionControl::BbrV3,
    }
}
