//! A device that stays down while the retransmission timer backs off again and again (RFC 6298
//! §5.5): how long it is down is counted in timeouts, not in seconds.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::Command;
use std::time::Instant;

use airtcp_endpoint::{ConnectionId, Options, Read as DeploymentStep};
use airtcp_host::interface::Network;
use airtcp_proxy::stack::driver::{Device, Driver};
use airtcp_tcp::Profile;
use airtcp_units::Duration;

use super::payload::bytes;
use super::world::{DEVICE, ENDPOINT, KERNEL, PATIENCE, World};

const LENGTH: usize = 64 << 20;
/// Bytes transferred before the device goes down.
const BEFORE: u64 = 4 << 20;
/// Timeouts in a row: the timer has become 32 times as long.
const TIMEOUTS: u32 = 5;
/// The floor of the timer, so that these are soon over.
const FLOOR_MS: u64 = 5;
/// The same of the kernel's, in microseconds (Linux 6.11 and later).
const KERNELS_FLOOR: &str = "/proc/sys/net/ipv4/tcp_rto_min_us";
const PIECE: usize = 1 << 16;

/// An endpoint driven by the test, and its connection to the kernel.
struct Transfer<'a> {
    world: &'a World,
    driver: Driver,
    id: ConnectionId,
    begun: Instant,
}

impl<'a> Transfer<'a> {
    /// The transfer, and the kernel's end.
    fn new(world: &'a World) -> (Self, TcpStream) {
        let device = Device {
            name: DEVICE.to_owned(),
            mtu: 1500,
            networks: vec![Network {
                address: KERNEL.into(),
                prefix: 24,
            }],
            offload: false,
        };
        let mut driver = world.machine.enter(|| Driver::new(&device)).unwrap();
        let (listener, to) = world.listen(&world.machine, KERNEL);
        let mut config = Profile::Linux.config();
        config.timeout.min = Duration::from_millis(FLOOR_MS);
        let (now, from) = (driver.now(), SocketAddr::from((ENDPOINT, 0)));
        let endpoint = driver.endpoint_mut();
        let id = endpoint.connect(now, from, to, &Options::new(config));
        let mut transfer = Self {
            world,
            driver,
            id: id.unwrap(),
            begun: Instant::now(),
        };
        while !transfer
            .driver
            .endpoint()
            .readiness(transfer.id)
            .unwrap()
            .established
        {
            transfer.step();
        }
        (transfer, listener.accept().unwrap().0)
    }

    /// Processes arrivals, and sends.
    fn step(&mut self) {
        assert!(self.begun.elapsed() < PATIENCE, "the transfer goes on");
        let soon = self.driver.now() + Duration::from_millis(1);
        self.driver.wait(soon, None).unwrap();
        self.driver.pump().unwrap();
        while self.driver.endpoint_mut().next_event().is_some() {}
    }

    fn set_device(&self, state: &str) {
        self.world
            .on_machine(&format!("ip link set {DEVICE} {state}"));
    }

    /// Bytes of the endpoint's that are acknowledged, and timeouts in a row.
    fn sent(&self) -> (u64, u32) {
        let stream = self.driver.endpoint().stream(self.id).unwrap();
        let sender = stream.connection().sender();
        (sender.una(), sender.back_off())
    }

    /// Writes as much as there is room for; returns the rest.
    fn write<'b>(&mut self, left: &'b [u8]) -> &'b [u8] {
        let written = self.driver.endpoint_mut().write(self.id, left).unwrap();
        &left[written..]
    }

    /// Reads the available data. Returns whether that was all.
    fn read(&mut self, into: &mut Vec<u8>) -> bool {
        let mut piece = vec![0; PIECE];
        loop {
            match self
                .driver
                .endpoint_mut()
                .read(self.id, &mut piece)
                .unwrap()
            {
                DeploymentStep::Bytes(count) => into.extend(&piece[..count]),
                DeploymentStep::Nothing => return false,
                DeploymentStep::Finished => return true,
            }
        }
    }
}

#[test]
fn the_endpoint_sends_on_after_many_timeouts() {
    let Some(world) = World::new() else { return };
    let sent = bytes(1, LENGTH);
    let (mut transfer, mut peer) = Transfer::new(&world);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut arrived = Vec::with_capacity(LENGTH);
            peer.read_to_end(&mut arrived).unwrap();
            arrived
        });
        let mut left = &sent[..];
        while transfer.sent().0 < BEFORE {
            left = transfer.write(left);
            transfer.step();
        }
        transfer.set_device("down");
        let (mut before, mut timeouts) = transfer.sent();
        while timeouts < TIMEOUTS {
            transfer.step();
            let (now, in_a_row) = transfer.sent();
            // Acknowledgments from before the device went down are processed at the first step.
            assert!(timeouts == 0 || now == before, "nothing passes");
            (before, timeouts) = (now, in_a_row);
        }
        transfer.set_device("up");
        while !left.is_empty() {
            left = transfer.write(left);
            transfer.step();
        }
        transfer
            .driver
            .endpoint_mut()
            .shut_writing(transfer.id)
            .unwrap();
        while !reader.is_finished() {
            transfer.step();
        }
        assert!(reader.join().unwrap() == sent);
    });
}

#[test]
fn the_endpoint_receives_on_after_many_timeouts_of_the_kernels() {
    if !airtcp_needs::are_met(&["ss"]) {
        return;
    }
    let Some(world) = World::new() else { return };
    let floor = (FLOOR_MS * 1000).to_string();
    let is_set = world.machine.enter(|| Ok(fs::write(KERNELS_FLOOR, floor)));
    if let Err(error) = is_set.unwrap() {
        airtcp_needs::skip(format_args!("{KERNELS_FLOOR}: {error}"));
        return;
    }
    let sent = bytes(2, LENGTH);
    let (mut transfer, mut peer) = Transfer::new(&world);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            peer.write_all(&sent).unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
        });
        let mut arrived = Vec::with_capacity(LENGTH);
        while (arrived.len() as u64) < BEFORE {
            transfer.read(&mut arrived);
            transfer.step();
        }
        transfer.set_device("down");
        while kernels_timeouts(&world) < TIMEOUTS {
            transfer.step();
        }
        transfer.read(&mut arrived);
        assert!(arrived.len() < LENGTH, "it ended before the device did");
        transfer.set_device("up");
        while !transfer.read(&mut arrived) {
            transfer.step();
        }
        assert!(arrived == sent);
    });
}

/// How often in a row the kernel's timer has run out, on its one connection to the endpoint.
fn kernels_timeouts(world: &World) -> u32 {
    let listed = world.machine.enter(|| {
        let words = ["-tin", "dst", &ENDPOINT.to_string()];
        Ok(Command::new("ss").args(words).output().unwrap())
    });
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    let word = listed
        .split_whitespace()
        .find_map(|word| word.strip_prefix("backoff:"));
    word.map_or(0, |count| count.parse().unwrap())
}
