//! A connection against anything: segments from nowhere and nearly right ones, time in any steps, and
//! an application that does what it likes. It never panics, and keeps the invariants of any network.

#![no_main]

use airtcp_packet::{Flags, SackBlock, SackBlocks, Segment, SequenceNumber, Timestamps};
use airtcp_tcp::config::{Recovery, Retransmission, RttSampling, TimeoutConfig, TimerChoice, WindowGrowth};
use airtcp_tcp::{Config, Connection, Event, State};
use airtcp_units::{Duration, Instant};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Choices {
    listens: bool,
    initial_sequence: u32,
    mss: u16,
    initial_window: u8,
    max_window: Option<u8>,
    receive_buffer: u32,
    sack: bool,
    dsack: bool,
    timestamps: bool,
    tick_ns: u32,
    recovery: u8,
    threshold: u8,
    limited_transmit: bool,
    selective_repeat: bool,
    segment_timers: Option<bool>,
    by_acknowledgments: bool,
    per_window: bool,
    back_off: bool,
    delayed: u8,
}

/// One number of a nearly right segment: what the endpoint expects, shifted.
#[derive(Arbitrary, Debug)]
enum Near {
    Exact,
    Below(u16),
    Above(u16),
    Anything(u32),
}

#[derive(Arbitrary, Debug)]
struct Arrival {
    flags: u8,
    sequence: Near,
    acknowledgment: Near,
    bytes: u16,
    window: u16,
    stamps: Option<(Near, Near)>,
    blocks: [(Near, u16); 4],
    count: u8,
    mss: Option<u16>,
    scale: Option<u8>,
    sack_permitted: bool,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    Arrive(Arrival),
    /// An acknowledgment, or data, as a well-behaved peer would send it.
    Acknowledge(u16),
    Deliver(u16),
    Pass(u32),
    WaitForWakeup,
    Write(u32),
    Read(u32),
    Close,
    Abort,
    Poll(u8),
}

fn config(choices: &Choices) -> Config {
    Config {
        mss: u32::from(choices.mss.max(1)),
        initial_window: u32::from(choices.initial_window),
        max_window: choices.max_window.map(u32::from),
        receive_buffer: u64::from(choices.receive_buffer),
        sack: choices.sack,
        dsack: choices.dsack,
        timestamps: choices.timestamps,
        timestamp_tick: Duration::from_nanos(u64::from(choices.tick_ns)),
        recovery: match choices.recovery % 3 {
            0 => Recovery::Tahoe,
            1 => Recovery::Reno,
            _ => Recovery::NewReno,
        },
        duplicate_ack_threshold: u32::from(choices.threshold),
        limited_transmit: choices.limited_transmit,
        retransmission: if choices.selective_repeat {
            Retransmission::SelectiveRepeat
        } else {
            Retransmission::GoBackN
        },
        window_growth: if choices.by_acknowledgments {
            WindowGrowth::Acknowledgments
        } else {
            WindowGrowth::Bytes
        },
        timeout: TimeoutConfig {
            sampling: if choices.per_window {
                RttSampling::PerWindow
            } else {
                RttSampling::PerAcknowledgment
            },
            back_off: choices.back_off,
            timers: match choices.segment_timers {
                None => TimerChoice::Automatic,
                Some(false) => TimerChoice::Connection,
                Some(true) => TimerChoice::Segment,
            },
            ..TimeoutConfig::default()
        },
        delayed_ack: airtcp_tcp::config::DelayedAckConfig {
            segments: u32::from(choices.delayed),
            ..Default::default()
        },
        ..Config::default()
    }
}

/// The endpoint, and the peer it believes in: what it last said, so that right answers can be made.
struct World {
    connection: Connection,
    config: Config,
    now: Instant,
    ours: SequenceNumber,
    peers: SequenceNumber,
    said: Segment,
    /// Whether it has nothing more to send now.
    silent: bool,
    read: u64,
    written: u64,
}

impl World {
    fn near(&self, near: &Near, exact: SequenceNumber) -> SequenceNumber {
        match *near {
            Near::Exact => exact,
            Near::Below(by) => SequenceNumber(exact.0.wrapping_sub(u32::from(by))),
            Near::Above(by) => exact + u32::from(by),
            Near::Anything(number) => SequenceNumber(number),
        }
    }

    /// What the endpoint would have us acknowledge: all it has sent.
    fn highest(&self) -> SequenceNumber {
        self.ours + 1 + self.connection.sender().nxt() as u32
    }

    fn segment(&self, arrival: &Arrival) -> Segment {
        let expected = match self.connection.state() {
            State::Listen | State::SynSent => self.peers,
            _ => self.said.acknowledgment,
        };
        let mut sack = SackBlocks::new();
        for (start, length) in &arrival.blocks[..usize::from(arrival.count % 5)] {
            let start = self.near(start, self.highest());
            sack.push(SackBlock { start, end: start + u32::from(*length) });
        }
        let stamps = self.said.timestamps.unwrap_or_default();
        let timestamps = arrival.stamps.as_ref().map(|(value, echo)| Timestamps {
            value: self.near(value, SequenceNumber(stamps.echo)).0,
            echo: self.near(echo, SequenceNumber(stamps.value)).0,
        });
        let all = [Flags::SYN, Flags::FIN, Flags::RST, Flags::ACK, Flags::PSH, Flags::URG];
        let flags = all
            .into_iter()
            .enumerate()
            .filter(|(bit, _)| arrival.flags & (1 << bit) != 0)
            .fold(Flags::default(), |flags, (_, flag)| flags | flag);
        Segment {
            sequence: self.near(&arrival.sequence, expected),
            acknowledgment: self.near(&arrival.acknowledgment, self.highest()),
            payload_bytes: u32::from(arrival.bytes),
            window: arrival.window,
            flags,
            timestamps,
            sack,
            mss: arrival.mss,
            window_scale: arrival.scale,
            sack_permitted: arrival.sack_permitted,
        }
    }

    /// What a peer that means well sends next.
    fn right(&self, acknowledgment: SequenceNumber, payload_bytes: u32) -> Segment {
        let opening = matches!(self.connection.state(), State::Listen | State::SynSent);
        let mut flags = if opening { Flags::SYN } else { Flags::ACK };
        if self.connection.state() == State::SynSent {
            flags |= Flags::ACK;
        }
        let stamps = self.said.timestamps.map(|stamps| Timestamps {
            value: stamps.echo.max(1),
            echo: stamps.value,
        });
        Segment {
            sequence: if opening { self.peers } else { self.said.acknowledgment },
            acknowledgment,
            payload_bytes: if opening { 0 } else { payload_bytes },
            window: u16::MAX,
            flags,
            timestamps: if opening { Some(Timestamps { value: 1, echo: 0 }) } else { stamps },
            mss: opening.then_some(1460),
            window_scale: opening.then_some(2),
            sack_permitted: opening,
            ..Segment::default()
        }
    }

    fn poll(&mut self, most: usize) {
        self.silent = false;
        for _ in 0..most {
            let Some(segment) = self.connection.poll(self.now) else {
                self.silent = true;
                return;
            };
            assert!(segment.payload_bytes <= self.config.mss);
            assert!(segment.sack_blocks_on_wire() == segment.sack.len());
            if !segment.flags.contains(Flags::RST) {
                self.said = segment;
            }
        }
    }

    fn perform(&mut self, operation: &Operation) {
        let mut observer = |_: Instant, _: Event| ();
        match operation {
            Operation::Arrive(arrival) => {
                let segment = self.segment(arrival);
                self.connection.handle(self.now, &segment, &mut observer);
            }
            Operation::Acknowledge(short) => {
                let short = u64::from(*short).min(self.connection.sender().nxt());
                let acknowledgment =
                    SequenceNumber(self.highest().0.wrapping_sub(short as u32));
                let segment = self.right(acknowledgment, 0);
                self.connection.handle(self.now, &segment, &mut observer);
            }
            Operation::Deliver(bytes) => {
                let segment = self.right(self.highest(), u32::from(*bytes));
                self.connection.handle(self.now, &segment, &mut observer);
            }
            Operation::Pass(nanoseconds) => {
                self.now += Duration::from_nanos(u64::from(*nanoseconds) * 16);
            }
            Operation::WaitForWakeup => {
                let next = self.connection.next_wakeup();
                if next < Instant::FAR_FUTURE {
                    self.now = self.now.max(next);
                    self.connection.on_wakeup(self.now, &mut observer);
                }
            }
            Operation::Write(bytes) => {
                self.connection.write(u64::from(*bytes));
                self.written += u64::from(*bytes);
            }
            Operation::Read(most) => self.read += self.connection.read(u64::from(*most)),
            Operation::Close => self.connection.close(),
            Operation::Abort => self.connection.abort(self.now),
            Operation::Poll(most) => return self.poll(usize::from(*most)),
        }
        self.silent = false;
    }

    fn check(&self) {
        let sender = self.connection.sender();
        assert!(sender.una() <= sender.nxt());
        assert!(sender.nxt() <= sender.written() + u64::from(sender.is_closed()));
        assert!(sender.written() <= self.written);
        assert!(sender.in_flight() <= 2 * (sender.nxt() - sender.una()));
        assert!(sender.cwnd() >= sender.mss() && sender.mss() >= 1);
        let timeout = &self.config.timeout;
        assert!((timeout.min..=timeout.max).contains(&sender.rto()));
        let counters = sender.counters();
        assert!(counters.segments_retransmitted <= counters.segments_sent);
        assert!(counters.timeouts_judged_spurious <= counters.timeouts);
        let receiver = self.connection.receiver();
        assert!(self.read <= receiver.received());
        assert!(receiver.received() <= receiver.next_expected());
        let room = self.read + self.config.receive_buffer;
        // A FIN takes no room.
        assert!(receiver.next_expected() <= room + 1, "more than there is room for");
        let state = self.connection.state();
        if self.silent && !matches!(state, State::Closed | State::Listen | State::TimeWait) {
            let waits = sender.nxt() > sender.una() || state == State::SynSent;
            assert!(!waits || self.connection.next_wakeup() < Instant::FAR_FUTURE);
        }
    }
}

fuzz_target!(|input: (Choices, Vec<Operation>)| {
    let (choices, operations) = input;
    let config = config(&choices);
    let ours = SequenceNumber(choices.initial_sequence);
    let connection = if choices.listens {
        Connection::listen(&config, ours)
    } else {
        Connection::connect(&config, ours)
    };
    let mut world = World {
        connection,
        config,
        now: Instant::ZERO,
        ours,
        peers: SequenceNumber(!choices.initial_sequence),
        said: Segment::default(),
        silent: false,
        read: 0,
        written: 0,
    };
    for operation in &operations {
        world.perform(operation);
        // A driver polls until there is no more; now and then it is late.
        if !matches!(operation, Operation::Poll(_)) {
            world.poll(64);
        }
        world.check();
    }
    // Left alone it comes to rest: wake-ups are finite in number at any one instant.
    for _ in 0..20 {
        let next = world.connection.next_wakeup();
        if next == Instant::FAR_FUTURE {
            break;
        }
        world.now = world.now.max(next);
        let mut wakeups = 0_u64;
        while world.connection.next_wakeup() <= world.now {
            wakeups += 1;
            let outstanding = world.connection.sender().nxt() - world.connection.sender().una();
            assert!(wakeups <= 8 + outstanding, "woken for ever at one instant");
            world.connection.on_wakeup(world.now, &mut ());
            world.poll(usize::MAX);
            world.check();
        }
    }
});
