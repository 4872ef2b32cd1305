//! The format of `bpf_trace_printk`: integers, pointers and strings.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

use crate::memory::Memory;
use crate::trap::Trap;

/// Most bytes of a string argument.
const MAX_STRING: usize = 256;

/// Formats `arguments` by the format string at an address, with its size in bytes.
///
/// # Errors
///
/// The text is not in memory.
pub fn format(
    memory: &Memory,
    (text, size): (u64, usize),
    arguments: &[u64],
) -> Result<String, Trap> {
    let bytes = memory.bytes(text, size)?;
    let text: Vec<char> = until_zero(bytes).chars().collect();
    let mut out = String::new();
    let mut rest = arguments.iter().copied();
    let mut at = text.iter().copied();
    while let Some(c) = at.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut long = false;
        loop {
            match at.next() {
                None => break,
                Some('%') => out.push('%'),
                Some('l' | 'z') => {
                    long = true;
                    continue;
                }
                // Width and flags change no number.
                Some('0'..='9' | '-' | '+' | '#' | '.' | 'h') => continue,
                Some(kind) => write(&mut out, memory, (kind, long), rest.next().unwrap_or(0)),
            }
            break;
        }
    }
    Ok(out.trim_end().to_string())
}

#[expect(clippy::cast_possible_truncation, reason = "an int has 32 bits")]
fn write(out: &mut String, memory: &Memory, (kind, long): (char, bool), value: u64) {
    let unsigned = if long { value } else { u64::from(value as u32) };
    let signed = if long {
        value.cast_signed()
    } else {
        i64::from(value as i32)
    };
    // A string never fails to be written to.
    let _ = match kind {
        'd' | 'i' => write!(out, "{signed}"),
        'u' => write!(out, "{unsigned}"),
        'x' => write!(out, "{unsigned:x}"),
        'X' => write!(out, "{unsigned:X}"),
        'p' => write!(out, "{value:#x}"),
        'c' => write!(out, "{}", char::from(value as u8)),
        's' => write!(out, "{}", string(memory, value)),
        other => write!(out, "%{other}"),
    };
}

fn string(memory: &Memory, address: u64) -> String {
    let bytes = (0..MAX_STRING as u64)
        .map_while(|i| memory.load::<1>(address.wrapping_add(i)).ok())
        .map(|[byte]| byte)
        .take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

/// The text up to its terminating zero.
#[must_use]
pub fn until_zero(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or(&[])).into_owned()
}
