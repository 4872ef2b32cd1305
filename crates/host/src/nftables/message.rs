//! Netlink messages of netfilter: headers and attributes, written and read.

use netlink_packet_core::{NLA_F_NESTED, NLA_TYPE_MASK, NLMSG_ERROR};

/// Bytes of netlink's header, and of it with netfilter's.
pub(super) const NETLINK_HEADER: usize = 16;
pub(super) const HEADERS: usize = 20;

/// A netlink message; its header is followed by netfilter's.
pub(super) fn header(
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

pub(super) fn nested(kind: u16, attributes: &[Vec<u8>]) -> Vec<u8> {
    attribute(kind | NLA_F_NESTED, &attributes.concat())
}

pub(super) fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

pub(super) fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), b"\0"].concat())
}

/// An attribute, padded to four bytes.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let mut bytes = Vec::with_capacity(length + 3);
    bytes.extend_from_slice(&u16::try_from(length).unwrap_or(0).to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(length.next_multiple_of(4), 0);
    bytes
}

/// The messages in the bytes read: the kind of each, and its bytes from the first header on.
pub(super) fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
        let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
        let message = bytes.get(..length).filter(|_| length >= NETLINK_HEADER)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, message))
    })
}

/// The attributes in the bytes: the kind of each, without flags, and its value.
pub(super) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(*bytes.first_chunk()?));
        let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?) & NLA_TYPE_MASK;
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

/// The value of the first attribute of this kind.
pub(super) fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes)
        .find(|(found, _)| *found == kind)
        .map(|(_, value)| value)
}

/// A value that is a text, without its final zero.
pub(super) fn as_text(value: &[u8]) -> String {
    let end = value
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

/// The codes of the NLMSG_ERROR messages in the bytes read: zero for success.
pub(super) fn answers(mut bytes: &[u8]) -> Vec<i32> {
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
