//! Tables of nf_tables, written with the messages of `include/uapi/linux/netfilter/nf_tables.h`.
//!
//! A [`Batch`] holds messages that the kernel applies together or not at all.

use std::io;

use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};

/// NFNL_SUBSYS_NFTABLES.
const NF_TABLES: u16 = 10;
/// NFNL_MSG_BATCH_BEGIN and NFNL_MSG_BATCH_END.
const BATCH: [u16; 2] = [0x10, 0x11];
/// NFPROTO_UNSPEC.
const UNSPEC: u8 = 0;
/// NFT_MSG_NEWTABLE, NFT_MSG_DELTABLE, NFT_MSG_NEWCHAIN and NFT_MSG_NEWRULE.
const NEW_TABLE: u16 = 0;
const DELETE_TABLE: u16 = 2;
const NEW_CHAIN: u16 = 3;
const NEW_RULE: u16 = 6;
/// NLM_F_REQUEST, NLM_F_ACK, and NLM_F_CREATE with NLM_F_APPEND.
const REQUEST: u16 = 1;
const ACK: u16 = 4;
const CREATE: u16 = 0x400 | 0x800;
/// NLA_F_NESTED.
const NESTED: u16 = 0x8000;

/// NFT_REG_1, the register through which expressions pass their values.
const REGISTER: u32 = 1;
/// NFT_REG_VERDICT.
const VERDICT: u32 = 0;
/// NF_ACCEPT.
const ACCEPT: u32 = 1;
/// NFT_TABLE_F_OWNER: the table is removed when the socket that made it is closed, and no other
/// process can change it (Linux 5.12 and later).
const OWNED: u32 = 2;

/// The packets that a table sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Family {
    /// NFPROTO_INET: those of IPv4 and IPv6.
    Both = 1,
    /// NFPROTO_IPV4.
    V4 = 2,
}

/// A key of the expression `meta` (enum nft_meta_keys).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Meta {
    /// NFT_META_MARK: the packet's mark.
    Mark = 3,
    /// NFT_META_OIF: the index of the device by which it leaves.
    OutputDevice = 5,
    /// NFT_META_IIFNAME: the name of the device by which it came.
    InputName = 6,
    /// NFT_META_L4PROTO: the protocol above IP.
    Protocol = 16,
}

/// The place at which a chain is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The kind of chain: `nat`, `filter`.
    pub kind: &'static str,
    /// The hook (enum nf_inet_hooks).
    pub point: u32,
    /// The order among the chains there (enum nf_ip_hook_priorities).
    pub priority: i32,
}

/// One step of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression(Vec<u8>);

impl Expression {
    /// Loads the value of `key`.
    pub fn load(key: Meta) -> Self {
        let key = key as u32;
        Self::of("meta", &[number(1, REGISTER), number(2, key)])
    }

    /// Stores the loaded value as `key`.
    pub fn store(key: Meta) -> Self {
        let key = key as u32;
        Self::of("meta", &[number(2, key), number(3, REGISTER)])
    }

    /// Loads this value.
    pub fn value(bytes: &[u8]) -> Self {
        let data = nested(2, &[attribute(1, bytes)]);
        Self::of("immediate", &[number(1, REGISTER), data])
    }

    /// Loads the packet's TCP or UDP destination port (NFT_PAYLOAD_TRANSPORT_HEADER).
    pub fn destination_port() -> Self {
        Self::payload(2, 2, 2)
    }

    /// Loads the TCP or UDP port that the packet comes from.
    pub fn source_port() -> Self {
        Self::payload(2, 0, 2)
    }

    /// Loads the type of an ICMP message (RFC 792, RFC 4443 §2.1).
    pub fn message_type() -> Self {
        Self::payload(2, 0, 1)
    }

    /// Loads the TCP flags that are in `mask` (RFC 9293 §3.1).
    pub fn flags(mask: u8) -> [Self; 2] {
        let value = |kind, byte| nested(kind, &[attribute(1, &[byte])]);
        let masked = [
            number(1, REGISTER),
            number(2, REGISTER),
            number(3, 1),
            value(4, mask),
            value(5, 0),
        ];
        [Self::payload(2, 13, 1), Self::of("bitwise", &masked)]
    }

    /// Loads the packet's IPv4 source address (NFT_PAYLOAD_NETWORK_HEADER).
    pub fn source_v4() -> Self {
        Self::payload(1, 12, 4)
    }

    /// Loads `length` bytes of a header, from offset `place` on.
    fn payload(header: u32, place: u32, length: u32) -> Self {
        let what = [
            number(1, REGISTER),
            number(2, header),
            number(3, place),
            number(4, length),
        ];
        Self::of("payload", &what)
    }

    /// Loads 1 if the packet's socket, of a connection or a listener here, is a transparent one,
    /// or 0 (NFT_SOCKET_TRANSPARENT). A packet without a socket ends the rule.
    pub fn is_transparent() -> Self {
        Self::of("socket", &[number(1, 0), number(2, REGISTER)])
    }

    /// Loads the kind of the destination address, an RTN_ of `linux/rtnetlink.h`
    /// (NFT_FIB_RESULT_ADDRTYPE of NFTA_FIB_F_DADDR).
    pub fn destination_kind() -> Self {
        Self::of("fib", &[number(1, REGISTER), number(2, 3), number(3, 2)])
    }

    /// Loads the name of the device by which the packet's destination is reached
    /// (NFT_FIB_RESULT_OIFNAME of NFTA_FIB_F_DADDR); no name for this machine's own addresses.
    pub fn device_to_destination() -> Self {
        Self::of("fib", &[number(1, REGISTER), number(2, 2), number(3, 2)])
    }

    /// Ends the rule if the loaded value is not this one (NFT_CMP_EQ).
    pub fn is(bytes: &[u8]) -> Self {
        Self::compare(0, bytes)
    }

    /// Ends the rule where what is loaded is this (NFT_CMP_NEQ).
    pub fn is_not(bytes: &[u8]) -> Self {
        Self::compare(1, bytes)
    }

    fn compare(operation: u32, bytes: &[u8]) -> Self {
        let data = nested(3, &[attribute(1, bytes)]);
        Self::of("cmp", &[number(1, REGISTER), number(2, operation), data])
    }

    /// Assigns the packet to the transparent listener at the loaded port. A packet for which there
    /// is none ends the rule.
    pub fn to_listener() -> Self {
        Self::of(
            "tproxy",
            &[number(1, u32::from(UNSPEC)), number(3, REGISTER)],
        )
    }

    /// Gives the packet the address of the device by which it leaves.
    pub fn masquerade() -> Self {
        Self::of("masq", &[])
    }

    /// Ends the chain: the packet continues.
    pub fn accept() -> Self {
        let verdict = nested(2, &[nested(2, &[number(1, ACCEPT)])]);
        Self::of("immediate", &[number(1, VERDICT), verdict])
    }

    fn of(name: &str, data: &[Vec<u8>]) -> Self {
        Self(nested(1, &[text(1, name), nested(2, data)]))
    }
}

/// The owner of a table: the table is removed with this value.
#[derive(Debug)]
pub struct Owner(Socket);

impl Owner {
    /// Creates an owner without tables, in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The kernel has no nf_tables.
    pub fn new() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_NETFILTER)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }
}

/// Messages that the kernel applies together or not at all.
#[derive(Clone, Debug)]
pub struct Batch {
    family: Family,
    bytes: Vec<u8>,
    messages: u32,
}

impl Batch {
    /// Creates an empty batch, for tables of this family.
    pub fn new(family: Family) -> Self {
        Self {
            family,
            bytes: header(BATCH[0], REQUEST, 0, UNSPEC, NF_TABLES, &[]),
            messages: 0,
        }
    }

    /// Creates a table; an existing one is left as it is.
    #[must_use]
    pub fn table(self, name: &str) -> Self {
        self.message(NEW_TABLE, CREATE, &text(1, name))
    }

    /// Creates a table that is removed with its [`Owner`].
    #[must_use]
    pub fn owned_table(self, name: &str) -> Self {
        let table = [text(1, name), number(2, OWNED)];
        self.message(NEW_TABLE, CREATE, &table.concat())
    }

    /// Removes a table and its contents.
    #[must_use]
    pub fn without_table(self, name: &str) -> Self {
        self.message(DELETE_TABLE, 0, &text(1, name))
    }

    /// Creates a chain in a table.
    #[must_use]
    pub fn chain(self, table: &str, name: &str, hook: Hook) -> Self {
        let place = [
            number(1, hook.point),
            attribute(2, &hook.priority.to_be_bytes()),
        ];
        let chain = [
            text(1, table),
            text(3, name),
            nested(4, &place),
            text(7, hook.kind),
        ];
        self.message(NEW_CHAIN, CREATE, &chain.concat())
    }

    /// Appends a rule to a chain.
    #[must_use]
    pub fn rule(self, table: &str, chain: &str, expressions: &[Expression]) -> Self {
        let steps: Vec<_> = expressions.iter().map(|step| step.0.clone()).collect();
        let rule = [text(1, table), text(2, chain), nested(4, &steps)];
        self.message(NEW_RULE, CREATE, &rule.concat())
    }

    /// Sends the messages, in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The kernel's error for the first message that it refuses; in that case nothing has changed.
    pub fn send(self) -> io::Result<()> {
        self.send_by(&Owner::new()?)
    }

    /// Sends the messages in the owner's namespace and on its behalf.
    ///
    /// # Errors
    ///
    /// As [`Self::send`].
    pub fn send_by(mut self, owner: &Owner) -> io::Result<()> {
        let end = self.messages + 1;
        self.bytes
            .extend(header(BATCH[1], REQUEST, end, UNSPEC, NF_TABLES, &[]));
        owner.0.send(&self.bytes, 0)?;
        let mut answered = 0;
        while answered < self.messages {
            let (bytes, _) = owner.0.recv_from_full()?;
            for answer in answers(&bytes) {
                if answer != 0 {
                    return Err(io::Error::from_raw_os_error(-answer));
                }
                answered += 1;
            }
        }
        Ok(())
    }

    fn message(mut self, kind: u16, flags: u16, attributes: &[u8]) -> Self {
        self.messages += 1;
        let kind = NF_TABLES << 8 | kind;
        let flags = REQUEST | ACK | flags;
        let family = self.family as u8;
        self.bytes
            .extend(header(kind, flags, self.messages, family, 0, attributes));
        self
    }
}

/// A netlink message whose own header is followed by netfilter's.
fn header(
    kind: u16,
    flags: u16,
    sequence: u32,
    family: u8,
    resource: u16,
    attributes: &[u8],
) -> Vec<u8> {
    let length = 20 + attributes.len();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend_from_slice(&u32::try_from(length).unwrap_or(0).to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(&flags.to_ne_bytes());
    bytes.extend_from_slice(&sequence.to_ne_bytes());
    // The kernel fills in the sender.
    bytes.extend_from_slice(&[0; 4]);
    // NFNETLINK_V0.
    bytes.extend_from_slice(&[family, 0]);
    bytes.extend_from_slice(&resource.to_be_bytes());
    bytes.extend_from_slice(attributes);
    bytes
}

fn nested(kind: u16, attributes: &[Vec<u8>]) -> Vec<u8> {
    attribute(kind | NESTED, &attributes.concat())
}

fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), b"\0"].concat())
}

/// An attribute, padded to four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let mut bytes = Vec::with_capacity(length + 3);
    bytes.extend_from_slice(&u16::try_from(length).unwrap_or(0).to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(length.next_multiple_of(4), 0);
    bytes
}

/// The codes of the NLMSG_ERROR messages in the bytes read: zero for success.
fn answers(mut bytes: &[u8]) -> Vec<i32> {
    const NLMSG_ERROR: u16 = 2;
    let mut codes = Vec::new();
    while bytes.len() >= 20 {
        let (Ok(length), Ok(kind), Ok(code)) = (
            bytes[..4].try_into().map(u32::from_ne_bytes),
            bytes[4..6].try_into().map(u16::from_ne_bytes),
            bytes[16..20].try_into().map(i32::from_ne_bytes),
        ) else {
            break;
        };
        if kind == NLMSG_ERROR {
            codes.push(code);
        }
        let Some(rest) = bytes.get((length as usize).next_multiple_of(4).max(16)..) else {
            break;
        };
        bytes = rest;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Namespace;

    #[test]
    fn answers_are_read_one_behind_the_other() {
        let error = |code: i32| {
            let mut bytes = header(2, 0, 0, 0, 0, &[0; 16]);
            bytes[16..20].copy_from_slice(&code.to_ne_bytes());
            bytes
        };
        assert_eq!(answers(&[error(0), error(-2)].concat()), [0, -2]);
        assert!(answers(&[0; 7]).is_empty());
    }

    /// A batch with one refused message changes nothing.
    #[test]
    fn a_batch_is_taken_together_or_not_at_all() {
        let namespace = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) => {
                eprintln!("skipped: {error}");
                return;
            }
        };
        let entered = namespace.enter(|| {
            if let Err(error) = Batch::new(Family::Both).table("one").send() {
                eprintln!("skipped: {error}");
                return Ok(());
            }
            let refused = Batch::new(Family::Both).table("two").without_table("three");
            assert_eq!(refused.send().unwrap_err().kind(), io::ErrorKind::NotFound);
            assert!(
                Batch::new(Family::Both)
                    .without_table("two")
                    .send()
                    .is_err()
            );
            Batch::new(Family::Both)
                .without_table("one")
                .send()
                .unwrap();
            assert!(
                Batch::new(Family::Both)
                    .without_table("one")
                    .send()
                    .is_err()
            );
            Ok(())
        });
        entered.unwrap();
    }
}
