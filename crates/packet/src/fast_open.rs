//! The option of TCP Fast Open (RFC 7413): a cookie, or the request of one.

/// Minimum and maximum length of a cookie, in bytes (Linux, `TCP_FASTOPEN_COOKIE_MIN` and `_MAX`).
const MIN_COOKIE_BYTES: usize = 4;
/// Maximum length.
const MAX_COOKIE_BYTES: usize = 16;

/// The option of a SYN or SYN-ACK: a client requests a cookie, a server grants it, and the client's
/// next SYNs carry it, followed by data.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FastOpen {
    /// The cookie, padded with zeros.
    bytes: [u8; MAX_COOKIE_BYTES],
    length: u8,
    is_experimental: bool,
}

impl core::fmt::Debug for FastOpen {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.is_experimental { "FOEXP" } else { "FO" })?;
        if !self.is_request() {
            f.write_str(" ")?;
        }
        self.as_slice()
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FastOpen {
    /// The request of a cookie.
    pub const REQUEST: Self = Self {
        bytes: [0; MAX_COOKIE_BYTES],
        length: 0,
        is_experimental: false,
    };

    /// An option with `cookie`; `None` for one of an odd length, shorter than 4 or longer than 16
    /// bytes (Linux, `tcp_parse_fastopen_option`).
    #[must_use]
    pub fn cookie(cookie: &[u8]) -> Option<Self> {
        let fits = (MIN_COOKIE_BYTES..=MAX_COOKIE_BYTES).contains(&cookie.len());
        if !fits || !cookie.len().is_multiple_of(2) {
            return None;
        }
        let mut option = Self::REQUEST;
        option.bytes[..cookie.len()].copy_from_slice(cookie);
        option.length = u8::try_from(cookie.len()).ok()?;
        Some(option)
    }

    /// Switches to the experimental format: kind 254 with a magic number, used before a kind was
    /// assigned (RFC 6994; Linux, `TCPOPT_FASTOPEN_MAGIC`).
    #[must_use]
    pub const fn experimental(mut self) -> Self {
        self.is_experimental = true;
        self
    }

    /// Whether it has the experimental format.
    #[must_use]
    pub const fn is_experimental(&self) -> bool {
        self.is_experimental
    }

    /// Whether it requests a cookie rather than carry one.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        self.length == 0
    }

    /// The cookie; empty for a request.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Length on the wire, kind and length included and padding left out.
    pub(crate) const fn option_bytes(&self) -> u8 {
        self.length + if self.is_experimental { 4 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_have_an_even_length_of_4_to_16_bytes() {
        let bytes = [7; 20];
        let taken: Vec<_> = (0..=20)
            .filter(|&length| FastOpen::cookie(&bytes[..length]).is_some())
            .collect();
        assert_eq!(taken, [4, 6, 8, 10, 12, 14, 16]);
        let cookie = FastOpen::cookie(&bytes[..6]).unwrap();
        assert_eq!(cookie.as_slice(), &bytes[..6]);
        assert!(!cookie.is_request() && FastOpen::REQUEST.is_request());
        assert_eq!(cookie.experimental().as_slice(), cookie.as_slice());
        assert_ne!(cookie.experimental(), cookie);
    }
}
