//! A bare event loop: the queue operations and random draws of a run of airtcp, and no protocol.
//!
//! Packets as large as airtcp's go round: from one ring, the data pipe, through another, the pipe
//! of acknowledgments, and back; each arrival is an event of the same heap, each data packet passes
//! a third ring, the drop-tail queue, and takes a draw if the run has losses. Each flow keeps one
//! timer in the heap. The difference to airtcp's time is the cost of TCP.
//! Prints one line of JSON.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant as Clock;

use airtcp_link::Stream;
use airtcp_network::EventQueue;
use airtcp_packet::Segment;
use airtcp_units::{BitRate, Duration, Instant};
use clap::Parser;

/// One way, as in `scenarios/lossy-pipe.toml`.
const DELAY: Duration = Duration::from_millis(25);
const DATA_BYTES: u64 = 1500;
const ACK_BYTES: u64 = 52;

#[derive(Parser)]
#[command(about = "The queue operations and random draws of a run, without a protocol")]
struct Settings {
    /// Data packets to carry.
    #[arg(long)]
    packets: u64,
    /// Data packets in flight or queued, all flows together.
    #[arg(long)]
    in_flight: u64,
    /// Acknowledgments to carry, spread evenly over them.
    #[arg(long)]
    acknowledgments: u64,
    #[arg(long, default_value_t = 1)]
    flows: u32,
    /// From one event of a flow's timers to the next, in microseconds.
    #[arg(long)]
    timer_us: u64,
    /// Whether each data packet takes a random draw.
    #[arg(long)]
    draws: bool,
    /// Rate of the link for each flow, bit/s.
    #[arg(long, default_value_t = 10_000_000)]
    rate_per_flow: u64,
}

#[derive(Clone, Copy)]
enum Turn {
    Data,
    Acknowledgment,
    Timer,
}

/// A packet as large as airtcp's in a pipe.
#[derive(Clone, Copy)]
struct Packet {
    segment: Segment,
    flow: u32,
    index: u64,
}

/// A rate, a queue and a delay; only times are kept.
struct Line {
    rate: BitRate,
    free: Instant,
    waiting: VecDeque<(Instant, u32)>,
    under_way: VecDeque<(Instant, Packet)>,
}

impl Line {
    fn new(rate: BitRate) -> Self {
        Self {
            rate,
            free: Instant::ZERO,
            waiting: VecDeque::new(),
            under_way: VecDeque::new(),
        }
    }

    /// Whether the line was empty: then its next arrival has no event yet.
    fn push(&mut self, now: Instant, bytes: u64, packet: Packet) -> bool {
        while self.waiting.front().is_some_and(|&(until, _)| until <= now) {
            self.waiting.pop_front();
        }
        let start = self.free.max(now);
        if start > now {
            self.waiting.push_back((start, bytes as u32));
        }
        self.free = start + self.rate.transmission_time(bytes);
        self.under_way.push_back((self.free + DELAY, packet));
        self.under_way.len() == 1
    }

    fn next_arrival(&self) -> Option<Instant> {
        self.under_way.front().map(|&(arrival, _)| arrival)
    }
}

struct Loop {
    events: EventQueue<Turn>,
    data: Line,
    acknowledgments: Line,
    losses: Stream,
    draws: bool,
    sent: u64,
    handled: u64,
}

/// `share` things for every `of` others, spread evenly.
struct Share {
    share: u64,
    of: u64,
    due: u64,
}

impl Share {
    const fn new(share: u64, of: u64) -> Self {
        Self { share, of, due: 0 }
    }

    /// How many are due with the next of the others.
    const fn next(&mut self) -> u64 {
        self.due += self.share;
        let now = self.due / self.of;
        self.due %= self.of;
        now
    }
}

impl Loop {
    fn new(settings: &Settings) -> Self {
        let rate = BitRate::from_bps(settings.rate_per_flow * u64::from(settings.flows));
        Self {
            events: EventQueue::default(),
            data: Line::new(rate),
            acknowledgments: Line::new(rate),
            losses: Stream::new(1, "bare-loop"),
            draws: settings.draws,
            sent: 0,
            handled: 0,
        }
    }

    fn send(&mut self, now: Instant, flow: u32) {
        let packet = Packet {
            segment: Segment::default(),
            flow,
            index: self.sent,
        };
        self.sent += 1;
        if self.draws {
            black_box(self.losses.draw(packet.index));
        }
        if self.data.push(now, DATA_BYTES, packet) {
            self.events.schedule(self.data.free + DELAY, Turn::Data);
        }
    }

    /// Carries `packets` data packets.
    fn run(&mut self, settings: &Settings) {
        let interval = Duration::from_micros(settings.timer_us.max(1));
        for flow in 0..settings.flows {
            let spread = interval * u64::from(flow) / u64::from(settings.flows);
            self.events.schedule(Instant::ZERO + spread, Turn::Timer);
        }
        for packet in 0..settings.in_flight {
            self.send(Instant::ZERO, (packet % u64::from(settings.flows)) as u32);
        }
        let acknowledgments = settings.acknowledgments.clamp(1, settings.packets.max(1));
        let mut answers = Share::new(acknowledgments, settings.packets.max(1));
        let mut follow_ups = Share::new(settings.packets, acknowledgments);
        let mut delivered = 0;
        while delivered < settings.packets
            && let Some((now, turn)) = self.events.first()
        {
            self.handled += 1;
            match turn {
                Turn::Data => {
                    if let Some((_, packet)) = self.data.under_way.pop_front() {
                        delivered += 1;
                        let packet = black_box(packet);
                        if answers.next() > 0 && self.acknowledgments.push(now, ACK_BYTES, packet) {
                            let arrival = self.acknowledgments.free + DELAY;
                            self.events.schedule(arrival, Turn::Acknowledgment);
                        }
                    }
                    self.reschedule(self.data.next_arrival());
                }
                Turn::Acknowledgment => {
                    if let Some((_, packet)) = self.acknowledgments.under_way.pop_front() {
                        let packet = black_box(packet);
                        black_box(packet.segment);
                        for _ in 0..follow_ups.next() {
                            self.send(now, packet.flow);
                        }
                    }
                    self.reschedule(self.acknowledgments.next_arrival());
                }
                Turn::Timer => self.events.reschedule_first(now + interval),
            }
        }
    }

    fn reschedule(&mut self, next: Option<Instant>) {
        match next {
            Some(time) => self.events.reschedule_first(time),
            None => self.events.remove_first(),
        }
    }
}

fn main() {
    let settings = Settings::parse();
    let mut bare = Loop::new(&settings);
    let began = Clock::now();
    bare.run(&settings);
    let wall = began.elapsed();
    let line = serde_json::json!({
        "peer": "bare-loop",
        "flows": settings.flows,
        "delivered_packets": settings.packets,
        "events": bare.handled,
        "wall_s": wall.as_secs_f64(),
    });
    println!("{line}");
}
