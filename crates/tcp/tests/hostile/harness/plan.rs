//! A plan: two configurations, two applications, a path, and what an attacker and a bad network do
//! to them, step by step. A plan is plain data, so that it can be printed and made smaller.

use airtcp_tcp::{Config, Profile};
use airtcp_units::{Duration, Instant};

/// Everything that decides a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub profiles: [Profile; 2],
    pub configs: [Config; 2],
    pub applications: [Application; 2],
    pub initial_numbers: [u32; 2],
    /// When the run starts: near a wrap of a timestamp clock in some.
    pub start: Instant,
    /// The time a packet takes towards each end.
    pub delays: [Duration; 2],
    pub ipv6: bool,
    /// Both ends connect, and none listens (RFC 9293 §3.5, figure 8).
    pub both_open: bool,
    /// The attacker may do what no endpoint can survive: it knows every number and uses them.
    pub lethal: bool,
    pub steps: Vec<Step>,
}

/// What one application does.
#[derive(Clone, Copy, Debug)]
pub struct Application {
    /// Bytes it writes in all.
    pub bytes: u64,
    /// Bytes it writes at once, and the pause until the next.
    pub write: (u64, Duration),
    /// Bytes it reads at once, and the pause until it reads again.
    pub read: (u64, Duration),
    /// How long after the start it closes at the earliest.
    pub close_after: Duration,
}

/// An operation, and how many deliveries and wake-ups pass before it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub after: u64,
    pub operation: Operation,
}

/// What is done to the connection.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// The next `count` packets towards end `to` are treated.
    Treat {
        to: usize,
        count: u64,
        treatment: Treatment,
    },
    /// A packet that went towards end `to` arrives again: the one `back` before the last, or of the
    /// first ones.
    Replay {
        to: usize,
        back: usize,
        first: bool,
        copies: u64,
    },
    /// A packet that nobody sent arrives at end `to`.
    Forge {
        to: usize,
        forgery: Forgery,
        copies: u64,
    },
    /// The end announces a window of zero (Freeze-TCP).
    Freeze { end: usize },
    /// And no longer.
    Thaw { end: usize },
    /// TCP_NODELAY.
    NoDelay { end: usize, on: bool },
    /// The link says that it is bad, or that it has delivered a segment.
    LinkReport {
        end: usize,
        delivered: Option<(u32, u32)>,
    },
    /// Neither application writes or closes.
    Silence { seconds: u64 },
    /// The end gives up, or lets go of the connection: lethal.
    Abort { end: usize, release: bool },
}

/// What happens to a packet on its way.
#[derive(Clone, Copy, Debug)]
pub enum Treatment {
    Lose,
    Delay {
        by: Duration,
    },
    /// A second copy arrives, so much later.
    Duplicate {
        later: Duration,
    },
    /// One bit is flipped.
    Flip {
        bit: u64,
    },
    /// Only the first bytes arrive.
    Cut {
        keep: u64,
    },
    /// Its options are rewritten, with right checksums.
    Mangle {
        mangling: Mangling,
    },
    /// Its window is rewritten.
    Window {
        rule: WindowRule,
    },
    /// What it says of congestion is rewritten.
    Mark {
        rule: MarkRule,
    },
}

/// How options are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mangling {
    /// NOPs in front.
    Pad { bytes: usize },
    /// An option of a kind that nobody knows in front (RFC 6994).
    Unknown { bytes: u8 },
    /// An option at the end whose length is impossible.
    Malformed { length: u8 },
    /// An end of the list in front of everything.
    EndAtOnce,
    /// The urgent flag with a pointer, and both bits of ECN.
    UrgentAndEcn { pointer: u16 },
    /// Of a first SYN: an option of this kind is removed.
    StripFromSyn { kind: u8 },
    /// Of a SYN: the MSS.
    Mss { value: u16 },
}

/// How a window is rewritten: never to more than it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRule {
    Zero,
    /// Shifted right.
    Shrink {
        shift: u32,
    },
    /// No more than this field.
    AtMost {
        field: u16,
    },
    /// A copy with window zero goes in front: it shuts and opens again.
    ShutBefore,
    /// A copy with window zero follows.
    ShutAfter,
}

/// How marks of congestion are rewritten (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkRule {
    /// A router is congested: it marks what is capable.
    Congested,
    /// The field of the IP header is overwritten, capable or not: 0 bleaches it.
    Field { bits: u8 },
    /// ECE and CWR are turned on or off, in whatever carries them.
    Flags { ece: bool, cwr: bool },
}

/// A packet that nobody sent, relative to what its victim expects.
#[derive(Clone, Copy, Debug)]
pub struct Forgery {
    pub kind: Kind,
    pub place: Place,
    pub acknowledges: Acknowledges,
    pub stamps: Stamps,
    /// Shift of the window that the victim was told last; 16 is zero.
    pub window_shift: u32,
    pub report: Report,
    /// ECE and CWR, as the flags' highest bits, and the field of the IP header as the lowest.
    pub marks: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing but an acknowledgment.
    Bare,
    Data {
        bytes: u16,
        fin: bool,
    },
    Reset {
        ack: bool,
    },
    Syn {
        ack: bool,
    },
    /// Flags as they come: lethal.
    Anything {
        flags: u8,
        bytes: u16,
    },
}

/// Where its sequence number lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Exact,
    /// So far inside the window.
    Inside(u16),
    /// All of it so far below what is expected.
    Below(u32),
    /// So far beyond the window.
    Beyond(u32),
}

/// Where its acknowledgment lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledges {
    /// What was acknowledged last.
    Right,
    /// Less, within the largest window.
    Old(u16),
    /// Less than that.
    TooOld(u32),
    /// More than was sent.
    Ahead(u32),
    /// What was sent but has not arrived: lethal.
    Optimistic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    Right,
    /// This many ticks before the last: far more than a connection without a long silence has seen.
    Old(u32),
    Jumped(u32),
    Missing,
}

/// What its SACK option says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    Nothing,
    /// All that is outstanding but the first segment.
    Outstanding,
    /// The last bytes that were acknowledged: a duplicate (RFC 2883).
    Duplicate(u16),
    /// What was never sent.
    Unsent,
    /// Ends before it starts.
    Inverted,
    /// Four ranges that begin so far apart.
    Ladder(u16),
}

impl Treatment {
    /// Whether it may take a packet out of the network or make its sender believe so.
    pub const fn may_lose(self) -> bool {
        match self {
            Self::Lose | Self::Flip { .. } | Self::Cut { .. } | Self::Delay { .. } => true,
            Self::Duplicate { .. } | Self::Window { .. } | Self::Mark { .. } => false,
            Self::Mangle { mangling } => matches!(mangling, Mangling::EndAtOnce),
        }
    }
}

impl Plan {
    /// Whether nothing in it loses a packet or holds one back.
    pub fn loses_nothing(&self) -> bool {
        !self.lethal
            && self.steps.iter().all(|step| match step.operation {
                Operation::Treat { treatment, .. } => !treatment.may_lose(),
                _ => true,
            })
    }
}
