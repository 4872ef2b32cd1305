//! The world outside a program: time, chance, and where its messages go.

use alloc::string::String;
use alloc::vec::Vec;

/// Most messages kept of a flow; later ones are counted.
const MAX_MESSAGES: usize = 10_000;

/// A line that a program has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// When, in nanoseconds.
    pub at_ns: u64,
    /// The line.
    pub text: String,
}

/// State used by a flow's helpers.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Now, in nanoseconds.
    pub now_ns: u64,
    /// Jiffies per second.
    pub hz: u32,
    /// Acknowledgments that the program asked for.
    pub acknowledgments: u64,
    /// Messages that were not kept, as there were too many.
    pub messages_dropped: u64,
    messages: Vec<Message>,
    random: u64,
}

impl Environment {
    /// Creates an environment at time zero; `seed`: of the flow's random numbers.
    #[must_use]
    pub const fn new(hz: u32, seed: u64) -> Self {
        Self {
            now_ns: 0,
            hz,
            acknowledgments: 0,
            messages_dropped: 0,
            messages: Vec::new(),
            random: seed,
        }
    }

    /// Sets the seed of the flow's random numbers.
    pub const fn seed(&mut self, seed: u64) {
        self.random = seed;
    }

    /// Jiffies since time zero.
    #[must_use]
    pub fn jiffies(&self) -> u64 {
        let period = 1_000_000_000 / u64::from(self.hz.max(1));
        self.now_ns / period.max(1)
    }

    /// The messages.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Keeps a message; returns its length in bytes.
    pub(crate) fn write(&mut self, text: String) -> u64 {
        let length = text.len() as u64;
        if self.messages.len() < MAX_MESSAGES {
            let at_ns = self.now_ns;
            self.messages.push(Message { at_ns, text });
        } else {
            self.messages_dropped += 1;
        }
        length
    }

    /// The next random number (SplitMix64; Steele, Lea & Flood, OOPSLA 2014).
    pub(crate) fn draw(&mut self) -> u32 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((z ^ z >> 31) >> 32).unwrap_or(0)
    }
}
