//! The mirror of a socket: only the members that a program names, laid out for it.

use alloc::vec::Vec;

use crate::memory::{Memory, SOCKET};

/// Declares the members once: the kernel's name and whether its verifier lets a program store to it
/// (`bpf_tcp_ca_btf_struct_access`).
macro_rules! members {
    ($($Member:ident $name:literal $writable:literal: $what:literal;)+) => {
        /// A member of the kernel's socket that can be simulated.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Member {
            $(#[doc = $what] $Member,)+
        }

        impl Member {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$Member),+];

            /// The kernel's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Member => $name,)+ }
            }

            /// Whether the kernel's verifier lets a program store to it.
            #[must_use]
            pub const fn is_writable(self) -> bool {
                match self { $(Self::$Member => $writable,)+ }
            }
        }
    };
}

members! {
    Private "icsk_ca_priv" true: "The control's own state, zero before `init`.";
    State "icsk_ca_state" false: "`enum tcp_ca_state`.";
    Retransmits "icsk_retransmits" false: "Timeouts in a row.";
    Backoff "icsk_backoff" false: "Doublings of the timeout.";
    Rto "icsk_rto" false: "Retransmission timeout, in jiffies.";
    Cwnd "snd_cwnd" true: "Congestion window, in segments.";
    CwndCount "snd_cwnd_cnt" true: "Segments acknowledged since the window last grew.";
    CwndClamp "snd_cwnd_clamp" false: "Largest congestion window, in segments.";
    CwndStamp "snd_cwnd_stamp" true: "Time of the last growth or reduction, in jiffies.";
    Ssthresh "snd_ssthresh" true: "Slow-start threshold, in segments.";
    PriorCwnd "prior_cwnd" false: "The window before the last reduction, in segments.";
    PriorSsthresh "prior_ssthresh" false: "The threshold before it, in segments.";
    PrrDelivered "prr_delivered" false: "Segments delivered in the last reduction.";
    PrrOut "prr_out" false: "Segments sent in it.";
    PacketsOut "packets_out" false: "Segments outstanding.";
    SackedOut "sacked_out" false: "Segments SACKed.";
    LostOut "lost_out" false: "Segments presumed lost.";
    RetransOut "retrans_out" false: "Retransmissions in flight.";
    MaxPacketsOut "max_packets_out" false: "Most segments outstanding in the last round trip.";
    IsCwndLimited "is_cwnd_limited" false: "Whether the window limited the last round trip.";
    MssCache "mss_cache" false: "Payload of a full segment, in bytes.";
    SndUna "snd_una" false: "First unacknowledged sequence number.";
    SndNxt "snd_nxt" false: "First sequence number never sent.";
    WriteSeq "write_seq" false: "First sequence number never written.";
    HighSeq "high_seq" false: "`snd_nxt` when the last repair began.";
    Lost "lost" false: "Segments presumed lost since the start.";
    Delivered "delivered" false: "Segments delivered since the start.";
    DeliveredCe "delivered_ce" false: "Those of them that carried a congestion mark.";
    BytesAcked "bytes_acked" false: "Bytes acknowledged since the start.";
    BytesSent "bytes_sent" false: "Bytes sent since the start, retransmissions included.";
    BytesRetrans "bytes_retrans" false: "Bytes retransmitted since the start.";
    DataSegsOut "data_segs_out" false: "Segments with data sent since the start.";
    SegsOut "segs_out" false: "Segments sent since the start.";
    TotalRetrans "total_retrans" false: "Retransmissions since the start.";
    Srtt "srtt_us" false: "Eight times the smoothed round trip, in microseconds.";
    Mdev "mdev_us" false: "Four times the mean deviation, in microseconds.";
    RttVar "rttvar_us" false: "Four times the smoothed deviation, in microseconds.";
    RttMin "rtt_min" false: "Minimum round trip (`struct minmax`), in microseconds.";
    Mstamp "tcp_mstamp" false: "Now, in microseconds.";
    ClockCache "tcp_clock_cache" false: "Now, in nanoseconds.";
    DepartureTime "tcp_wstamp_ns" false: "Departure of the next paced segment, in nanoseconds.";
    DeliveredMstamp "delivered_mstamp" false: "Time of the last delivery, in microseconds.";
    FirstTxMstamp "first_tx_mstamp" false: "Start of the current send interval, in microseconds.";
    AppLimited "app_limited" true: "Delivered segments up to which samples are app-limited.";
    Reordering "reordering" false: "Extent of reordering, in segments.";
    ReordSeen "reord_seen" false: "Reorderings seen.";
    DsackDups "dsack_dups" false: "Duplicates reported.";
    SndWnd "snd_wnd" false: "The peer's window, in bytes.";
    Lsndtime "lsndtime" false: "Time of the last transmission, in jiffies.";
    PacingRate "sk_pacing_rate" true: "Pacing rate, in bytes per second.";
    MaxPacingRate "sk_max_pacing_rate" false: "Limit on it.";
    PacingStatus "sk_pacing_status" true: "`enum sk_pacing`: 0, or 1 for paced.";
    PacingShift "sk_pacing_shift" false: "A burst lasts 2^-n seconds of the pacing rate.";
    GsoMaxSize "sk_gso_max_size" false: "Largest burst, in bytes.";
    EcnFlags "ecn_flags" true: "1 if congestion marks are used.";
}

impl Member {
    /// The member of this name, the structures' names left out.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|m| m.name() == name)
    }
}

/// A member's place in the mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The member.
    pub member: Member,
    /// Offset of its first byte; of a bit field, of the byte that holds its first bit.
    pub offset: u32,
    /// Size in bytes as the program declares it.
    pub size: u32,
    /// First bit within that byte, and number of bits; no bits: not a bit field.
    pub bits: (u32, u32),
}

/// Bytes of the control's private state (`ICSK_CA_PRIV_SIZE`), whatever the program declares.
const PRIVATE: u32 = 104;

/// Bytes before it: an address a little below it is no other member's.
const BEFORE_PRIVATE: u32 = 256;

/// Bytes on both sides of a bit field: a program may read it as part of a unit of up to 8 bytes.
const MARGIN: u32 = 8;

/// Most bytes of a mirror.
const MAX_SIZE: u32 = 1 << 15;

/// Where the members of one program are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    slots: Vec<Slot>,
    size: u32,
}

impl Layout {
    /// The members used.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Size of the mirror in bytes.
    #[must_use]
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// Where a member is.
    #[must_use]
    pub fn slot(&self, member: Member) -> Option<Slot> {
        self.slots
            .iter()
            .copied()
            .find(|slot| slot.member == member)
    }

    /// Lays out a member of `size` bytes, or a bit field. `None`: it is there with another size, or
    /// the mirror is full.
    #[must_use]
    pub fn add(&mut self, member: Member, size: u32, bits: (u32, u32)) -> Option<Slot> {
        let size = if member == Member::Private {
            PRIVATE
        } else {
            size
        };
        if let Some(slot) = self.slot(member) {
            let fits = slot.size == size && slot.bits == bits;
            return fits.then_some(slot);
        }
        if size == 0 || size > MAX_SIZE {
            return None;
        }
        let start = self.size.next_multiple_of(8);
        let (offset, end) = match (member, bits.1) {
            (Member::Private, _) => (start + BEFORE_PRIVATE, start + BEFORE_PRIVATE + size),
            (_, 0) => (start, start + size),
            (_, _) => (start + MARGIN, start + 3 * MARGIN),
        };
        if end > MAX_SIZE {
            return None;
        }
        let slot = Slot {
            member,
            offset,
            size,
            bits,
        };
        self.size = end;
        self.slots.push(slot);
        Some(slot)
    }
}

impl Slot {
    /// The first byte that is set aside for the member.
    pub(crate) const fn start(&self) -> u32 {
        let margin = match (self.member, self.bits.1) {
            (Member::Private, _) => BEFORE_PRIVATE,
            (_, 0) => 0,
            (_, _) => MARGIN,
        };
        self.offset.saturating_sub(margin)
    }

    /// Value of up to 8 bytes.
    #[must_use]
    pub fn get(&self, memory: &Memory) -> u64 {
        let socket = memory.region(SOCKET).get(self.offset as usize..);
        let size = if self.bits.1 > 0 {
            2
        } else {
            self.size.min(8) as usize
        };
        let mut bytes = [0; 8];
        if let Some(found) = socket.and_then(|socket| socket.get(..size)) {
            bytes[..size].copy_from_slice(found);
        }
        let value = u64::from_le_bytes(bytes);
        match self.bits {
            (_, 0) => value,
            (first, bits) => value >> first & mask(bits),
        }
    }

    /// Sets the value, in as many bytes as the program declares, up to 8.
    pub fn set(&self, memory: &mut Memory, value: u64) {
        let (size, value) = match self.bits {
            (_, 0) => (self.size.min(8) as usize, value),
            (first, bits) => {
                let all = mask(bits) << first;
                let others = self.neighbours(memory) & !all;
                (2, others | value << first & all)
            }
        };
        let start = self.offset as usize;
        let place = memory.region_mut(SOCKET).get_mut(start..start + size);
        if let Some(place) = place {
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    /// The bytes that a bit field shares.
    fn neighbours(&self, memory: &Memory) -> u64 {
        Self {
            size: 2,
            bits: (0, 0),
            ..*self
        }
        .get(memory)
    }

    /// Sets each of the samples of a `struct minmax` alike: the time, then the value. The
    /// estimator keeps one minimum, not the kernel's three.
    pub fn set_minmax(&self, memory: &mut Memory, time: u32, value: u32) {
        let start = self.offset as usize;
        let end = start + self.size as usize;
        let Some(place) = memory.region_mut(SOCKET).get_mut(start..end) else {
            return;
        };
        for sample in place.chunks_exact_mut(8) {
            let (stamp, minimum) = sample.split_at_mut(4);
            stamp.copy_from_slice(&time.to_le_bytes());
            minimum.copy_from_slice(&value.to_le_bytes());
        }
    }
}

const fn mask(bits: u32) -> u64 {
    match 1_u64.checked_shl(bits) {
        Some(above) => above - 1,
        None => u64::MAX,
    }
}
