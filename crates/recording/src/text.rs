//! The text of a log, in the encoding of the system that wrote it.

use std::borrow::Cow;

/// `bytes` as UTF-8, if they are text: UTF-16 with a byte order mark, as PowerShell's `>` writes
/// it, or one of the eight-bit code pages of Windows' console, which agree only in the ASCII half.
/// Data with control characters is not text and is returned unchanged.
pub fn decoded(bytes: &[u8]) -> Cow<'_, [u8]> {
    if let Some(rest) = bytes.strip_prefix(&[0xff, 0xfe]) {
        return Cow::Owned(utf_16(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(&[0xfe, 0xff]) {
        return Cow::Owned(utf_16(rest, u16::from_be_bytes));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_text = |byte: &u8| *byte >= b' ' && *byte != 0x7f || b"\t\n\r".contains(byte);
    if std::str::from_utf8(bytes).is_ok() || !bytes.iter().all(is_text) {
        return Cow::Borrowed(bytes);
    }
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    Cow::Owned(text.into_bytes())
}

fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units)
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    text.into_bytes()
}
