//! Address translation: what leaves by one device, or from one address, takes the address of the
//! device that it leaves by.
//!
//! One table of nf_tables with one rule, written in the words of
//! `include/uapi/linux/netfilter/nf_tables.h`. It goes with its namespace, or with the socket that
//! made it.

use std::io;
use std::net::IpAddr;

use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};

use crate::error::{Error, Result};

/// NFNL_SUBSYS_NFTABLES.
const NF_TABLES: u16 = 10;
/// NFNL_MSG_BATCH_BEGIN and NFNL_MSG_BATCH_END.
const BATCH: [u16; 2] = [0x10, 0x11];
/// NFPROTO_UNSPEC and NFPROTO_INET, which is IPv4 and IPv6.
const UNSPEC: u8 = 0;
const INET: u8 = 1;
/// NLM_F_REQUEST, NLM_F_ACK, and NLM_F_CREATE with NLM_F_APPEND.
const REQUEST: u16 = 1;
const ACK: u16 = 4;
const CREATE: u16 = 0x400 | 0x800;
/// NLA_F_NESTED.
const NESTED: u16 = 0x8000;

/// NFPROTO_IPV4 alone, whose header has its source here.
const IPV4: u8 = 2;
const SOURCE_OFFSET: u32 = 12;
/// NFT_PAYLOAD_NETWORK_HEADER.
const NETWORK_HEADER: u32 = 1;
/// NFT_TABLE_F_OWNER: the table goes when the socket is closed that made it, and no other changes
/// it (Linux 5.12 and later).
const OWNED: u32 = 2;

const CHAIN: &[u8] = b"out\0";
/// NF_INET_POST_ROUTING and NF_IP_PRI_NAT_SRC.
const POSTROUTING: u32 = 4;
const SOURCE_NAT: u32 = 100;
/// NFT_META_OIF and NFT_REG_1.
const OUTPUT_DEVICE: u32 = 5;
const REGISTER: u32 = 1;

/// Which packets are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// Those that leave by the device of this index.
    By(u32),
    /// Those from this address.
    From(IpAddr),
}

impl Leaving {
    /// Those that leave by this device of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// There is no such device.
    pub fn by(device: &str) -> Result<Self> {
        crate::device::index(device).map(Self::By)
    }

    const fn family(self) -> u8 {
        match self {
            Self::By(_) => INET,
            Self::From(_) => IPV4,
        }
    }

    /// The expressions that a packet must match.
    fn expressions(self) -> Vec<Vec<u8>> {
        let (load, value) = match self {
            Self::By(device) => (
                expression(
                    b"meta\0",
                    &[
                        attribute(1, &REGISTER.to_be_bytes()),
                        attribute(2, &OUTPUT_DEVICE.to_be_bytes()),
                    ],
                ),
                device.to_ne_bytes().to_vec(),
            ),
            Self::From(address) => {
                let address = match address {
                    IpAddr::V4(address) => address.octets().to_vec(),
                    IpAddr::V6(address) => address.octets().to_vec(),
                };
                let length = u32::try_from(address.len()).unwrap_or(0);
                let load = expression(
                    b"payload\0",
                    &[
                        attribute(1, &REGISTER.to_be_bytes()),
                        attribute(2, &NETWORK_HEADER.to_be_bytes()),
                        attribute(3, &SOURCE_OFFSET.to_be_bytes()),
                        attribute(4, &length.to_be_bytes()),
                    ],
                );
                (load, address)
            }
        };
        let is_equal = expression(
            b"cmp\0",
            &[
                attribute(1, &REGISTER.to_be_bytes()),
                // NFT_CMP_EQ.
                attribute(2, &0_u32.to_be_bytes()),
                nested(3, &[attribute(1, &value)]),
            ],
        );
        vec![load, is_equal]
    }
}

/// Translates in the calling thread's namespace, for as long as that lives.
///
/// # Errors
///
/// The kernel has no nf_tables with masquerading.
pub fn masquerade(leaving: &Leaving) -> Result<()> {
    socket()
        .and_then(|socket| send(&socket, &batch("airtcp", 0, *leaving)))
        .map_err(refused)
}

/// A translation that lasts as long as this value, in the namespace in which it was made.
#[derive(Debug)]
pub struct Held {
    _owner: Socket,
}

impl Held {
    /// Translates in the calling thread's namespace, by a table of this name.
    ///
    /// # Errors
    ///
    /// There is such a table, or the kernel has no nf_tables with masquerading, or none that goes
    /// with its owner.
    pub fn new(table: &str, leaving: &Leaving) -> Result<Self> {
        let owner = socket().map_err(refused)?;
        send(&owner, &batch(table, OWNED, *leaving)).map_err(refused)?;
        Ok(Self { _owner: owner })
    }
}

fn refused(cause: io::Error) -> Error {
    Error::system("cannot translate addresses", cause)
        .remedied_by("the kernel needs nf_tables with masquerading: as root, modprobe nft_masq")
}

/// All messages: the kernel takes them together or not at all.
fn batch(table: &str, flags: u32, leaving: Leaving) -> Vec<u8> {
    let name = [table.as_bytes(), b"\0"].concat();
    let family = leaving.family();
    let table = [attribute(1, &name), attribute(2, &flags.to_be_bytes())];
    let hook = [
        attribute(1, &POSTROUTING.to_be_bytes()),
        attribute(2, &SOURCE_NAT.to_be_bytes()),
    ];
    let chain = [
        attribute(1, &name),
        attribute(3, CHAIN),
        nested(4, &hook),
        attribute(7, b"nat\0"),
    ];
    let mut expressions = leaving.expressions();
    expressions.push(expression(b"masq\0", &[]));
    let rule = [
        attribute(1, &name),
        attribute(2, CHAIN),
        nested(4, &expressions),
    ];
    [
        header(BATCH[0], REQUEST, 0, UNSPEC, NF_TABLES, &[]),
        message(0, 1, family, &table.concat()),
        message(3, 2, family, &chain.concat()),
        message(6, 3, family, &rule.concat()),
        header(BATCH[1], REQUEST, 4, UNSPEC, NF_TABLES, &[]),
    ]
    .concat()
}

/// A message of nf_tables that creates something.
fn message(kind: u16, sequence: u32, family: u8, attributes: &[u8]) -> Vec<u8> {
    let kind = NF_TABLES << 8 | kind;
    header(
        kind,
        REQUEST | ACK | CREATE,
        sequence,
        family,
        0,
        attributes,
    )
}

/// A netlink message with the header of netfilter's family behind its own.
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
    // The kernel fills in who sends.
    bytes.extend_from_slice(&[0; 4]);
    // NFNETLINK_V0.
    bytes.extend_from_slice(&[family, 0]);
    bytes.extend_from_slice(&resource.to_be_bytes());
    bytes.extend_from_slice(attributes);
    bytes
}

fn expression(name: &[u8], data: &[Vec<u8>]) -> Vec<u8> {
    nested(1, &[attribute(1, name), nested(2, data)])
}

fn nested(kind: u16, attributes: &[Vec<u8>]) -> Vec<u8> {
    attribute(kind | NESTED, &attributes.concat())
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

fn socket() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

/// Sends a batch and reads the answers: one for each message that asked for it, or an error.
fn send(socket: &Socket, batch: &[u8]) -> io::Result<()> {
    socket.send(batch, 0)?;
    let mut answered = 0;
    while answered < 3 {
        let (bytes, _) = socket.recv_from_full()?;
        for answer in answers(&bytes) {
            if answer != 0 {
                return Err(io::Error::from_raw_os_error(-answer));
            }
            answered += 1;
        }
    }
    Ok(())
}

/// The codes of the NLMSG_ERROR messages in what was read: zero for success.
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

    /// The kernel takes both rules, the second for as long as its owner lives.
    #[test]
    fn the_kernel_takes_the_rules() {
        let namespace = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) => {
                eprintln!("skipped: {error}");
                return;
            }
        };
        let source = Leaving::From(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)));
        namespace
            .enter(|| {
                assert!(Leaving::by("nowhere").is_err_and(|e| e.to_string().contains("nowhere")));
                if let Err(error) = masquerade(&Leaving::by("lo")?) {
                    eprintln!("skipped: {error}");
                    return Ok(());
                }
                let held = match Held::new("held", &source) {
                    Ok(held) => held,
                    Err(error) => {
                        eprintln!("skipped: {error}");
                        return Ok(());
                    }
                };
                // Somebody else's table is not changed.
                assert!(Held::new("held", &source).is_err());
                drop(held);
                Held::new("held", &source).map(drop)
            })
            .unwrap();
    }
}
