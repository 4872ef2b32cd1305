//! The netlink messages of the kernel's packet queue: encoding and decoding only.
//!
//! After netlink's header comes struct nfgenmsg: family, version and queue. Queues and attributes
//! have the network's byte order (linux/netfilter/nfnetlink.h, nfnetlink_queue.h).

use std::io;

use airtcp_host::netlink::error_of;
use airtcp_host::netlink::frame::{
    self, append_attribute, append_message, attributes, half_word, word,
};
use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST, NLMSG_ERROR};

/// The queue's part of netfilter's messages.
const SUBSYSTEM: u16 = 3 << 8;
const PACKET: u16 = SUBSYSTEM;
const VERDICT: u16 = SUBSYSTEM | 1;
const CONFIGURE: u16 = SUBSYSTEM | 2;
const VERDICT_BATCH: u16 = SUBSYSTEM | 3;

/// Bytes of struct nfgenmsg, and the offset of the queue in it.
const HEADER_BYTES: usize = 4;
const QUEUE_AT: usize = 2;

mod configure {
    pub const COMMAND: u16 = 1;
    pub const PARAMETERS: u16 = 2;
    pub const MAX: u16 = 3;
    pub const MASK: u16 = 4;
    pub const FLAGS: u16 = 5;
    pub const BIND: u8 = 1;
    pub const UNBIND: u8 = 2;
    /// Packets are copied to the program.
    pub const COPY_PACKET: u8 = 2;
    /// Packets that do not fit into the queue pass.
    pub const FAIL_OPEN: u32 = 1;
}

mod attribute {
    pub const PACKET_HEADER: u16 = 1;
    pub const VERDICT_HEADER: u16 = 2;
    pub const PAYLOAD: u16 = 10;
    pub const WHOLE_LENGTH: u16 = 13;
    pub const PRIORITY: u16 = 21;
}

/// Netfilter's verdicts (linux/netfilter.h).
const NF_DROP: u32 = 0;
const NF_ACCEPT: u32 = 1;

/// A packet waiting in a queue for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued<'a> {
    /// The queue.
    pub queue: u16,
    /// Its number in the queue; numbers increase and wrap.
    pub id: u32,
    /// The bytes from the IP header on.
    pub bytes: &'a [u8],
    /// Whether its end is truncated.
    pub is_cut: bool,
}

/// A message from the kernel.
#[derive(Debug)]
pub enum Message<'a> {
    /// A packet waits.
    Queued(Queued<'a>),
    /// The answer to a request.
    Answer(io::Result<()>),
}

/// Parses the messages of a datagram, in order. Malformed ones are skipped; an impossible length
/// ends the datagram.
pub fn messages(datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    frame::messages(datagram).filter_map(|message| match message.kind {
        NLMSG_ERROR => Some(Message::Answer(error_of(message.body))),
        PACKET => read_packet(message.body).map(Message::Queued),
        _ => None,
    })
}

fn read_packet(body: &[u8]) -> Option<Queued<'_>> {
    let queue = u16::from_be(half_word(body, QUEUE_AT)?);
    let (mut id, mut bytes, mut whole) = (None, &[][..], None);
    for (kind, value) in attributes(body.get(HEADER_BYTES..)?) {
        match kind {
            attribute::PACKET_HEADER => id = word(value, 0).map(u32::from_be),
            attribute::PAYLOAD => bytes = value,
            attribute::WHOLE_LENGTH => whole = word(value, 0).map(u32::from_be),
            _ => {}
        }
    }
    Some(Queued {
        queue,
        id: id?,
        bytes,
        is_cut: whole.is_some_and(|whole| whole as usize > bytes.len()),
    })
}

/// The verdict on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It passes unchanged.
    Pass,
    /// It passes with replaced bytes.
    PassChanged(&'a [u8]),
    /// It passes with this priority (socket(7), SO_PRIORITY).
    PassWithPriority(u32),
    /// It is dropped.
    Drop,
}

/// A sequence of messages to the kernel.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// The bytes written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Discards everything written.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Requests a queue: at most `most` packets wait in it, and are copied up to `copied` bytes;
    /// packets that do not fit pass. The kernel answers.
    pub fn bind(&mut self, queue: u16, most: u32, copied: u32) {
        self.message(CONFIGURE, NLM_F_REQUEST | NLM_F_ACK, queue, |message| {
            append_attribute(message, configure::COMMAND, &[configure::BIND, 0, 0, 0]);
            let mut parameters = copied.to_be_bytes().to_vec();
            parameters.push(configure::COPY_PACKET);
            append_attribute(message, configure::PARAMETERS, &parameters);
            append_attribute(message, configure::MAX, &most.to_be_bytes());
            let flags = configure::FAIL_OPEN.to_be_bytes();
            append_attribute(message, configure::MASK, &flags);
            append_attribute(message, configure::FLAGS, &flags);
        });
    }

    /// Unbinds a queue.
    pub fn unbind(&mut self, queue: u16) {
        self.message(CONFIGURE, NLM_F_REQUEST, queue, |message| {
            append_attribute(message, configure::COMMAND, &[configure::UNBIND, 0, 0, 0]);
        });
    }

    /// Adds a verdict on one packet.
    pub fn verdict(&mut self, queue: u16, id: u32, verdict: Verdict<'_>) {
        self.message(VERDICT, NLM_F_REQUEST, queue, |message| {
            let word = if verdict == Verdict::Drop {
                NF_DROP
            } else {
                NF_ACCEPT
            };
            append_verdict(message, word, id);
            match verdict {
                Verdict::PassChanged(bytes) => append_attribute(message, attribute::PAYLOAD, bytes),
                Verdict::PassWithPriority(priority) => {
                    append_attribute(message, attribute::PRIORITY, &priority.to_be_bytes());
                }
                Verdict::Pass | Verdict::Drop => {}
            }
        });
    }

    /// Lets all waiting packets up to `id` pass.
    pub fn pass_up_to(&mut self, queue: u16, id: u32) {
        self.message(VERDICT_BATCH, NLM_F_REQUEST, queue, |message| {
            append_verdict(message, NF_ACCEPT, id);
        });
    }

    fn message(&mut self, kind: u16, flags: u16, queue: u16, body: impl FnOnce(&mut Vec<u8>)) {
        // There is only one conversation: answers need no sequence number.
        append_message(&mut self.bytes, kind, flags, 0, |bytes| {
            let [high, low] = queue.to_be_bytes();
            bytes.extend([0, 0, high, low]);
            body(bytes);
        });
    }
}

fn append_verdict(bytes: &mut Vec<u8>, verdict: u32, id: u32) {
    let mut header = [0; 8];
    header[..4].copy_from_slice(&verdict.to_be_bytes());
    header[4..].copy_from_slice(&id.to_be_bytes());
    append_attribute(bytes, attribute::VERDICT_HEADER, &header);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packet 5 of queue 7 as sent by an x86-64 kernel, by linux/nfnetlink_queue.h: header, hook
    /// and device, then four bytes of a packet of forty.
    #[cfg(target_endian = "little")]
    const QUEUED: [u8; 56] = [
        56, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // nlmsghdr
        2, 0, 0, 7, // nfgenmsg
        11, 0, 1, 0, 0, 0, 0, 5, 8, 0, 2, 0, // NFQA_PACKET_HDR, padded
        8, 0, 5, 0, 0, 0, 0, 3, // NFQA_IFINDEX_INDEV
        8, 0, 13, 0, 0, 0, 0, 40, // NFQA_CAP_LEN
        8, 0, 10, 0, 0x45, 0, 0, 40, // NFQA_PAYLOAD
    ];

    #[test]
    #[cfg(target_endian = "little")]
    fn a_packet_is_read_as_the_kernel_writes_it() {
        let datagram = QUEUED.to_vec();
        let found: Vec<_> = messages(&datagram).collect();
        let queued = Queued {
            queue: 7,
            id: 5,
            bytes: &[0x45, 0, 0, 40],
            is_cut: true,
        };
        let [Message::Queued(one)] = found[..] else {
            panic!("{found:?}");
        };
        assert_eq!(one, queued);
        let twice: Vec<u8> = datagram.iter().chain(&datagram).copied().collect();
        assert_eq!(messages(&twice).count(), 2);
        // Truncated anywhere, it gives one message less and no panic.
        for length in 0..datagram.len() {
            assert_eq!(messages(&datagram[..length]).count(), 0);
        }
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn verdicts_are_written_as_the_kernel_reads_them() {
        let mut writer = Writer::default();
        writer.pass_up_to(7, 5);
        assert_eq!(
            writer.bytes(),
            [
                32, 0, 0, 0, 3, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, // to queue 7
                12, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 5, // accept up to 5
            ]
        );
        writer.clear();
        writer.verdict(7, 6, Verdict::PassChanged(&[1, 2, 3]));
        let payload = &writer.bytes()[32..];
        assert_eq!(payload, [7, 0, 10, 0, 1, 2, 3, 0]);
        writer.clear();
        writer.verdict(7, 6, Verdict::PassWithPriority(262));
        assert_eq!(&writer.bytes()[32..], [8, 0, 21, 0, 0, 0, 1, 6]);
        writer.clear();
        writer.verdict(7, 6, Verdict::Drop);
        assert_eq!(writer.bytes()[24..28], [0; 4]);
    }

    #[test]
    fn answers_are_numbers_of_errno() {
        let mut datagram = Vec::new();
        datagram.extend(20_u32.to_ne_bytes());
        datagram.extend(NLMSG_ERROR.to_ne_bytes());
        datagram.extend([0; 10]);
        datagram.extend((-1_i32).to_ne_bytes());
        let Some(Message::Answer(Err(error))) = messages(&datagram).next() else {
            panic!("no error");
        };
        assert_eq!(error.raw_os_error(), Some(1));
    }

    /// Damage anywhere, including lengths, is parsed without a panic, and a packet's bytes are
    /// within the datagram.
    #[test]
    #[cfg(target_endian = "little")]
    fn damaged_messages_never_panic() {
        for seed in 0..20_000 {
            let draws = airtcp_link::Stream::new(seed, "netlink.test");
            let mut datagram: Vec<u8> = QUEUED.iter().chain(&QUEUED).copied().collect();
            for damage in 0..1 + draws.draw(0) % 6 {
                let at = draws.draw(2 * damage + 1) as usize % datagram.len();
                datagram[at] = draws.draw(2 * damage + 2) as u8;
            }
            datagram.truncate(draws.draw(99) as usize % (datagram.len() + 1));
            for message in messages(&datagram) {
                if let Message::Queued(packet) = message {
                    assert!(packet.bytes.len() <= datagram.len(), "seed {seed}");
                }
            }
        }
    }
}
