//! Address translation in a namespace: what leaves by one device takes that device's address.
//!
//! One table of nf_tables with one rule, written in the words of
//! `include/uapi/linux/netfilter/nf_tables.h`; it goes with its namespace.

use std::io;

use netconfig_rs::Interface;
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

const TABLE: &[u8] = b"airtcp\0";
const CHAIN: &[u8] = b"out\0";
/// NF_INET_POST_ROUTING and NF_IP_PRI_NAT_SRC.
const POSTROUTING: u32 = 4;
const SOURCE_NAT: u32 = 100;
/// NFT_META_OIF and NFT_REG_1.
const OUTPUT_DEVICE: u32 = 5;
const REGISTER: u32 = 1;

/// Gives what leaves the calling thread's namespace by `device` that device's address.
///
/// # Errors
///
/// There is no such device, or the kernel has no nf_tables with masquerading.
pub fn masquerade(device: &str) -> Result<()> {
    let index = Interface::try_from_name(device)
        .and_then(|device| device.index())
        .map_err(|error| Error::new(format!("cannot find {device}: {error}")))?;
    send(&batch(index)).map_err(|cause| {
        Error::system(
            "cannot translate addresses in the far end's namespace",
            cause,
        )
        .remedied_by("the kernel needs nf_tables with masquerading: as root, modprobe nft_masq")
    })
}

/// All messages: the kernel takes them together or not at all.
fn batch(device: u32) -> Vec<u8> {
    let table = message(0, 1, &attribute(1, TABLE));
    let hook = [
        attribute(1, &POSTROUTING.to_be_bytes()),
        attribute(2, &SOURCE_NAT.to_be_bytes()),
    ];
    let chain = [
        attribute(1, TABLE),
        attribute(3, CHAIN),
        nested(4, &hook),
        attribute(7, b"nat\0"),
    ];
    let oif = expression(
        b"meta\0",
        &[
            attribute(1, &REGISTER.to_be_bytes()),
            attribute(2, &OUTPUT_DEVICE.to_be_bytes()),
        ],
    );
    let is_device = expression(
        b"cmp\0",
        &[
            attribute(1, &REGISTER.to_be_bytes()),
            // NFT_CMP_EQ.
            attribute(2, &0_u32.to_be_bytes()),
            nested(3, &[attribute(1, &device.to_ne_bytes())]),
        ],
    );
    let rule = [
        attribute(1, TABLE),
        attribute(2, CHAIN),
        nested(4, &[oif, is_device, expression(b"masq\0", &[])]),
    ];
    [
        header(BATCH[0], REQUEST, 0, UNSPEC, NF_TABLES, &[]),
        table,
        message(3, 2, &chain.concat()),
        message(6, 3, &rule.concat()),
        header(BATCH[1], REQUEST, 4, UNSPEC, NF_TABLES, &[]),
    ]
    .concat()
}

/// A message of nf_tables that creates something.
fn message(kind: u16, sequence: u32, attributes: &[u8]) -> Vec<u8> {
    let kind = NF_TABLES << 8 | kind;
    header(kind, REQUEST | ACK | CREATE, sequence, INET, 0, attributes)
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

/// Sends a batch and reads the answers: one for each message that asked for it, or an error.
fn send(batch: &[u8]) -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
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

    /// The kernel takes the table, and says why it does not take one for a device that is not
    /// there.
    #[test]
    fn the_kernel_takes_the_rule() {
        let namespace = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) => {
                eprintln!("skipped: {error}");
                return;
            }
        };
        let (taken, missing) = namespace
            .enter(|| Ok((masquerade("lo"), masquerade("nowhere"))))
            .unwrap();
        assert!(missing.unwrap_err().to_string().contains("nowhere"));
        if let Err(error) = taken {
            eprintln!("skipped: {error}");
        }
    }
}
