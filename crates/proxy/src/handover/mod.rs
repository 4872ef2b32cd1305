//! A restart without resets: a proxy's successor takes over its listeners, its connections and its
//! diversion, while the kernel continues the transfers.
//!
//! ```text
//!   successor                                   proxy
//!     what it listens for, and how  ──────────▶  refuses what differs
//!                                   ◀──────────  listeners, the journal's lock, counters
//!                                   ◀──────────  each connection: its sockets and pipes
//!     has everything                ──────────▶  passes nothing more
//!     is the service's main process ──────────▶  ends, and resets nothing
//! ```
//!
//! Until the successor has everything the proxy is unchanged, so that its connections survive any
//! failure there. The memory of a process is not handed over: connections of airtcp's endpoint
//! stay.

mod channel;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use airtcp_host::error::{Error, Result, Tried};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use channel::{Channel, listener};

use crate::counters::Counters;
use crate::options::Options;

/// A connection being handed over.
#[derive(Debug)]
pub struct Packed<'a> {
    /// Its state.
    pub state: Value,
    /// Its descriptors, in an order defined by the state.
    pub descriptors: Vec<BorrowedFd<'a>>,
}

/// Externally visible properties of a proxy, which its successor must share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    listen: String,
    is_transparent: bool,
    device: Option<String>,
    ports: Vec<u16>,
    /// Whether the kernel carries both sides.
    pub is_spliced: bool,
}

impl Identity {
    /// The identity of a proxy with these options.
    pub fn new(options: &Options, is_spliced: bool) -> Self {
        Self {
            listen: options.listen.map(|it| it.to_string()).unwrap_or_default(),
            is_transparent: options.transparent,
            device: options.device.clone(),
            ports: options.port.clone(),
            is_spliced,
        }
    }

    /// Why a proxy with this identity refuses a handover to one with `other`, if so.
    pub fn refuses(&self, other: &Self) -> Option<String> {
        if !self.is_spliced || !other.is_spliced {
            return Some(
                "connections of a stack of airtcp's own are in the memory of their process, and \
                 cannot be handed over"
                    .to_owned(),
            );
        }
        (self != other).then(|| {
            "it listens elsewhere or takes other connections: expected the same --listen, \
             --transparent, --device and --port"
                .to_owned()
        })
    }
}

/// The proxy's answer.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Refused(String),
    Begin {
        listeners: usize,
        relays: usize,
        counters: Counters,
    },
}

/// The successor's messages.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Word {
    Taken,
    Done,
}

/// The state handed over by a proxy.
#[derive(Debug)]
pub struct Estate<'a> {
    /// Its listeners.
    pub listeners: &'a [OwnedFd],
    /// The lock on the journal of its diversion.
    pub lock: Option<&'a OwnedFd>,
    /// Its counters.
    pub counters: Counters,
    /// Its connections.
    pub relays: Vec<Packed<'a>>,
}

/// Hands everything over to the successor at the other end of the channel.
///
/// # Errors
///
/// It requests something else, is gone, or silent: the proxy then keeps everything.
pub fn give(channel: &Channel, identity: &Identity, estate: &Estate<'_>) -> Result<()> {
    let failed = || "the successor did not take over; this proxy goes on".to_owned();
    let (asked, _) = channel.receive::<Identity>().tried(failed)?;
    if let Some(why) = identity.refuses(&asked) {
        let answer = Answer::Refused(why.clone());
        channel.send(&answer, &[]).tried(failed)?;
        return Err(Error::new(format!("a successor was refused: {why}")));
    }
    let answer = Answer::Begin {
        listeners: estate.listeners.len(),
        relays: estate.relays.len(),
        counters: estate.counters,
    };
    let descriptors = estate.listeners.iter().chain(estate.lock);
    let descriptors: Vec<_> = descriptors.map(AsFd::as_fd).collect();
    channel.send(&answer, &descriptors).tried(failed)?;
    for relay in &estate.relays {
        channel
            .send(&relay.state, &relay.descriptors)
            .tried(failed)?;
    }
    match channel.receive().tried(failed)? {
        (Word::Taken, _) => Ok(()),
        (Word::Done, _) => Err(Error::new(failed())),
    }
}

/// The state received by a successor.
#[derive(Debug)]
pub struct Inheritance {
    channel: Channel,
    /// The listeners.
    pub listeners: Vec<OwnedFd>,
    /// The lock on the journal of the diversion.
    pub lock: Option<OwnedFd>,
    /// The connections' states and descriptors.
    pub relays: Vec<(Value, Vec<OwnedFd>)>,
    /// The predecessor's counters.
    pub counters: Counters,
}

impl Inheritance {
    /// Requests everything from the proxy of that process.
    ///
    /// # Errors
    ///
    /// There is no such proxy, or it refuses with a reason.
    pub fn of(process: u32, identity: &Identity) -> Result<Self> {
        let failed = || format!("--take-over {process}: it does not hand over");
        let channel = Channel::connect(process)?;
        channel.send(identity, &[]).tried(failed)?;
        let (answer, mut descriptors) = channel.receive().tried(failed)?;
        let (listeners, relays, counters) = match answer {
            Answer::Refused(why) => {
                return Err(Error::new(format!("--take-over {process}: refused: {why}")));
            }
            Answer::Begin {
                listeners,
                relays,
                counters,
            } => (listeners, relays, counters),
        };
        if descriptors.len() < listeners {
            return Err(Error::new(failed()));
        }
        let lock = descriptors.split_off(listeners).pop();
        let relays = (0..relays).map(|_| channel.receive());
        Ok(Self {
            relays: relays.collect::<std::io::Result<_>>().tried(failed)?,
            channel,
            listeners: descriptors,
            lock,
            counters,
        })
    }

    /// Confirms that everything has arrived; from then on the predecessor passes nothing.
    ///
    /// # Errors
    ///
    /// It is gone.
    pub fn acknowledge(&self) -> Result<()> {
        let failed = || "the proxy that was to be taken over is gone".to_owned();
        self.channel.send(&Word::Taken, &[]).tried(failed)
    }

    /// Lets the predecessor end, and waits for that: its other addresses are then free.
    pub fn dismiss(self) {
        // One that is already gone has ended.
        let _ = self.channel.send(&Word::Done, &[]);
        self.channel.await_end();
    }
}

/// Waits until the successor no longer needs this process.
pub fn await_dismissal(channel: &Channel) {
    // It may have ended since; then there is nothing to wait for.
    let _ = channel.receive::<Word>();
}
