//! Values that an off-path attacker must not guess: initial sequence numbers, timestamp offsets,
//! ports, cookies (RFC 6528, RFC 7323 §5.4 and §7.1, RFC 6056 §3.3.3).

use core::hash::{BuildHasher, Hash, Hasher};
use core::net::{IpAddr, SocketAddr};

use airtcp_packet::SequenceNumber;
use airtcp_units::{Duration, Instant};
use siphasher::sip::{SipHasher13, SipHasher24};

use crate::tuple::FourTuple;

/// The clock M of sequence numbers: one every 4 µs (RFC 6528 §3).
const ISN_TICK: Duration = Duration::from_micros(4);

/// A secret key, and the values derived from it.
#[derive(Clone, Copy)]
pub(crate) struct Secret([u8; 16]);

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret")
    }
}

/// The purpose of a hash: no two purposes share values.
#[derive(Clone, Copy, Hash)]
enum Use {
    SequenceNumber,
    Timestamp,
    Port,
    Cookie,
    FastOpen,
}

impl Secret {
    pub const fn new(key: [u8; 16]) -> Self {
        Self(key)
    }

    fn hash(&self, purpose: Use, what: impl Hash) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        purpose.hash(&mut hasher);
        what.hash(&mut hasher);
        hasher.finish()
    }

    /// The initial sequence number of a connection that begins at `now` (RFC 6528 §3: M + F).
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers wrap")]
    pub fn sequence_number(&self, now: Instant, tuple: &FourTuple) -> SequenceNumber {
        let clock = (now.as_nanos() / ISN_TICK.as_nanos()) as u32;
        let hash = self.hash(Use::SequenceNumber, tuple) as u32;
        SequenceNumber(clock.wrapping_add(hash))
    }

    /// The offset added to the timestamp clock towards a host: connections with one host share a
    /// clock, so that it can reuse connections in TIME-WAIT (RFC 6191 §2), and with no other.
    #[expect(clippy::cast_possible_truncation, reason = "timestamps wrap")]
    pub fn timestamp_offset(&self, local: IpAddr, remote: IpAddr) -> u32 {
        self.hash(Use::Timestamp, (local, remote)) as u32
    }

    /// The start of the search for a free port.
    pub fn port_offset(&self, local: IpAddr, remote: SocketAddr) -> u64 {
        self.hash(Use::Port, (local, remote))
    }

    /// The key of Fast Open's cookies, where no other is set.
    pub fn fast_open_key(&self) -> [u8; 16] {
        let mut key = [0; 16];
        for (half, index) in key.chunks_exact_mut(8).zip(0_u64..) {
            half.copy_from_slice(&self.hash(Use::FastOpen, index).to_le_bytes());
        }
        key
    }

    /// The part of a cookie that proves that we made it.
    pub fn cookie(&self, tuple: &FourTuple, sequence: SequenceNumber, what: u32, at: u64) -> u64 {
        self.hash(Use::Cookie, (tuple, sequence, what, at))
    }
}

/// For tables keyed by values that peers choose: they cannot choose colliding ones.
impl BuildHasher for Secret {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_key(&self.0)
    }
}
