//! The kernel's queues of packets waiting for a verdict: one for each direction.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::netlink::{Connection, Part};
use airtcp_host::socket_option;
use airtcp_link::agent::Toward;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv, sockopt};

use super::netlink::{Message, Verdict, Writer, messages};

/// Maximum number of packets waiting in a queue; further ones bypass it.
const MAX_WAITING: u32 = 1 << 14;
/// Buffer for messages from the kernel.
const BUFFER_BYTES: usize = 8 << 20;
/// Maximum length of pending messages to the kernel before they are sent.
const FULL_BYTES: usize = 1 << 15;

/// A packet's identity: the direction's queue and its number there, unwrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId {
    /// Its direction, which selects its queue.
    pub toward: Toward,
    number: u64,
}

/// The packets in one queue.
#[derive(Debug)]
struct Lane {
    queue: u16,
    /// The number of the last packet received.
    last: u64,
    /// Packets without a verdict.
    waiting: BTreeSet<u64>,
    /// Packets that pass unchanged with the next batch.
    passing: Vec<u64>,
}

/// The queues of both directions.
#[derive(Debug)]
pub struct Queues {
    socket: Connection,
    lanes: Vec<(Toward, Lane)>,
    writer: Writer,
    buffer: Vec<u8>,
}

/// A packet from the kernel.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its identity.
    pub id: PacketId,
    /// The bytes from the IP header on.
    pub bytes: &'a [u8],
    /// Whether its end is truncated.
    pub is_cut: bool,
}

impl Queues {
    /// Opens the queues from number `base` on, one for each direction of `directions`, for packets
    /// copied up to `copied` bytes.
    ///
    /// # Errors
    /// Permission is missing, the system has no such queues, or another program holds one of them.
    pub fn new(base: u16, directions: &[Toward], copied: u32) -> Result<Self> {
        let socket = open().map_err(|cause| {
            Error::system("cannot speak with the kernel's packet queue", cause).remedied_by(
                "the kernel needs CONFIG_NETFILTER_NETLINK_QUEUE (OpenWrt: kmod-nfnetlink-queue); \
                 without it take --inline",
            )
        })?;
        let mut queues = Self {
            socket,
            lanes: Vec::new(),
            writer: Writer::default(),
            buffer: vec![0; 1 << 17],
        };
        for (queue, &toward) in (base..).zip(directions) {
            queues.bind(queue, copied)?;
            let lane = Lane {
                queue,
                last: 0,
                waiting: BTreeSet::new(),
                passing: Vec::new(),
            };
            queues.lanes.push((toward, lane));
        }
        Ok(queues)
    }

    fn bind(&mut self, queue: u16, copied: u32) -> Result<()> {
        self.writer.clear();
        self.writer.bind(queue, MAX_WAITING, copied);
        let failed = || format!("cannot take packet queue {queue}");
        self.send().tried(failed)?;
        // The kernel answers before the request returns.
        let (length, _) =
            recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()).tried(failed)?;
        for message in messages(&self.buffer[..length]) {
            if let Message::Answer(Err(cause)) = message {
                return Err(Error::system(failed(), cause).remedied_by(
                    "it needs CAP_NET_ADMIN, and a number that no other program has \
                     (/proc/net/netfilter/nfnetlink_queue); --queue gives another",
                ));
            }
        }
        Ok(())
    }

    /// The numbers of the queues.
    pub fn numbers(&self) -> impl Iterator<Item = (Toward, u16)> + '_ {
        self.lanes
            .iter()
            .map(|(toward, lane)| (*toward, lane.queue))
    }

    /// Reads a batch of waiting packets and passes each to `each`. Returns whether there may be
    /// more.
    ///
    /// # Errors
    /// The kernel no longer answers.
    pub fn read(&mut self, turn: usize, mut each: impl FnMut(Arrival<'_>)) -> Result<bool> {
        for _ in 0..turn {
            let length = match recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((length, _)) => length,
                Err(Errno::AGAIN) => return Ok(false),
                // Messages were lost: their packets have passed.
                Err(Errno::INTR | Errno::NOBUFS) => continue,
                Err(cause) => {
                    return Err(cause).tried(|| "cannot read from the packet queue".to_owned());
                }
            };
            for message in messages(&self.buffer[..length]) {
                let Message::Queued(packet) = message else {
                    continue;
                };
                let lane = self.lanes.iter_mut();
                let Some((toward, lane)) = lane
                    .map(|(toward, lane)| (*toward, lane))
                    .find(|(_, lane)| lane.queue == packet.queue)
                else {
                    continue;
                };
                let number = expand(packet.id, lane.last);
                lane.last = lane.last.max(number);
                lane.waiting.insert(number);
                each(Arrival {
                    id: PacketId { toward, number },
                    bytes: packet.bytes,
                    is_cut: packet.is_cut,
                });
            }
        }
        Ok(true)
    }

    /// Gives a verdict, which is sent by [`flush`](Self::flush). A packet with a verdict keeps it.
    pub fn decide(&mut self, id: PacketId, verdict: Verdict<'_>) {
        let lanes = self.lanes.iter_mut();
        let Some(lane) = lanes
            .filter_map(|(toward, lane)| (*toward == id.toward).then_some(lane))
            .next()
        else {
            return;
        };
        if !lane.waiting.remove(&id.number) {
            return;
        }
        if verdict == Verdict::Pass {
            lane.passing.push(id.number);
        } else {
            let number = low(id.number);
            self.writer.verdict(lane.queue, number, verdict);
        }
        if self.writer.bytes().len() >= FULL_BYTES {
            // If the kernel does not accept it now, the next flush sends it.
            let _ = self.send().map(|()| self.writer.clear());
        }
    }

    /// Sends the verdicts: a single one for a run of packets that all pass.
    ///
    /// # Errors
    ///
    /// The kernel does not accept them.
    pub fn flush(&mut self) -> Result<()> {
        for (_, lane) in &mut self.lanes {
            lane.write(&mut self.writer);
        }
        if self.writer.bytes().is_empty() {
            return Ok(());
        }
        let sent = self.send();
        self.writer.clear();
        sent.tried(|| "cannot answer the packet queue".to_owned())
    }

    /// Lets all waiting packets pass, known or not, and unbinds the queues.
    pub fn release(&mut self) {
        // Pending verdicts come first.
        let _ = self.flush();
        for (_, lane) in &mut self.lanes {
            lane.waiting.clear();
            release(&mut self.writer, lane.queue, lane.last);
        }
        let _ = self.send();
        self.writer.clear();
    }

    /// Returns a handle for another thread to release everything if this one hangs.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn rescuer(&self) -> Result<Rescuer> {
        let socket = self.socket.try_clone();
        let socket = socket.tried(|| "cannot copy a descriptor".to_owned())?;
        let queues = self.lanes.iter().map(|(_, lane)| lane.queue).collect();
        Ok(Rescuer { socket, queues })
    }

    fn send(&self) -> io::Result<()> {
        self.socket.send(self.writer.bytes())
    }
}

impl Lane {
    /// Writes the verdicts of passing packets. Dropped or changed ones were written before, so that
    /// they are already gone when a batch verdict applies "up to" a number.
    fn write(&mut self, writer: &mut Writer) {
        if self.passing.is_empty() {
            return;
        }
        self.passing.sort_unstable();
        let oldest = self.waiting.first().copied().unwrap_or(u64::MAX);
        let run = self.passing.partition_point(|&number| number < oldest);
        if let Some(&last) = self.passing[..run].last() {
            writer.pass_up_to(self.queue, low(last));
        }
        for &number in &self.passing[run..] {
            writer.verdict(self.queue, low(number), Verdict::Pass);
        }
        self.passing.clear();
    }
}

/// Releases queues from outside the thread that serves them.
#[derive(Debug)]
pub struct Rescuer {
    socket: Connection,
    queues: Vec<u16>,
}

impl Rescuer {
    /// Lets all waiting packets pass and unbinds the queues: from then on the rules' bypass
    /// applies. `last` is the number of a recent packet.
    pub fn release(&self, last: u64) {
        let mut writer = Writer::default();
        for &queue in &self.queues {
            release(&mut writer, queue, last);
        }
        let _ = self.socket.send(writer.bytes());
    }
}

/// Lets all packets waiting in a queue pass, including those after packet `last`, and unbinds it.
fn release(writer: &mut Writer, queue: u16, last: u64) {
    // Numbers wrap: up to a quarter of them ahead is "later" for the kernel
    // (nfqnl_recv_verdict_batch).
    writer.pass_up_to(queue, low(last).wrapping_add(1 << 30));
    writer.unbind(queue);
}

fn open() -> io::Result<Connection> {
    let socket = Connection::open_nonblocking(Part::Netfilter)?;
    // Without privileges the ordinary limit applies.
    if sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES).is_err() {
        let _ = sockopt::set_socket_recv_buffer_size(&socket, BUFFER_BYTES);
    }
    let on: libc::c_int = 1;
    let _ = socket_option::set(&socket, libc::SOL_NETLINK, libc::NETLINK_NO_ENOBUFS, &on);
    Ok(socket)
}

/// The full number of a packet from its low half, nearest to the last one.
fn expand(id: u32, last: u64) -> u64 {
    let ahead = id.wrapping_sub(low(last)).cast_signed();
    last.saturating_add_signed(i64::from(ahead))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half is what the kernel knows"
)]
const fn low(number: u64) -> u32 {
    number as u32
}

impl AsFd for Queues {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Numbers of the queues in use, as listed by the kernel.
pub fn queues_in_use() -> Vec<u16> {
    let listed =
        std::fs::read_to_string(std::path::Path::new("/proc/net/netfilter/nfnetlink_queue"));
    let first = |line: &str| line.split_whitespace().next()?.parse().ok();
    listed
        .unwrap_or_default()
        .lines()
        .filter_map(first)
        .collect()
}
