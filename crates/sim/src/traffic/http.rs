//! Web pages over one persistent connection (HTTP/1.1, RFC 9112 §9.3).

use std::collections::VecDeque;

use airtcp_link::Stream;
use airtcp_scenario::Http;
use airtcp_units::{Duration, Instant};

use super::{Action, End, Transfers, at_least_one, exponential};

/// Draws of a page: the time to the next, the number of objects, and after that their sizes.
const INTERVAL: u64 = 0;
const OBJECTS: u64 = 1;
const SIZES: u64 = 2;
/// The page with the interval before the first.
const BEFORE_ALL: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub(super) struct Session {
    http: Http,
    stream: Stream,
    /// Number of the page being read, or of the next one.
    page: u64,
    next: Instant,
    reading: Option<Reading>,
    /// Whether a due page had to wait for the previous one.
    is_late: bool,
    /// Bytes of requests that the source has received and not answered.
    requested: u64,
    /// Sizes of objects requested and not answered.
    unanswered: VecDeque<u64>,
}

/// A page being read.
#[derive(Clone, Copy, Debug)]
struct Reading {
    began: Instant,
    /// Objects requested, and their total number.
    asked: u64,
    objects: u64,
    /// Objects that have arrived whole, and bytes of the next that have arrived.
    arrived: u64,
    bytes: u64,
}

impl Session {
    pub(super) fn new(http: Http, start: Instant, stream: Stream) -> Self {
        // The first page begins within one interval, at a random point of the user's reading.
        let part = stream.substream(BEFORE_ALL).uniform(INTERVAL);
        let wait = Duration::from_secs_f64(part * http.page_interval.as_secs_f64());
        Self {
            next: start + wait.unwrap_or(http.page_interval),
            http,
            stream,
            page: 0,
            reading: None,
            is_late: false,
            requested: 0,
            unanswered: VecDeque::new(),
        }
    }

    pub(super) const fn next_page(&self) -> Instant {
        self.next
    }

    pub(super) fn on_page_due(&mut self, now: Instant, actions: &mut VecDeque<Action>) {
        if self.reading.is_some() {
            // It waits; the one after it is due an interval after it begins.
            self.is_late = true;
            self.next = Instant::FAR_FUTURE;
        } else {
            self.begin(now, actions);
        }
    }

    fn begin(&mut self, now: Instant, actions: &mut VecDeque<Action>) {
        let draws = self.stream.substream(self.page);
        let objects = at_least_one(self.http.objects, draws, OBJECTS);
        let interval = exponential(self.http.page_interval, draws, INTERVAL);
        self.next = now + interval.max(Duration::from_nanos(1));
        self.is_late = false;
        self.reading = Some(Reading {
            began: now,
            asked: 0,
            objects,
            arrived: 0,
            bytes: 0,
        });
        let at_once = if self.http.pipelined { objects } else { 1 };
        for _ in 0..at_once {
            self.ask(actions);
        }
    }

    /// Requests the next object.
    fn ask(&mut self, actions: &mut VecDeque<Action>) {
        let Some(reading) = &mut self.reading else {
            return;
        };
        let size = at_least_one(
            self.http.object_size,
            self.stream.substream(self.page),
            SIZES + reading.asked,
        );
        reading.asked += 1;
        self.unanswered.push_back(size);
        actions.push_back(Action::Write {
            end: End::Sink,
            bytes: self.http.request.max(1),
        });
    }

    /// Records that the source has received this many bytes of requests.
    pub(super) fn on_request(&mut self, bytes: u64, actions: &mut VecDeque<Action>) {
        self.requested += bytes;
        while self.requested >= self.http.request.max(1)
            && let Some(size) = self.unanswered.pop_front()
        {
            self.requested -= self.http.request.max(1);
            actions.push_back(Action::Write {
                end: End::Source,
                bytes: size,
            });
        }
    }

    /// Records that the sink has received this many bytes of objects.
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        bytes: u64,
        actions: &mut VecDeque<Action>,
        transfers: &mut Transfers,
    ) {
        let draws = self.stream.substream(self.page);
        let Some(reading) = &mut self.reading else {
            return;
        };
        reading.bytes += bytes;
        while reading.arrived < reading.asked {
            let size = at_least_one(self.http.object_size, draws, SIZES + reading.arrived);
            if reading.bytes < size {
                return;
            }
            reading.bytes -= size;
            reading.arrived += 1;
        }
        if reading.asked < reading.objects {
            self.ask(actions);
            return;
        }
        transfers.complete(reading.began, now);
        self.reading = None;
        self.page += 1;
        if self.is_late {
            self.begin(now, actions);
        }
    }
}
