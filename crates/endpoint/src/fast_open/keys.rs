//! A server's keys, and the cookies made with them.

use core::hash::Hasher;
use core::net::IpAddr;

use airtcp_packet::FastOpen;
use siphasher::sip::SipHasher24;

use crate::tuple::FourTuple;

/// The keys of cookies: new ones are made with the first; cookies of a second key remain valid.
///
/// A cookie proves that its client receives packets at its address, since it is a hash of both
/// addresses (SipHash-2-4, eight bytes). Given the same key, it equals Linux's
/// (net/ipv4/tcp_fastopen.c, `__tcp_fastopen_cookie_gen_cipher`): several servers at one address
/// can share it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FastOpenKeys {
    primary: [u8; 16],
    backup: Option<[u8; 16]>,
}

impl core::fmt::Debug for FastOpenKeys {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("FastOpenKeys")
    }
}

/// A presented cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    Valid,
    /// Made with the previous key: the client is to be granted a new one.
    Old,
    Invalid,
}

impl FastOpenKeys {
    /// One key of sixteen secret bytes (Linux, `TCP_FASTOPEN_KEY`).
    #[must_use]
    pub const fn new(key: [u8; 16]) -> Self {
        Self {
            primary: key,
            backup: None,
        }
    }

    /// `key` for new cookies; cookies of `before` remain valid.
    #[must_use]
    pub const fn with_backup(key: [u8; 16], before: [u8; 16]) -> Self {
        Self {
            primary: key,
            backup: Some(before),
        }
    }

    /// `key` for new cookies; cookies of the present key remain valid.
    #[must_use]
    pub const fn rotated(&self, key: [u8; 16]) -> Self {
        Self::with_backup(key, self.primary)
    }

    /// The option with a cookie for the remote end, in the format of the request `asked`.
    pub(crate) fn grant(&self, tuple: &FourTuple, asked: FastOpen) -> Option<FastOpen> {
        let cookie = FastOpen::cookie(&cookie(&self.primary, tuple))?;
        Some(if asked.is_experimental() {
            cookie.experimental()
        } else {
            cookie
        })
    }

    /// Checks the cookie in `presented`.
    pub(crate) fn check(&self, tuple: &FourTuple, presented: FastOpen) -> Check {
        let is_of = |key: &[u8; 16]| presented.as_slice() == cookie(key, tuple);
        if is_of(&self.primary) {
            Check::Valid
        } else if self.backup.as_ref().is_some_and(is_of) {
            Check::Old
        } else {
            Check::Invalid
        }
    }
}

fn cookie(key: &[u8; 16], tuple: &FourTuple) -> [u8; 8] {
    let mut hasher = SipHasher24::new_with_key(key);
    for address in [tuple.remote.ip(), tuple.local.ip()] {
        match address {
            IpAddr::V4(address) => hasher.write(&address.octets()),
            IpAddr::V6(address) => hasher.write(&address.octets()),
        }
    }
    hasher.finish().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux's `tcp_fastopen_key` a0bf63f7-ed803d81-cd641d30-cebc4a90, as it lies in memory.
    const KEY: [u8; 16] = [
        0xf7, 0x63, 0xbf, 0xa0, 0x81, 0x3d, 0x80, 0xed, 0x30, 0x1d, 0x64, 0xcd, 0x90, 0x4a, 0xbc,
        0xce,
    ];

    fn tuple(local: &str, remote: &str) -> FourTuple {
        FourTuple {
            local: local.parse().unwrap(),
            remote: remote.parse().unwrap(),
        }
    }

    /// The cookies of packetdrill's `fastopen/server/simple1` to `simple3`, which the kernel
    /// passes, and one that Linux 6.18 granted itself.
    #[test]
    fn cookies_are_those_of_linux() {
        let cases = [
            ("192.168.0.2:80", "10.248.0.2:5000", 0x00ab_aaab_e8e9_54c2),
            ("192.168.0.2:80", "10.248.0.3:5000", 0x1313_a2da_994a_0951),
            ("192.168.0.3:8080", "10.248.0.3:1", 0x76d2_c1c5_30f5_1f79),
            ("10.1.0.2:8080", "10.0.0.1:50000", 0x9af9_936c_adbf_2b41_u64),
        ];
        let keys = FastOpenKeys::new(KEY);
        for (local, remote, expected) in cases {
            let tuple = tuple(local, remote);
            let granted = keys.grant(&tuple, FastOpen::REQUEST).unwrap();
            assert_eq!(granted.as_slice(), expected.to_be_bytes(), "{remote}");
            assert_eq!(keys.check(&tuple, granted), Check::Valid);
            assert_eq!(keys.check(&tuple, granted.experimental()), Check::Valid);
        }
    }

    #[test]
    fn cookies_outlive_one_rotation_of_the_key() {
        let tuple = tuple("[2001:db8::1]:80", "[2001:db8::2]:5000");
        let keys = FastOpenKeys::new(KEY);
        let cookie = keys.grant(&tuple, FastOpen::REQUEST).unwrap();
        let keys = keys.rotated([1; 16]);
        assert_eq!(keys.check(&tuple, cookie), Check::Old);
        let new = keys.grant(&tuple, cookie.experimental()).unwrap();
        assert!(new.is_experimental());
        assert_eq!(keys.check(&tuple, new), Check::Valid);
        assert_eq!(keys.rotated([2; 16]).check(&tuple, cookie), Check::Invalid);
        let mut forged = *cookie.as_slice().first_chunk::<8>().unwrap();
        forged[7] ^= 1;
        let forged = FastOpen::cookie(&forged).unwrap();
        assert_eq!(FastOpenKeys::new(KEY).check(&tuple, forged), Check::Invalid);
        let short = FastOpen::cookie(&cookie.as_slice()[..4]).unwrap();
        assert_eq!(FastOpenKeys::new(KEY).check(&tuple, short), Check::Invalid);
    }
}
