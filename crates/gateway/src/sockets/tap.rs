//! Observes the packets that pass a device, without intercepting them: a packet socket whose kernel
//! side writes headers into shared memory.
//!
//! The kernel fills blocks and hands each over when it is full or [`LATENCY_MS`] old
//! (Documentation/networking/packet_mmap.rst, TPACKET_V3), so that observation costs one wake-up
//! per block, not per packet. Packets that do not fit are counted as missed, but pass.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::socket_option;
use airtcp_link::agent::Toward;
use airtcp_units::Instant;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::packet_socket::bind_packet;
use super::sampling::Sampling;
use crate::packets::filter;
use crate::packets::filter::Instruction;
use crate::stations::Mac;

/// Maximum age of a block's first packet before the block is handed over, in milliseconds.
pub const LATENCY_MS: u32 = 8;
const BLOCK_BYTES: u32 = 1 << 17;
const BLOCKS: u32 = 32;
const FRAME_BYTES: u32 = 1 << 11;

/// A packet that passed.
#[derive(Clone, Copy, Debug)]
pub struct TappedPacket<'a> {
    /// Its time, in nanoseconds of the system clock since 1970.
    pub nanos: u64,
    /// Its direction, relative to the device towards the mobiles.
    pub toward: Toward,
    /// The sending radio or card, if the device has such addresses.
    pub sender: Option<Mac>,
    /// The bytes from the IP header on, possibly truncated.
    pub bytes: &'a [u8],
    /// The number of packets it represents: more than one if only a sample is examined.
    pub stands_for: u32,
}

/// Numbers of packets seen and missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TapCounters {
    /// Packets seen.
    pub seen: u64,
    /// Packets dropped for lack of room.
    pub missed: u64,
}

/// An observed device.
#[derive(Debug)]
pub struct Tap {
    socket: OwnedFd,
    ring: NonNull<c_void>,
    /// The next block to be handed over.
    next: u32,
    looked: TapCounters,
    sampling: Sampling,
}

impl Tap {
    /// Observes the device towards the mobiles, in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The system does not allow it, or there is no such device.
    pub fn new(device: &str, now: Instant) -> Result<Self> {
        let failed = || format!("cannot look at what passes {device}");
        // No protocol yet: nothing is captured before the filter is in place.
        let socket = socket_with(
            AddressFamily::PACKET,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )
        .map_err(|cause| {
            Error::system(failed(), cause)
                .remedied_by("it needs CAP_NET_RAW: run it as root, or by the systemd unit")
        })?;
        attach(&socket, &filter::tap(1)).tried(failed)?;
        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        socket_option::set(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)
            .tried(failed)?;
        let request = libc::tpacket_req3 {
            tp_block_size: BLOCK_BYTES,
            tp_block_nr: BLOCKS,
            tp_frame_size: FRAME_BYTES,
            tp_frame_nr: BLOCK_BYTES / FRAME_BYTES * BLOCKS,
            tp_retire_blk_tov: LATENCY_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        socket_option::set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)
            .tried(failed)?;
        let ring = map(&socket).tried(failed)?;
        let tap = Self {
            socket,
            ring,
            next: 0,
            looked: TapCounters::default(),
            sampling: Sampling::new(now),
        };
        bind_packet(&tap.socket, device, libc::ETH_P_ALL).tried(failed)?;
        Ok(tap)
    }

    /// Passes every packet of the ready blocks to `each`, in order.
    pub fn look(&mut self, mut each: impl FnMut(TappedPacket<'_>)) {
        // One round of the ring is enough per call: later blocks are for the next.
        for _ in 0..BLOCKS {
            if !self.look_at_block(&mut each) {
                break;
            }
        }
    }

    /// Examines fewer bulk segments if many pass, and all if few do. Call it regularly.
    pub fn sample(&mut self, now: Instant) {
        if let Some(one_in) = self.sampling.review(now) {
            // If the kernel refuses the new program, the old one continues: then examined segments
            // represent too many, as they do in the block being filled now.
            let _ = attach(&self.socket, &filter::tap(one_in));
        }
    }

    /// Returns the error that caused a poll(2) event.
    ///
    /// # Errors
    /// The device is gone or down.
    pub fn error(&self) -> io::Result<()> {
        rustix::net::sockopt::socket_error(&self.socket)?.map_err(Into::into)
    }

    /// Counters so far.
    pub fn looked(&mut self) -> TapCounters {
        let statistics: io::Result<libc::tpacket_stats_v3> =
            socket_option::get(&self.socket, libc::SOL_PACKET, libc::PACKET_STATISTICS);
        // Reading resets them.
        if let Ok(statistics) = statistics {
            let (all, missed) = (statistics.tp_packets, statistics.tp_drops);
            self.looked.seen += u64::from(all.saturating_sub(missed));
            self.looked.missed += u64::from(missed);
        }
        self.looked
    }

    fn look_at_block(&mut self, each: &mut impl FnMut(TappedPacket<'_>)) -> bool {
        let start = (self.next * BLOCK_BYTES) as usize;
        // SAFETY: `next` is below BLOCKS, so that the block lies in the ring, which is mapped as
        // long as this value lives; the kernel writes block_status, aligned to 4, as a whole.
        #[expect(unsafe_code, reason = "the ring is shared with the kernel")]
        let status = unsafe {
            let block = self.ring.as_ptr().byte_add(start);
            AtomicU32::from_ptr(block.byte_add(STATUS_AT).cast())
        };
        if status.load(std::sync::atomic::Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the kernel has handed this block over and does not touch it until its status is
        // written back below; it is as long as BLOCK_BYTES.
        #[expect(unsafe_code, reason = "the ring is shared with the kernel")]
        let block = unsafe {
            let block = self.ring.as_ptr().byte_add(start);
            std::slice::from_raw_parts(block.cast::<u8>().cast_const(), BLOCK_BYTES as usize)
        };
        let sampling = &mut self.sampling;
        read_block(block, sampling, each);
        fence(Ordering::Release);
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % BLOCKS;
        true
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        // SAFETY: the memory mapped by `map`, once, and nothing borrows from it any more.
        #[expect(unsafe_code, reason = "the ring is shared with the kernel")]
        let _ = unsafe { munmap(self.ring.as_ptr(), (BLOCK_BYTES * BLOCKS) as usize) };
    }
}

/// Offsets in a block's descriptor: version and offset of private data, then status, number of
/// packets, offset of the first (linux/if_packet.h, tpacket_block_desc).
const STATUS_AT: usize = 8;
const PACKETS_AT: usize = 12;
const FIRST_AT: usize = 16;
/// Offsets in a packet's header (tpacket3_hdr).
const HEADER_BYTES: usize = size_of::<libc::tpacket3_hdr>();

/// Passes the packets of a block to `each`.
fn read_block(block: &[u8], sampling: &mut Sampling, each: &mut impl FnMut(TappedPacket<'_>)) {
    let packets = u32_at(block, PACKETS_AT).unwrap_or(0);
    let mut at = u32_at(block, FIRST_AT).unwrap_or(0) as usize;
    for _ in 0..packets {
        let Some(next) = read_packet(block, at, sampling, each) else {
            return;
        };
        at += next;
    }
}

/// Passes the packet at `at` to `each`; returns the distance to the next.
fn read_packet(
    block: &[u8],
    at: usize,
    sampling: &mut Sampling,
    each: &mut impl FnMut(TappedPacket<'_>),
) -> Option<usize> {
    let header = block.get(at..)?;
    let field = |place: usize| u32_at(header, place);
    let (next, seconds, nanos, kept) = (field(0)?, field(4)?, field(8)?, field(12)?);
    let network = usize::from(u16::from_ne_bytes(header.get(26..28)?.try_into().ok()?));
    // sockaddr_ll follows the header, aligned: protocol at 2, kind of packet at 10, the sender's
    // address with its length at 11.
    let address = header.get(HEADER_BYTES.next_multiple_of(libc::TPACKET_ALIGNMENT)..)?;
    let protocol = u16::from_be_bytes(address.get(2..4)?.try_into().ok()?);
    let kind = *address.get(10)?;
    let sender = (*address.get(11)? == 6)
        .then(|| address.get(12..18))
        .flatten();
    let bytes = header.get(network..network + kept as usize)?;
    let is_tagged = protocol == VLAN;
    let bytes = if is_tagged { bytes.get(4..)? } else { bytes };
    // The filter never skips packets with a tag.
    let is_sampled = !is_tagged && filter::is_bulk(bytes);
    each(TappedPacket {
        nanos: u64::from(seconds) * 1_000_000_000 + u64::from(nanos),
        toward: if kind == libc::PACKET_OUTGOING {
            Toward::Mobile
        } else {
            Toward::Wired
        },
        sender: sender.and_then(|sender| sender.try_into().ok()),
        bytes,
        stands_for: if is_sampled { sampling.see() } else { 1 },
    });
    Some(next as usize)
}

/// The protocol of a frame in which the device has left the VLAN tag in place (IEEE 802.1Q).
const VLAN: u16 = 0x8100;

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    four.try_into().ok().map(u32::from_ne_bytes)
}

fn map(socket: &OwnedFd) -> rustix::io::Result<NonNull<c_void>> {
    let (length, access) = (
        (BLOCK_BYTES * BLOCKS) as usize,
        ProtFlags::READ | ProtFlags::WRITE,
    );
    // SAFETY: a new mapping, at an address chosen by the kernel.
    #[expect(unsafe_code, reason = "the ring is shared with the kernel")]
    let ring = unsafe {
        mmap(
            std::ptr::null_mut(),
            length,
            access,
            MapFlags::SHARED,
            socket,
            0,
        )
    }?;
    NonNull::new(ring).ok_or(rustix::io::Errno::NOMEM)
}

fn attach(socket: &OwnedFd, program: &[Instruction]) -> io::Result<()> {
    let mut instructions: Vec<_> = program
        .iter()
        .map(|&(code, jt, jf, k)| libc::sock_filter { code, jt, jf, k })
        .collect();
    let program = libc::sock_fprog {
        len: u16::try_from(instructions.len()).map_err(io::Error::other)?,
        filter: instructions.as_mut_ptr(),
    };
    socket_option::set(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

#[cfg(test)]
mod tests {
    use airtcp_packet::wire::{Addresses, emit};
    use airtcp_packet::{Flags, Segment};
    use airtcp_units::Duration;

    use super::*;

    /// A block with packets of these protocols, as the kernel lays it out (linux/if_packet.h).
    fn block(packets: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let (first, network) = (48, 96);
        let mut block = vec![0; first];
        block[PACKETS_AT..PACKETS_AT + 4].copy_from_slice(&(packets.len() as u32).to_ne_bytes());
        block[FIRST_AT..FIRST_AT + 4].copy_from_slice(&(first as u32).to_ne_bytes());
        for (protocol, bytes) in packets {
            let next = (network + bytes.len()).next_multiple_of(libc::TPACKET_ALIGNMENT);
            let mut one = vec![0; next];
            one[..4].copy_from_slice(&(next as u32).to_ne_bytes());
            one[12..16].copy_from_slice(&(bytes.len() as u32).to_ne_bytes());
            one[26..28].copy_from_slice(&(network as u16).to_ne_bytes());
            let address = HEADER_BYTES.next_multiple_of(libc::TPACKET_ALIGNMENT);
            one[address + 2..address + 4].copy_from_slice(&protocol.to_be_bytes());
            one[network..network + bytes.len()].copy_from_slice(bytes);
            block.extend(one);
        }
        block
    }

    /// A segment sampled one in eight represents eight; a tagged one, which is never sampled,
    /// represents itself.
    #[test]
    fn a_packet_stands_for_those_that_the_filter_left_out() {
        let segment = Segment {
            flags: Flags::ACK,
            payload_bytes: 1400,
            ..Segment::default()
        };
        let addresses = Addresses {
            source: "10.0.0.1:1".parse().unwrap(),
            destination: "10.0.0.2:2".parse().unwrap(),
        };
        let mut plain = Vec::new();
        emit(&segment, &addresses, 1, &[], &mut plain).unwrap();
        let tagged = [&[0, 5, 8, 0][..], &plain].concat();
        let mut sampling = Sampling::new(Instant::ZERO);
        for _ in 0..200_000 {
            sampling.see();
        }
        let one_in = sampling.review(Instant::ZERO + Duration::from_secs(1));
        assert_eq!(one_in, Some(8));
        let block = block(&[(0x0800, plain.clone()), (VLAN, tagged), (0x0800, plain)]);
        let mut stand_for = Vec::new();
        read_block(&block, &mut sampling, &mut |passed: TappedPacket<'_>| {
            assert_eq!(passed.bytes.len(), 1440);
            stand_for.push(passed.stands_for);
        });
        assert_eq!(stand_for, [8, 1, 8]);
    }
}
