//! Forwards packets between two devices, for kernels without a packet queue: two packet sockets,
//! and every frame that enters at one leaves at the other, unless an agent holds it.
//!
//! Frames are forwarded with pending offload work for their device (PACKET_VNET_HDR), so that
//! neither checksums nor segmentation are this program's task; a VLAN's tag, which the kernel
//! removes from every incoming frame, is restored. The devices have no other use: they have no
//! addresses, and at the end a kernel bridge joins them, so that packets pass.

use std::collections::HashMap;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use airtcp_host::clock::Clock;
use airtcp_host::device::bridge;
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::interface;
use airtcp_host::socket_option;
use airtcp_link::agent::Toward;
use airtcp_units::Instant;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, socket_with};
use tracing::info;

use super::treatment::{self, Treatment};
use crate::agents::engine::Decision;
use crate::configuration::Settings;
use crate::meter::Meter;
use crate::packets::filter::Segments;
use crate::packets::packet_view::{FlowKeys, PacketView, is_of_the_connection, read_headers};
use crate::sockets::packet_socket::{VlanTag, bind_packet, receive_frame};

/// Maximum number of frames read from one device before switching to the other.
const TURN: usize = 64;
/// Bytes that the kernel puts before a frame (virtio_net_hdr), and Ethernet's header.
const PREFIX: usize = 10;
const ETHERNET: usize = 14;
/// Length of a VLAN's tag, and its offset in a frame: after both addresses.
const TAG: usize = 4;
const TAG_AT: usize = 12;
/// The longest frame, before segmentation by its device.
const MAX: usize = PREFIX + ETHERNET + TAG + 65_536;
/// Buffer for frames waiting for this program, at each device.
const BUFFER_BYTES: usize = 4 << 20;

/// A device owned by this program.
#[derive(Debug)]
struct Port {
    socket: OwnedFd,
    device: String,
    /// The device's index when it was opened.
    index: u32,
    toward: Toward,
}

/// Agents between two devices.
#[derive(Debug)]
pub struct Inline {
    treatment: Treatment<u64>,
    /// The device towards the wired network, and the one towards the mobiles.
    ports: [Port; 2],
    sees: [Option<Segments>; 2],
    /// Frames that await an agent's decision; never iterated over.
    waiting: HashMap<u64, (Toward, Vec<u8>)>,
    refused: u64,
    /// Room for a tag, then the frame.
    buffer: Vec<u8>,
    /// Whether a successor carries new frames.
    is_followed: bool,
}

impl Inline {
    /// Opens both devices, which must not be ports of a bridge or have addresses in use.
    ///
    /// # Errors
    ///
    /// The system does not allow it, or there is no such device.
    pub fn new(settings: &Settings) -> Result<Self> {
        let chain = &settings.chain;
        // A bridge left by an earlier gateway would carry every frame a second time.
        close_bridge(&settings.mobile)?;
        Ok(Self {
            treatment: Treatment::new(settings)?,
            ports: [
                Port::new(&settings.wired, Toward::Mobile)?,
                Port::new(&settings.mobile, Toward::Wired)?,
            ],
            sees: [chain.sees(Toward::Mobile), chain.sees(Toward::Wired)],
            waiting: HashMap::new(),
            refused: 0,
            buffer: vec![0; TAG + MAX],
            is_followed: false,
        })
    }

    /// Stops forwarding new frames for a successor: otherwise both would forward every frame.
    pub const fn follow(&mut self) {
        self.is_followed = true;
    }

    /// Reopens a device that vanished and returned with another index.
    pub fn look_after_devices(&mut self) {
        for port in &mut self.ports {
            if interface::index(&port.device).is_ok_and(|index| index != port.index)
                && let Ok(again) = Port::new(&port.device, port.toward)
            {
                info!(device = port.device, "the device is there again");
                *port = again;
            }
        }
    }

    /// Switches to other agents or bounds; held frames are released first.
    ///
    /// # Errors
    /// A parameter of an agent is out of its range; then nothing has changed.
    pub fn reload(&mut self, settings: &Settings, now: Instant) -> Result<()> {
        let next = treatment::engine(settings)?;
        self.release(now);
        self.treatment.engine = next;
        Ok(())
    }

    /// The agents and their counters.
    pub const fn treatment(&self) -> &Treatment<impl Copy + use<>> {
        &self.treatment
    }

    /// The descriptors to wait for.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.ports.iter().map(|port| port.socket.as_fd())
    }

    /// Forwards a batch of frames in each direction. Returns whether there may be more.
    ///
    /// # Errors
    /// A device is gone.
    pub fn turn(&mut self, clock: Clock, keys: &FlowKeys, meter: &Meter) -> Result<bool> {
        if self.is_followed {
            return Ok(false);
        }
        let mut more = false;
        for port in 0..self.ports.len() {
            more |= self.take(port, clock, keys, meter)?;
        }
        Ok(more)
    }

    /// Handles all due events.
    pub fn wake(&mut self, clock: Clock) {
        if let Some(due) = self.treatment.wake(clock.now()) {
            self.decide();
            self.treatment.tally.lateness.add(clock.now() - due);
        }
    }

    /// Releases all held frames.
    pub fn release(&mut self, now: Instant) {
        self.treatment.engine.release_all(now);
        self.decide();
    }

    fn take(&mut self, port: usize, clock: Clock, keys: &FlowKeys, meter: &Meter) -> Result<bool> {
        for _ in 0..TURN {
            let Port { socket, toward, .. } = &self.ports[port];
            let toward = *toward;
            let (length, tag) = match receive_frame(socket, &mut self.buffer[TAG..]) {
                Ok(received) => received,
                Err(cause) => match Errno::from_io_error(&cause) {
                    Some(Errno::AGAIN) => return Ok(false),
                    Some(Errno::INTR | Errno::NETDOWN) => continue,
                    // A frame with segmentation requested in an unknown way.
                    Some(Errno::INVAL) => {
                        self.refused += 1;
                        continue;
                    }
                    _ => return Err(cause).tried(|| "cannot read frames".to_owned()),
                },
            };
            self.treatment.tally.packets += 1;
            let frame = tagged(&mut self.buffer, length, tag);
            let Some(packet) = self.packet(frame.clone(), toward) else {
                self.pass_on(toward, frame);
                continue;
            };
            if !keys.is_treated(&packet.ends) {
                self.pass_on(toward, frame);
                continue;
            }
            let number = self.treatment.tally.packets;
            let frame = self.buffer[frame].to_vec();
            // Only agents that repeat packets keep copies, and those require a queue.
            self.treatment
                .pass(clock, keys, meter, &packet, (number, &[]));
            self.waiting.insert(number, (toward, frame));
            self.decide();
        }
        Ok(true)
    }

    /// The part of the frame at `frame` in the buffer that an agent needs to see.
    fn packet(&mut self, frame: Range<usize>, toward: Toward) -> Option<PacketView> {
        let sees = self.sees[usize::from(toward == Toward::Wired)]?;
        let frame = self.buffer.get(frame)?.get(PREFIX..)?;
        let packet = frame.get(network_at(frame)?..)?;
        let packet = match read_headers(packet, toward) {
            Ok(packet) => packet,
            Err(_) => {
                self.treatment.tally.unread += 1;
                return None;
            }
        };
        let is_meant = sees == Segments::All || packet.segment.payload_bytes == 0;
        (is_meant && !is_of_the_connection(&packet.segment)).then_some(packet)
    }

    fn pass_on(&mut self, toward: Toward, frame: Range<usize>) {
        let sent = send_frame(&self.ports, toward, &self.buffer[frame], None);
        self.refused += u64::from(!sent);
    }

    fn decide(&mut self) {
        while let Some(decision) = self.treatment.engine.poll() {
            let (number, priority) = match decision {
                Decision::Pass(number) => (number, None),
                Decision::PassWithPriority(number, priority) => (number, Some(priority)),
                Decision::Drop(number) => {
                    self.waiting.remove(&number);
                    continue;
                }
                // Agents that change or repeat packets require a queue, and are refused without
                // one.
                Decision::PassChanged(number, _) => (number, None),
                Decision::Repeat(_) => continue,
            };
            if let Some((toward, frame)) = self.waiting.remove(&number) {
                let sent = send_frame(&self.ports, toward, &frame, priority);
                self.refused += u64::from(!sent);
            }
        }
    }
}

/// Restores a tag in the frame of `length` bytes that begins after [`TAG`] bytes; returns its new
/// range.
fn tagged(buffer: &mut [u8], length: usize, tag: Option<VlanTag>) -> Range<usize> {
    let whole = TAG..TAG + length;
    let Some([protocol, control]) = tag.filter(|_| length >= PREFIX + TAG_AT) else {
        return whole;
    };
    buffer.copy_within(TAG..TAG + PREFIX + TAG_AT, 0);
    let place = &mut buffer[PREFIX + TAG_AT..][..TAG];
    place[..2].copy_from_slice(&protocol.to_be_bytes());
    place[2..].copy_from_slice(&control.to_be_bytes());
    // The end of the headers and the start of the checksummed part are offsets from the frame's
    // start (virtio_net_hdr: hdr_len at 2, csum_start at 6); zero means no offload.
    for at in [2, 6] {
        let offset = u16::from_ne_bytes([buffer[at], buffer[at + 1]]);
        if offset != 0 {
            let further = offset.saturating_add(TAG as u16);
            buffer[at..at + 2].copy_from_slice(&further.to_ne_bytes());
        }
    }
    0..TAG + length
}

/// Sends a frame out of the device in direction `toward`, opposite to its origin.
fn send_frame(ports: &[Port; 2], toward: Toward, frame: &[u8], priority: Option<u32>) -> bool {
    let Some(port) = ports.iter().find(|port| port.toward == toward.opposite()) else {
        return false;
    };
    if let Some(priority) = priority {
        port.prefer(priority.cast_signed());
    }
    let sent = send(&port.socket, frame, SendFlags::DONTWAIT).is_ok();
    if priority.is_some() {
        port.prefer(0);
    }
    sent
}

/// Offset of the IP packet in an Ethernet frame, if it is one: VLAN tags are skipped.
fn network_at(frame: &[u8]) -> Option<usize> {
    let mut at = 12;
    loop {
        let kind = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
        match kind {
            0x8100 | 0x88a8 => at += 4,
            0x0800 | 0x86dd => return Some(at + 2),
            _ => return None,
        }
    }
}

impl Port {
    /// Opens the device for outgoing frames in direction `toward`.
    fn new(device: &str, toward: Toward) -> Result<Self> {
        let failed = || format!("cannot take {device}");
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket =
            socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None).map_err(|cause| {
                Error::system(failed(), cause)
                    .remedied_by("it needs CAP_NET_RAW: run it as root, or by the systemd unit")
            })?;
        let index = interface::index(device)?;
        let on: libc::c_int = 1;
        let level = libc::SOL_PACKET;
        socket_option::set(&socket, level, libc::PACKET_AUXDATA, &on).tried(failed)?;
        socket_option::set(&socket, level, libc::PACKET_VNET_HDR, &on).tried(failed)?;
        // This program's outgoing frames are not received again.
        socket_option::set(&socket, level, libc::PACKET_IGNORE_OUTGOING, &on).tried(failed)?;
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES);
        let all = libc::packet_mreq {
            mr_ifindex: i32::try_from(index).unwrap_or(0),
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        socket_option::set(&socket, level, libc::PACKET_ADD_MEMBERSHIP, &all).tried(failed)?;
        bind_packet(&socket, device, libc::ETH_P_ALL).tried(failed)?;
        Ok(Self {
            socket,
            device: device.to_owned(),
            index,
            toward,
        })
    }

    /// Sets the priority of frames sent from now on. If the kernel refuses, they are sent without.
    fn prefer(&self, priority: libc::c_int) {
        let _ = socket_option::set(&self.socket, libc::SOL_SOCKET, libc::SO_PRIORITY, &priority);
    }
}

/// The name of the bridge that forwards packets while no gateway does.
fn bridge_name(mobile: &str) -> String {
    let short: String = mobile.chars().take(11).collect();
    format!("atp-{short}")
}

/// Joins both devices with a kernel bridge.
///
/// # Errors
/// The kernel has no bridges, or refuses it.
pub fn open_bridge(mobile: &str, wired: &str) -> Result<()> {
    let name = bridge_name(mobile);
    if interface::index(&name).is_err() {
        bridge::make(&name)?;
    }
    // Up before it has ports: a bridge that is down drops frames.
    interface::bring_up(&name)?;
    [mobile, wired]
        .into_iter()
        .try_for_each(|device| bridge::add_port(&name, device))
}

/// Removes the bridge, if there is one.
fn close_bridge(mobile: &str) -> Result<()> {
    let name = bridge_name(mobile);
    if interface::index(&name).is_ok() {
        interface::remove(&name)?;
    }
    Ok(())
}
