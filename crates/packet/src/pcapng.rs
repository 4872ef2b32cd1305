//! The blocks of a capture in pcapng (draft-ietf-opsawg-pcapng), as written by airtcp: little
//! endian, with times in nanoseconds.
//!
//! ```text
//!   section header │ interface … │ packet …
//!   block: kind, length, content, options, length       option: code, length, value, padding
//! ```

use alloc::vec::Vec;

/// Packets begin with their IP header (LINKTYPE_RAW).
pub const LINK_RAW: u16 = 101;

/// The kinds of blocks (§10.1), and the magic number of a section (§4.1).
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const MAGIC: u32 = 0x1a2b_3c4d;
/// shb_userappl.
const PROGRAM: u16 = 4;
/// if_name, if_description and if_tsresol, which is in powers of 1/10 s.
const NAME: u16 = 2;
const DESCRIPTION: u16 = 3;
const RESOLUTION: u16 = 9;
const NANOSECONDS: u8 = 9;
/// opt_comment and epb_flags.
const COMMENT: u16 = 1;
const FLAGS: u16 = 2;

/// An interface; packets name it by its number in the file, from 0.
#[derive(Clone, Copy, Debug)]
pub struct Interface<'a> {
    /// The link type of its packets.
    pub link: u16,
    /// Maximum number of stored bytes of a packet; 0 without limit.
    pub snap_length: u32,
    /// Its name; empty without one.
    pub name: &'a str,
    /// Its description; empty without one.
    pub description: &'a str,
}

/// A packet's only option.
#[derive(Clone, Copy, Debug)]
pub enum Note<'a> {
    /// It came in.
    Inbound,
    /// It went out.
    Outbound,
    /// A text, which Wireshark shows with it.
    Comment(&'a str),
}

/// A captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// The number of its interface.
    pub interface: u32,
    /// When it was captured: nanoseconds since the start of 1970.
    pub nanos: u64,
    /// Its length on the wire, in bytes.
    pub wire_bytes: u32,
    /// The stored bytes.
    pub bytes: &'a [u8],
}

/// Appends the header of a file that `program` writes.
pub fn append_section(file: &mut Vec<u8>, program: &str) {
    append_block(file, SECTION, |content| {
        content.extend(MAGIC.to_le_bytes());
        // Version 1.0, of unspecified length.
        content.extend([1, 0, 0, 0]);
        content.extend([0xff; 8]);
        append_option(content, PROGRAM, program.as_bytes());
        end_options(content);
    });
}

/// Appends an interface.
pub fn append_interface(file: &mut Vec<u8>, interface: &Interface<'_>) {
    append_block(file, INTERFACE, |content| {
        content.extend(u32::from(interface.link).to_le_bytes());
        content.extend(interface.snap_length.to_le_bytes());
        for (code, text) in [(NAME, interface.name), (DESCRIPTION, interface.description)] {
            if !text.is_empty() {
                append_option(content, code, text.as_bytes());
            }
        }
        append_option(content, RESOLUTION, &[NANOSECONDS]);
        end_options(content);
    });
}

/// Appends a packet.
pub fn append_packet(file: &mut Vec<u8>, packet: &Captured<'_>, note: Option<Note<'_>>) {
    append_block(file, PACKET, |content| {
        let [high, low] = [packet.nanos >> 32, packet.nanos].map(|half| half as u32);
        let stored = packet.bytes.len() as u32;
        for field in [packet.interface, high, low, stored, packet.wire_bytes] {
            content.extend(field.to_le_bytes());
        }
        content.extend(packet.bytes);
        pad(content, packet.bytes.len());
        let Some(note) = note else {
            return;
        };
        match note {
            Note::Inbound => append_option(content, FLAGS, &1_u32.to_le_bytes()),
            Note::Outbound => append_option(content, FLAGS, &2_u32.to_le_bytes()),
            Note::Comment(text) => append_option(content, COMMENT, text.as_bytes()),
        }
        end_options(content);
    });
}

fn append_block(file: &mut Vec<u8>, kind: u32, content: impl FnOnce(&mut Vec<u8>)) {
    let start = file.len();
    file.extend(kind.to_le_bytes());
    file.extend([0; 4]);
    content(file);
    let length = ((file.len() - start + 4) as u32).to_le_bytes();
    file[start + 4..start + 8].copy_from_slice(&length);
    file.extend(length);
}

/// Appends an option. A value longer than an option can be is truncated.
fn append_option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    let length = value.len().min(usize::from(u16::MAX));
    block.extend(code.to_le_bytes());
    block.extend((length as u16).to_le_bytes());
    block.extend(&value[..length]);
    pad(block, length);
}

/// opt_endofopt.
fn end_options(block: &mut Vec<u8>) {
    block.extend([0; 4]);
}

/// Pads a value of this length to four bytes.
fn pad(block: &mut Vec<u8>, length: usize) {
    block.resize(block.len() + length.next_multiple_of(4) - length, 0);
}
