//! A socket's options of Fast Open (tcp(7)), and the formats of its keys.

use std::net::SocketAddr;

use airtcp_endpoint::FastOpenKeys;

use super::errno::Errno;

/// Bits of `tcp_fastopen` (Linux, Documentation/networking/ip-sysctl.rst).
pub const CLIENT: u32 = 0x1;
pub const SERVER: u32 = 0x2;
pub const CLIENT_WITHOUT_COOKIE: u32 = 0x4;
pub const SERVER_WITHOUT_COOKIE: u32 = 0x200;
pub const EVERY_LISTENER: u32 = 0x400;

/// A socket's settings of Fast Open.
#[derive(Clone, Copy, Debug, Default)]
pub struct FastOpenOptions {
    /// TCP_FASTOPEN: limit on connections before their handshake is complete.
    pub pending: usize,
    /// TCP_FASTOPEN_KEY.
    pub keys: Option<FastOpenKeys>,
    /// TCP_FASTOPEN_CONNECT: the SYN waits for data if a cookie is known.
    pub defers: bool,
    /// TCP_FASTOPEN_NO_COOKIE.
    pub without_cookie: bool,
    /// The server for the deferred SYN.
    pub deferred: Option<SocketAddr>,
}

/// A key in four words of hexadecimal digits, each with its bytes in reverse order in memory
/// (`tcp_fastopen_key`).
#[must_use]
pub fn key_of_words(text: &str) -> Option<[u8; 16]> {
    let mut key = [0; 16];
    let mut words = text.split('-');
    for place in key.chunks_exact_mut(4) {
        let word = u32::from_str_radix(words.next()?, 16).ok()?;
        place.copy_from_slice(&word.to_le_bytes());
    }
    words.next().is_none().then_some(key)
}

/// One or two keys, in the format of TCP_FASTOPEN_KEY.
pub fn keys_of_option(value: &[u8]) -> Result<FastOpenKeys, Errno> {
    match value.as_chunks::<16>() {
        ([key], []) => Ok(FastOpenKeys::new(*key)),
        ([key, backup], []) => Ok(FastOpenKeys::with_backup(*key, *backup)),
        _ => Err(Errno::EINVAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lie_in_memory_as_linux_has_them() {
        let bytes = *b"\xf7\x63\xbf\xa0\x81\x3d\x80\xed\x30\x1d\x64\xcd\x90\x4a\xbc\xce";
        assert_eq!(
            key_of_words("a0bf63f7-ed803d81-cd641d30-cebc4a90"),
            Some(bytes)
        );
        assert_eq!(key_of_words("a0bf63f7-ed803d81-cd641d30"), None);
        assert_eq!(key_of_words("a0bf63f7-ed803d81-cd641d30-cebc4a90-1"), None);
        assert_eq!(keys_of_option(&bytes), Ok(FastOpenKeys::new(bytes)));
        assert_eq!(keys_of_option(&bytes[..15]), Err(Errno::EINVAL));
        assert_eq!(keys_of_option(b""), Err(Errno::EINVAL));
    }
}
