//! Bytes are read as they were written, whatever the wire does.

use airtcp_endpoint::{Linger, ListenOptions, Options, Read};
use airtcp_tcp::config::CongestionControl;
use airtcp_tcp::{Config, End, Profile};
use airtcp_units::Duration;
use proptest::prelude::*;

use super::world::{CLIENT, Faults, SERVER, World, pattern, patterned};

/// One direction of a connection: how far it is written and read, and where it ends.
struct Direction {
    seed: u64,
    written: u64,
    read: u64,
    length: u64,
}

impl Direction {
    /// Writes a piece if there is room, and shuts writing after the last.
    fn write(&mut self, world: &mut World, side: usize, id: airtcp_endpoint::ConnectionId) {
        let left = self.length - self.written;
        if left == 0 {
            return;
        }
        let piece = (1 + world.draws.below(20_000)).min(left) as usize;
        let bytes = patterned(self.seed, self.written, piece);
        let taken = world.ends[side].write(id, &bytes).unwrap();
        self.written += taken as u64;
        if self.written == self.length {
            world.ends[side].shut_writing(id).unwrap();
        }
    }

    /// Reads a piece, and compares it with the bytes written. Returns whether it was the end.
    fn read(&mut self, world: &mut World, side: usize, id: airtcp_endpoint::ConnectionId) -> bool {
        let mut bytes = vec![0; 1 + world.draws.below(30_000) as usize];
        match world.ends[side].read(id, &mut bytes).unwrap() {
            Read::Nothing => false,
            Read::Finished => {
                assert_eq!(self.read, self.length, "the end came early");
                true
            }
            Read::Bytes(count) => {
                for &byte in &bytes[..count] {
                    assert_eq!(byte, pattern(self.seed, self.read), "at {}", self.read);
                    self.read += 1;
                }
                false
            }
        }
    }
}

/// MSG_MORE holds data back until the data before it is acknowledged.
#[test]
fn more_data_waits_for_an_acknowledgment() {
    let mut world = World::new(1);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    world.ends[CLIENT].write(client, &[1; 1000]).unwrap();
    world.flush();
    world.ends[CLIENT].set_more(client, true).unwrap();
    world.ends[CLIENT].write(client, &[2; 100]).unwrap();
    world.flush();
    let stream = world.ends[CLIENT].stream(client).unwrap();
    assert_eq!(stream.unsent(), 100);
    world.until(|world| world.ends[CLIENT].stream(client).unwrap().unsent() == 0);
    world.pass(Duration::from_secs(1));
    assert_eq!(world.read(SERVER, server).len(), 1100);
}

fn exchange(seed: u64, config: Config, buffer: usize, lengths: [u64; 2], faults: Faults) {
    let mut world = World::new(seed);
    let options = Options {
        send_buffer: buffer,
        ..Options::new(config)
    };
    let listening = ListenOptions {
        options: options.clone(),
        ..ListenOptions::default()
    };
    world.faults = faults;
    let ids = world.open(&options, listening);
    let mut directions = [CLIENT, SERVER].map(|side| Direction {
        seed: seed + side as u64,
        written: 0,
        read: 0,
        length: lengths[side],
    });
    for side in [CLIENT, SERVER] {
        if lengths[side] == 0 {
            world.ends[side].shut_writing(ids[side]).unwrap();
        }
    }
    let mut finished = [false; 2];
    world.until(|world| {
        for side in [CLIENT, SERVER] {
            directions[side].write(world, side, ids[side]);
            if !world.draws.happens(300) {
                finished[side] |= directions[1 - side].read(world, side, ids[side]);
            }
            let held = world.ends[side].buffered();
            assert!(
                held <= (buffer as u64 + config.receive_buffer) + 1,
                "{held}"
            );
        }
        finished == [true; 2]
    });
    for side in [CLIENT, SERVER] {
        let now = world.now;
        world.ends[side]
            .release(now, ids[side], Linger::Background)
            .unwrap();
    }
    world.pass(Duration::from_secs(300));
    assert!(
        world
            .ends
            .iter()
            .all(|end| end.is_empty() && end.closed() == 0)
    );
    assert!(world.ends.iter().all(|end| end.buffered() == 0));
}

fn profile() -> impl Strategy<Value = Profile> {
    prop::sample::select(vec![
        Profile::Linux,
        Profile::NewReno,
        Profile::Sack,
        Profile::Reno,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Under loss, duplication, damage and reordering, with buffers from a few segments on, the
    /// streams of both directions equal the data written, and end where they were shut.
    #[test]
    fn streams_are_what_was_written(
        seed: u64,
        profile in profile(),
        timestamps: bool,
        buffers in (3_000_usize..100_000, 3_000_u64..100_000),
        lengths in (0_u64..120_000, 0_u64..120_000),
        faults in (0_u64..80, 0_u64..80, 0_u64..80, 0_u64..200)
    ) {
        let config = Config { receive_buffer: buffers.1, timestamps, ..profile.config() };
        let (lost, duplicated, damaged, late) = faults;
        let faults = Faults { lost, duplicated, damaged, late };
        exchange(seed, config, buffers.0, [lengths.0, lengths.1], faults);
    }
}

/// A MiB under every congestion control, changed from one to the next on the way.
#[test]
fn the_congestion_control_changes_on_a_living_connection() {
    let mut world = World::new(1);
    world.faults.lost = 20;
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    let controls = [
        CongestionControl::Bbr,
        CongestionControl::Cubic,
        CongestionControl::Veno,
        CongestionControl::Vegas,
        CongestionControl::Illinois,
        CongestionControl::Hybla,
        CongestionControl::HTcp,
        CongestionControl::Yeah,
        CongestionControl::Cdg,
        CongestionControl::Dctcp,
        CongestionControl::C2Tcp,
        CongestionControl::Prague,
        CongestionControl::Ledbat,
        CongestionControl::BbrV3,
        CongestionControl::Copa,
        CongestionControl::Vivace,
        CongestionControl::ProteusS,
        CongestionControl::Verus,
        CongestionControl::Abc,
        CongestionControl::Sprout,
        CongestionControl::Westwood,
        CongestionControl::Reno,
    ];
    let (mut written, mut read) = (0, 0_u64);
    for control in controls {
        world.ends[CLIENT]
            .set_congestion_control(client, control)
            .unwrap();
        let until = read + 200_000;
        world.until(|world| {
            let bytes = patterned(9, written, 5000);
            written += world.ends[CLIENT].write(client, &bytes).unwrap() as u64;
            for byte in world.read(SERVER, server) {
                assert_eq!(byte, pattern(9, read), "at {read} with {control:?}");
                read += 1;
            }
            read >= until
        });
    }
}

/// A smaller buffer shuts the window once it is full, and a larger one reopens it.
#[test]
fn buffers_change_on_a_living_connection() {
    let mut world = World::new(1);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    world.ends[CLIENT]
        .set_buffers(client, 10_000, 10_000)
        .unwrap();
    assert_eq!(world.ends[CLIENT].write(client, &[1; 50_000]), Ok(10_000));
    world.ends[CLIENT]
        .set_buffers(client, 60_000, 10_000)
        .unwrap();
    assert_eq!(world.ends[CLIENT].write(client, &[1; 70_000]), Ok(50_000));
    world.pass(Duration::from_secs(1));
    let stream = world.ends[SERVER].stream(server).unwrap();
    assert_eq!(stream.available(), 60_000);
}

/// A connection is readable from its low-water mark on, or at its end.
#[test]
fn low_water_marks_hold_events_back() {
    let mut world = World::new(1);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    world.ends[SERVER].set_low_water(server, 100, 1).unwrap();
    let readable = |world: &World| world.ends[SERVER].readiness(server).unwrap().readable;
    world.ends[CLIENT].write(client, &[1; 99]).unwrap();
    world.pass(Duration::from_secs(1));
    assert!(!readable(&world));
    world.ends[CLIENT].write(client, &[1; 1]).unwrap();
    world.pass(Duration::from_secs(1));
    assert!(readable(&world));
    assert_eq!(world.read(SERVER, server).len(), 100);
    assert!(!readable(&world));
    world.ends[CLIENT].shut_writing(client).unwrap();
    world.pass(Duration::from_secs(1));
    assert!(readable(&world));
}

/// Data received before a reset can still be read, and nothing can be written.
#[test]
fn a_reset_leaves_what_has_arrived() {
    let mut world = World::new(1);
    let [client, server] = world.open(&Options::default(), ListenOptions::default());
    world.ends[CLIENT].write(client, b"last words").unwrap();
    world.pass(Duration::from_secs(1));
    world.ends[CLIENT].abort(world.now, client).unwrap();
    world.pass(Duration::from_secs(1));
    let ended = world.ends[SERVER].readiness(server).unwrap().ended;
    assert_eq!(ended, Some(End::Reset));
    assert_eq!(world.read(SERVER, server), b"last words");
    assert!(world.ends[SERVER].write(server, b"?").is_err());
}
