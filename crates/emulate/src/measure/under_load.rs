//! The probes of `flows.under_load`, by the kernel's sockets: echo requests, and new connections
//! with one exchange each, from the first flow's mobile to its server, as in `airtcp run`.
//!
//! Sizes and times are defined in `airtcp_scenario`, except that connections open at regular
//! instead of random times.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

use airtcp_host::clock::Clock;
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::namespace::Namespace;
use airtcp_scenario::probes::{EXCHANGE, LAST_BEFORE_END, PING_BYTES, PROBE_INTERVAL, WARM_UP};
use airtcp_scenario::{Companion, FlowDirection, Scenario};
use airtcp_units::Instant;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, ipproto, recv, send,
    socket_with, sockopt,
};
use serde::Serialize;

/// The port at which exchanges are answered.
const PORT: u16 = 5002;
/// Interval at which a waiting thread checks for the end.
const LOOK: StdDuration = StdDuration::from_millis(20);
/// Header of an echo request (RFC 792).
const ECHO_HEADER: usize = 8;
const ECHO_REQUEST: u8 = 8;
const ECHO_REPLY: u8 = 0;
/// The identifier of this process's requests.
const ECHO_IDENTIFIER: [u8; 2] = [0xa1, 0x7c];

/// Measurements of the probes; the caller computes the statistics.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UnderLoad {
    /// Round trips of echo requests in milliseconds, in the order in which they were sent; null
    /// without an answer.
    pub pings_ms: Vec<Option<f64>>,
    /// The connections, in order of completion.
    pub exchanges: Vec<Exchange>,
}

/// A connection with its exchange.
#[derive(Clone, Debug, Serialize)]
pub struct Exchange {
    /// Times of the handshake, TLS's round trip and the request's, in milliseconds. The last one of
    /// an unfinished connection is the time so far.
    pub parts_ms: Vec<f64>,
    /// Whether it was completed.
    pub is_finished: bool,
}

/// The probes of a scenario.
#[derive(Clone, Debug)]
pub struct Probes {
    pings: bool,
    exchanges: bool,
    /// Whether the probing end is the receiver of the load, as in `airtcp run`.
    pub mobile_receives: bool,
    begin: Instant,
    end: Instant,
}

impl Probes {
    /// The probes of a scenario; `None` without probes.
    ///
    /// # Errors
    ///
    /// It requests probes that only a simulation has.
    pub fn of(scenario: &Scenario) -> Result<Option<Self>> {
        let under_load = &scenario.flows.under_load;
        let is_known = |one: &&Companion| matches!(one, Companion::Ping | Companion::Exchange);
        if under_load.iter().any(|one| !is_known(&one)) {
            return Err(Error::new(
                "flows.under_load: the kernel is measured with \"ping\" and \"exchange\" under \
                 load; calls, short flows and pages are simulated alone, leave them out",
            ));
        }
        Ok((!under_load.is_empty()).then(|| Self {
            pings: under_load.contains(&Companion::Ping),
            exchanges: under_load.contains(&Companion::Exchange),
            mobile_receives: scenario
                .mobile_receives(0)
                .unwrap_or_else(|| scenario.flows.direction_of(0) == FlowDirection::Down),
            begin: Instant::ZERO + scenario.duration / WARM_UP,
            end: Instant::ZERO + scenario.duration,
        }))
    }

    /// Runs the probes until the end, between these namespaces; the address is the server's.
    ///
    /// # Errors
    ///
    /// A socket is not allowed.
    pub fn run(
        &self,
        [client, server]: [&Namespace; 2],
        to: Ipv4Addr,
        clock: Clock,
        stop: &AtomicBool,
    ) -> Result<UnderLoad> {
        let to_port = SocketAddr::new(IpAddr::V4(to), PORT);
        let listener = server
            .enter(|| TcpListener::bind(to_port).tried(|| format!("cannot listen at {to_port}")))?;
        std::thread::scope(|scope| {
            let answering = scope.spawn(|| answer_all(&listener, stop));
            let pinging = scope.spawn(|| {
                if self.pings {
                    client.enter(|| self.ping(to, clock, stop))
                } else {
                    Ok(Vec::new())
                }
            });
            let exchanges = Mutex::new(Vec::new());
            if self.exchanges {
                client.enter(|| {
                    self.exchange_all(to_port, clock, stop, &exchanges);
                    Ok(())
                })?;
            }
            let pings_ms = pinging.join().unwrap_or_else(|_| Err(panicked()))?;
            answering.join().unwrap_or_else(|_| Err(panicked()))?;
            Ok(UnderLoad {
                pings_ms,
                exchanges: exchanges.into_inner().map_err(|_| panicked())?,
            })
        })
    }

    /// Opens one connection after the other, whether earlier ones are finished or not.
    fn exchange_all(
        &self,
        to: SocketAddr,
        clock: Clock,
        stop: &AtomicBool,
        found: &Mutex<Vec<Exchange>>,
    ) {
        std::thread::scope(|scope| {
            let mut next = self.begin;
            while next + PROBE_INTERVAL + LAST_BEFORE_END <= self.end {
                if !wait_until(next, clock, stop) {
                    return;
                }
                next += PROBE_INTERVAL;
                // A thread started here stays in this namespace.
                scope.spawn(move || {
                    let one = exchange(to, clock, self.end);
                    if let Ok(mut found) = found.lock() {
                        found.push(one);
                    }
                });
            }
        });
    }

    /// Sends echo requests, and receives their answers.
    fn ping(&self, to: Ipv4Addr, clock: Clock, stop: &AtomicBool) -> Result<Vec<Option<f64>>> {
        let socket = socket_with(
            AddressFamily::INET,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(ipproto::ICMP),
        )
        .and_then(|socket| {
            connect(&socket, &SocketAddr::new(IpAddr::V4(to), 0))?;
            Ok(socket)
        })
        .tried(|| "cannot send echo requests".to_owned())?;
        let mut sent: Vec<Instant> = Vec::new();
        let mut found = Vec::new();
        let mut next = self.begin;
        let mut buffer = [0; 256];
        if !wait_until(next, clock, stop) {
            return Ok(found);
        }
        while clock.now() < self.end && !stop.load(Ordering::Relaxed) {
            let now = clock.now();
            if now >= next && next + LAST_BEFORE_END <= self.end {
                sent.push(now);
                found.push(None);
                // If the queue is full the request is lost, like any other packet.
                let request = echo_request(sent.len() as u16 - 1);
                let _ = send(&socket, &request, SendFlags::empty());
                next += PROBE_INTERVAL;
            }
            let until = (next.min(self.end).as_nanos()).saturating_sub(clock.now().as_nanos());
            let limit = StdDuration::from_nanos(until).clamp(StdDuration::from_millis(1), LOOK);
            sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(limit))
                .tried(|| "cannot limit the time of a read".to_owned())?;
            match recv(&socket, buffer.as_mut_slice(), RecvFlags::empty()) {
                Ok((length, _)) => {
                    let number = echo_reply(&buffer[..length]).map(usize::from);
                    let known = number.and_then(|number| sent.get(number).map(|at| (number, *at)));
                    if let Some((number, at)) = known {
                        found[number] = Some((clock.now() - at).as_millis_f64());
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error).tried(|| "cannot read an echo".to_owned()),
            }
        }
        Ok(found)
    }
}

fn panicked() -> Error {
    Error::new("a thread of airtcp-net has panicked")
}

/// Waits; returns whether the run goes on.
fn wait_until(start: Instant, clock: Clock, stop: &AtomicBool) -> bool {
    while !stop.load(Ordering::Relaxed) {
        let left = start.as_nanos().saturating_sub(clock.now().as_nanos());
        if left == 0 {
            return true;
        }
        std::thread::sleep(StdDuration::from_nanos(left).min(LOOK));
    }
    false
}

/// One connection, until it is finished or the time is over.
fn exchange(to: SocketAddr, clock: Clock, end: Instant) -> Exchange {
    let mut parts_ms = Vec::new();
    let mut since = clock.now();
    let mut over = |at: Instant| {
        parts_ms.push((at - since).as_millis_f64());
        since = at;
    };
    let is_finished = steps(to, clock, end, &mut over).is_ok();
    if !is_finished {
        over(clock.now().max(end));
    }
    Exchange {
        parts_ms,
        is_finished,
    }
}

/// The handshake and the steps; `over` is called after each.
fn steps(
    to: SocketAddr,
    clock: Clock,
    end: Instant,
    over: &mut impl FnMut(Instant),
) -> std::io::Result<()> {
    let left = || {
        let left = end.as_nanos().saturating_sub(clock.now().as_nanos());
        StdDuration::from_nanos(left).max(StdDuration::from_millis(1))
    };
    let mut stream = TcpStream::connect_timeout(&to, left())?;
    over(clock.now());
    for step in EXCHANGE {
        stream.write_all(&vec![0; step.request as usize])?;
        stream.set_read_timeout(Some(left()))?;
        stream.read_exact(&mut vec![0; step.answer as usize])?;
        over(clock.now());
    }
    Ok(())
}

/// Answers every connection until asked to stop.
fn answer_all(listener: &TcpListener, stop: &AtomicBool) -> Result<()> {
    listener
        .set_nonblocking(true)
        .tried(|| "cannot listen without waiting".to_owned())?;
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((stream, _)) => {
                    // A client that has left is no error.
                    scope.spawn(move || drop(answer(stream, stop)));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(StdDuration::from_micros(200));
                }
                Err(error) => return Err(Error::system("cannot accept a connection", error)),
            }
        }
        Ok(())
    })
}

fn answer(mut stream: TcpStream, stop: &AtomicBool) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(LOOK))?;
    for step in EXCHANGE {
        let mut missing = step.request as usize;
        while missing > 0 {
            match stream.read(&mut vec![0; missing]) {
                Ok(0) => return Ok(()),
                Ok(read) => missing -= read,
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
                        && !stop.load(Ordering::Relaxed) => {}
                Err(error) => return Err(error),
            }
        }
        stream.write_all(&vec![0; step.answer as usize])?;
    }
    Ok(())
}

/// An echo request with this number.
fn echo_request(number: u16) -> Vec<u8> {
    let mut bytes = vec![0; ECHO_HEADER + PING_BYTES as usize];
    bytes[0] = ECHO_REQUEST;
    bytes[4..6].copy_from_slice(&ECHO_IDENTIFIER);
    bytes[6..8].copy_from_slice(&number.to_be_bytes());
    let sum = checksum(&bytes);
    bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// The number of the request answered by an IPv4 packet, if it is one of ours.
fn echo_reply(packet: &[u8]) -> Option<u16> {
    let header = usize::from(packet.first()? & 0x0f) * 4;
    let message = packet.get(header..)?;
    let is_ours = *message.first()? == ECHO_REPLY && message.get(4..6)? == ECHO_IDENTIFIER;
    let number = message.get(6..8)?.try_into().ok()?;
    is_ours.then(|| u16::from_be_bytes(number))
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use airtcp_units::Duration;

    use super::*;

    /// RFC 1071 §3: the words 0001 f203 f4f5 f6f7 add up to ddf2.
    #[test]
    fn the_checksum_is_that_of_the_rfcs_example() {
        let words = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&words), !0xddf2);
        // Data that includes its checksum adds up to zero.
        assert_eq!(checksum(&echo_request(7)), 0);
    }

    #[test]
    fn an_answer_is_known_by_its_number() {
        let mut packet = vec![0; 20];
        packet[0] = 0x45;
        packet.extend(echo_request(300));
        assert_eq!(echo_reply(&packet), None, "a request is no answer");
        packet[20] = ECHO_REPLY;
        assert_eq!(echo_reply(&packet), Some(300));
        packet[24] = 0;
        assert_eq!(echo_reply(&packet), None, "another program's");
        assert_eq!(echo_reply(&packet[..22]), None);
    }

    /// A server on this machine, without a link.
    #[test]
    fn an_exchange_has_three_parts() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let stop = AtomicBool::new(false);
        let clock = Clock::start();
        let end = clock.now() + Duration::from_secs(60);
        let one = std::thread::scope(|scope| {
            scope.spawn(|| answer_all(&listener, &stop).unwrap());
            let one = exchange(at, clock, end);
            stop.store(true, Ordering::Relaxed);
            one
        });
        assert!(one.is_finished);
        assert_eq!(one.parts_ms.len(), 3);
        // There is no answer: the handshake has the time so far.
        drop(listener);
        let refused = exchange(at, clock, clock.now() + Duration::from_millis(1));
        assert_eq!((refused.parts_ms.len(), refused.is_finished), (1, false));
    }
}
