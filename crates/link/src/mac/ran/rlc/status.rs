//! A STATUS PDU (TS 36.322 §6.2.1.6, TS 38.322 §6.2.2.5).

use super::Bytes;

/// Acknowledgment of all numbers below `acknowledged` that are not reported missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::mac::ran) struct Status {
    /// ACK_SN.
    pub acknowledged: u64,
    /// NACK_SN: each missing number, and the missing part unless it is all of it.
    pub missing: Vec<(u64, Option<Bytes>)>,
}

impl Status {
    /// Bytes of a PDU with this many missing numbers, whole or in part, with MAC's header: the
    /// longer form of both generations.
    pub(in crate::mac::ran) const fn bytes(missing: usize) -> u64 {
        3 + 3 + 7 * missing as u64
    }

    /// Missing numbers that a PDU of `bytes` has room for; `None` if not even for itself.
    pub(super) fn room(bytes: u64) -> Option<usize> {
        let left = bytes.checked_sub(Self::bytes(0))?;
        usize::try_from(left / 7).ok()
    }
}
