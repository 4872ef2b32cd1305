//! The records that operations point to: `struct ack_sample` and `struct rate_sample`, in the
//! program's layout.

use alloc::vec::Vec;

use crate::memory::{Memory, SAMPLE};

/// Declares the members of a record once.
macro_rules! fields {
    ($($Field:ident $record:literal $name:literal: $what:literal;)+) => {
        /// A member of a sample.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Field {
            $(#[doc = $what] $Field,)+
        }

        impl Field {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$Field),+];

            /// The record and the member, by the kernel's names.
            #[must_use]
            pub const fn name(self) -> (&'static str, &'static str) {
                match self { $(Self::$Field => ($record, $name),)+ }
            }
        }
    };
}

fields! {
    PktsAcked "ack_sample" "pkts_acked": "Segments acknowledged.";
    AckRtt "ack_sample" "rtt_us": "Round trip, in microseconds; -1 without.";
    AckInFlight "ack_sample" "in_flight": "Segments in flight when the newest was sent.";
    PriorMstamp "rate_sample" "prior_mstamp": "Start of the interval, in microseconds.";
    PriorDelivered "rate_sample" "prior_delivered": "Segments delivered at its start.";
    PriorDeliveredCe "rate_sample" "prior_delivered_ce": "Marked ones at its start.";
    RateDelivered "rate_sample" "delivered": "Segments delivered in it; -1 without.";
    RateDeliveredCe "rate_sample" "delivered_ce": "Marked segments delivered in it.";
    Interval "rate_sample" "interval_us": "Its length, in microseconds.";
    SndInterval "rate_sample" "snd_interval_us": "Length of the sends, in microseconds.";
    RcvInterval "rate_sample" "rcv_interval_us": "Length of the arrivals, in microseconds.";
    RateRtt "rate_sample" "rtt_us": "Round trip, in microseconds; -1 without.";
    Losses "rate_sample" "losses": "Segments newly presumed lost.";
    AckedSacked "rate_sample" "acked_sacked": "Segments newly acknowledged or SACKed.";
    PriorInFlight "rate_sample" "prior_in_flight": "Segments in flight before.";
    LastEndSeq "rate_sample" "last_end_seq": "End of the newest segment.";
    IsAppLimited "rate_sample" "is_app_limited": "Whether the application limited it.";
    IsRetrans "rate_sample" "is_retrans": "Whether it is a retransmission's; always 0.";
    IsAckDelayed "rate_sample" "is_ack_delayed": "Whether the ACK is delayed; always 0.";
}

/// A member's place in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub field: Field,
    pub offset: usize,
    pub size: usize,
}

/// Where a program has the members of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    pub(crate) places: Vec<Place>,
    pub(crate) size: usize,
}

impl Samples {
    /// Bytes of the largest record.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// Writes a record: every member that the program declares. `value` may be negative.
    pub fn write(&self, memory: &mut Memory, value: impl Fn(Field) -> i64, record: &str) {
        let region = memory.region_mut(SAMPLE);
        for place in self
            .places
            .iter()
            .filter(|place| place.field.name().0 == record)
        {
            let bytes = value(place.field).to_le_bytes();
            let there = region
                .get_mut(place.offset..)
                .and_then(|r| r.get_mut(..place.size));
            if let (Some(there), Some(bytes)) = (there, bytes.get(..place.size)) {
                there.copy_from_slice(bytes);
            }
        }
    }
}
