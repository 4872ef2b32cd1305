//! The framing of netlink: messages one after another, each a header, a fixed structure of its
//! family and attributes.
//!
//! ```text
//!   nlmsghdr (16): length, kind, flags, sequence, port │ family's header │ attributes
//!   attribute: length, kind, value, padding to four bytes
//! ```
//!
//! Lengths and kinds have the machine's byte order (linux/netlink.h).

use netlink_packet_core::{NLA_F_NESTED, NLA_TYPE_MASK};

/// Bytes of nlmsghdr.
const HEADER: usize = 16;
/// Bytes before an attribute's value.
const ATTRIBUTE_HEADER: usize = 4;

/// A received message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its kind (`nlmsg_type`).
    pub kind: u16,
    /// The bytes after netlink's header.
    pub body: &'a [u8],
}

/// Appends a message whose body is written by `body`.
pub fn append_message(
    bytes: &mut Vec<u8>,
    kind: u16,
    flags: u16,
    sequence: u32,
    body: impl FnOnce(&mut Vec<u8>),
) {
    let start = bytes.len();
    bytes.extend([0; 4]);
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    // The kernel fills in the sender's port.
    bytes.extend([0; 4]);
    body(bytes);
    // A few attributes of at most 64 KiB each.
    let length = u32::try_from(bytes.len() - start).unwrap_or(u32::MAX);
    bytes[start..start + 4].copy_from_slice(&length.to_ne_bytes());
    bytes.resize(start + (length as usize).next_multiple_of(4), 0);
}

/// Appends an attribute. A value longer than an attribute can be is truncated; no caller has one.
pub fn append_attribute(bytes: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = (ATTRIBUTE_HEADER + value.len()).min(usize::from(u16::MAX)) as u16;
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(&value[..usize::from(length) - ATTRIBUTE_HEADER]);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}

/// An attribute.
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ATTRIBUTE_HEADER + value.len() + 3);
    append_attribute(&mut bytes, kind, value);
    bytes
}

/// An attribute that consists of attributes.
pub fn nested(kind: u16, attributes: &[Vec<u8>]) -> Vec<u8> {
    attribute(kind | NLA_F_NESTED, &attributes.concat())
}

/// An attribute with a text, which ends with a zero.
pub fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), b"\0"].concat())
}

/// The messages in a datagram, in order. A message with an impossible length ends the datagram.
pub fn messages(mut datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let length = word(datagram, 0)? as usize;
        let body = datagram.get(HEADER..length)?;
        let kind = half_word(datagram, 4)?;
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some(Message { kind, body })
    })
}

/// The attributes in the bytes: the kind of each, without flags, and its value. An attribute with
/// an impossible length ends them.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(half_word(bytes, 0)?);
        let kind = half_word(bytes, 2)? & NLA_TYPE_MASK;
        let value = bytes.get(ATTRIBUTE_HEADER..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

/// The value of the first attribute of this kind.
pub fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find_map(|(found, value)| (found == kind).then_some(value))
}

/// The value of a text, without its final zero.
pub fn as_text(value: &[u8]) -> String {
    let text = value.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// The 32 bits at an offset, in the machine's byte order.
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    four.try_into().ok().map(u32::from_ne_bytes)
}

/// The 64 bits at an offset, in the machine's byte order.
pub fn long_word(bytes: &[u8], at: usize) -> Option<u64> {
    let eight = bytes.get(at..at.checked_add(8)?)?;
    eight.try_into().ok().map(u64::from_ne_bytes)
}

/// The 16 bits at an offset, in the machine's byte order.
pub fn half_word(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    two.try_into().ok().map(u16::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::{DefaultNla, Emitable};

    use super::*;

    /// The crate netlink-packet-core encodes the same attributes.
    #[test]
    fn attributes_have_the_form_of_another_library() {
        for length in 0..9 {
            let value = vec![7; length];
            let theirs = DefaultNla::new(3, value.clone());
            let mut expected = vec![0; theirs.buffer_len()];
            theirs.emit(&mut expected);
            assert_eq!(attribute(3, &value), expected);
            let all = [expected, nested(9, &[text(1, "lo")])].concat();
            assert_eq!(attributes(&all).next(), Some((3, &value[..])));
            let inner = find(&all, 9).unwrap();
            assert_eq!(as_text(find(inner, 1).unwrap()), "lo");
        }
    }

    /// Messages follow each other at multiples of four bytes, and damage ends the datagram.
    #[test]
    fn messages_are_read_as_they_were_written() {
        let mut datagram = Vec::new();
        append_message(&mut datagram, 20, 1, 1, |body| body.extend([5; 6]));
        append_message(&mut datagram, 21, 1, 2, |_| {});
        let found: Vec<_> = messages(&datagram)
            .map(|message| (message.kind, message.body.len()))
            .collect();
        assert_eq!(found, [(20, 6), (21, 0)]);
        assert_eq!(datagram.len(), 24 + 16);
        for length in 0..24 {
            assert!(messages(&datagram[..length]).count() <= usize::from(length >= 22));
        }
        for length in [0_u32, 15, 1 << 31, u32::MAX] {
            datagram[..4].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(messages(&datagram).count(), 0);
        }
    }
}
