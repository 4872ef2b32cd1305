use airtcp_link::Stream;
use airtcp_scenario::{Email, Ftp, Http, Mix, Traffic};
use proptest::prelude::*;

use super::*;

fn stream(flow: u64) -> Stream {
    Stream::new(1, "traffic").substream(flow)
}

fn seconds(number: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(number)
}

const HTTP: Http = Http {
    page_interval: Duration::from_secs(60),
    object_size: 5000.0,
    objects: 7.0,
    request: 350,
    pipelined: false,
};

const EMAIL: Email = Email {
    size: 2000,
    interval: Duration::from_secs(120),
};

/// Runs a session over a transport that takes `latency` each way and loses nothing, until `end`;
/// returns the bytes of source and sink, and the times of all writes.
fn carry(session: &mut Session, latency: Duration, end: Instant) -> (u64, u64, Vec<Instant>) {
    let (mut source, mut sink, mut times) = (0, 0, Vec::new());
    let mut under_way: Vec<(Instant, End, u64)> = Vec::new();
    let mut now = Instant::ZERO;
    loop {
        while let Some(action) = session.poll() {
            if let Action::Write { end, bytes } = action {
                assert!(bytes > 0, "nothing is written");
                times.push(now);
                let (sum, to) = match end {
                    End::Source => (&mut source, End::Sink),
                    End::Sink => (&mut sink, End::Source),
                };
                *sum += bytes;
                under_way.push((now + latency, to, bytes));
            }
        }
        under_way.sort_by_key(|(arrival, ..)| *arrival);
        let arrival = under_way
            .first()
            .map_or(Instant::FAR_FUTURE, |first| first.0);
        let next = arrival.min(session.next_wakeup());
        if next > end {
            return (source, sink, times);
        }
        assert!(next >= now, "it wants to be woken in the past");
        now = next;
        if arrival == next {
            let (_, to, bytes) = under_way.remove(0);
            session.on_received(now, to, bytes);
        } else {
            session.on_wakeup(now);
        }
    }
}

/// Mean and standard deviation of many exponential draws are both the mean.
#[test]
fn draws_are_exponential() {
    let mean = Duration::from_secs(60);
    let draws: Vec<f64> = (0..40_000)
        .map(|i| exponential(mean, stream(0), i).as_secs_f64())
        .collect();
    let average = draws.iter().sum::<f64>() / 40_000.0;
    let variance = draws
        .iter()
        .map(|draw| (draw - average).powi(2))
        .sum::<f64>()
        / 40_000.0;
    // Standard errors: 60/√40000 = 0.3 and about 60·√2/200 = 0.42.
    assert!((average - 60.0).abs() < 1.2, "{average}");
    assert!((variance.sqrt() - 60.0).abs() < 1.7, "{variance}");
}

/// Over a day at one page a minute, 7.0 objects a page and 5 kB an object: 1440 pages and 50 MB,
/// with standard errors of 1/√1440 = 2.6 % and about 4.2 %. (Rounding to at least one object makes
/// the mean number of objects 7.03.) A request of 350 bytes for each object.
#[test]
fn pages_have_the_papers_size_and_number() {
    let mut session = Session::new(&Traffic::Http(HTTP), Instant::ZERO, stream(3));
    let (source, sink, _) = carry(&mut session, Duration::from_millis(20), seconds(86_400));
    let pages = session.transfers().completed as f64;
    assert!((pages / 1440.0 - 1.0).abs() < 0.11, "{pages}");
    assert!(
        (source as f64 / (pages * 7.03 * 5000.0) - 1.0).abs() < 0.17,
        "{source}"
    );
    assert_eq!(sink % 350, 0);
    let objects = sink as f64 / 350.0;
    assert!((objects / (pages * 7.03) - 1.0).abs() < 0.11, "{objects}");
    // One object after the other: a page of k objects takes 2k times 20 ms.
    let mean = session.transfers().time.as_secs_f64() / pages;
    assert!(
        (mean / (objects / pages * 0.040) - 1.0).abs() < 0.01,
        "{mean}"
    );
}

/// All requests of a page at once: it takes one round trip, whatever its content.
#[test]
fn a_pipelined_page_takes_one_round_trip() {
    let pipelined = Http {
        pipelined: true,
        ..HTTP
    };
    let mut session = Session::new(&Traffic::Http(pipelined), Instant::ZERO, stream(3));
    carry(&mut session, Duration::from_millis(20), seconds(3600));
    let Transfers { completed, time } = session.transfers();
    assert!(completed > 30);
    assert_eq!(time, Duration::from_millis(40) * completed);
}

/// A page takes longer than an interval: the next begins when it is complete, and no page is
/// skipped.
#[test]
fn a_late_page_follows_at_once() {
    let hasty = Http {
        page_interval: Duration::from_millis(100),
        objects: 1.0,
        ..HTTP
    };
    let mut session = Session::new(&Traffic::Http(hasty), Instant::ZERO, stream(0));
    carry(&mut session, Duration::from_secs(1), seconds(101));
    // At least 2 s per page (some have two objects), one after the other.
    let Transfers { completed, time } = session.transfers();
    assert!((25..=50).contains(&completed), "{completed}");
    assert!(time.as_secs_f64() > 98.0, "{time}");
}

/// A message every 120 s: 720 in a day, 3.7 % of standard error; each takes 20 ms.
#[test]
fn messages_come_when_they_come() {
    let mut session = Session::new(&Traffic::Email(EMAIL), Instant::ZERO, stream(5));
    let (source, sink, _) = carry(&mut session, Duration::from_millis(20), seconds(86_400));
    let Transfers { completed, time } = session.transfers();
    assert!((completed as f64 / 720.0 - 1.0).abs() < 0.15, "{completed}");
    assert_eq!((source, sink), (2000 * completed, 0));
    assert_eq!(time, Duration::from_millis(20) * completed);
}

#[test]
fn files_follow_each_other_or_end_the_connection() {
    let ftp = |repeat| {
        Traffic::Ftp(Ftp {
            size: 16_000_000,
            repeat,
        })
    };
    let mut once = Session::new(&ftp(false), Instant::ZERO, stream(0));
    let actions: Vec<_> = std::iter::from_fn(|| once.poll()).collect();
    let write = Action::Write {
        end: End::Source,
        bytes: 16_000_000,
    };
    assert_eq!(actions, [write, Action::Close]);
    once.on_received(seconds(9), End::Sink, 15_999_999);
    assert_eq!(once.transfers().completed, 0);
    once.on_received(seconds(10), End::Sink, 1);
    assert_eq!(once.transfers().time, Duration::from_secs(10));
    assert_eq!(once.poll(), None);
    let mut again = Session::new(&ftp(true), Instant::ZERO, stream(0));
    let (source, ..) = carry(&mut again, Duration::from_secs(1), seconds(10));
    assert_eq!((source, again.transfers().completed), (11 * 16_000_000, 10));
}

/// Mahmoodi et al. §IV: 40 % FTP, 35 % HTTP, 25 % e-mail. Of 15 clients 6, 5.25 and 3.75: 6, 5, 4.
#[test]
fn clients_are_shared_out_by_largest_remainders() {
    let ftp = Traffic::Ftp(Ftp {
        size: 1,
        repeat: true,
    });
    let mix = Mix {
        shares: vec![
            (0.40, Some(ftp)),
            (0.35, Some(Traffic::Http(HTTP))),
            (0.25, Some(Traffic::Email(EMAIL))),
        ],
    };
    let count = |flows| {
        let assigned = mix.assign(flows);
        assert_eq!(assigned.len(), flows as usize);
        mix.shares
            .iter()
            .map(|(_, traffic)| assigned.iter().filter(|one| *one == traffic).count())
            .collect::<Vec<_>>()
    };
    assert_eq!(count(15), [6, 5, 4]);
    assert_eq!(count(5), [2, 2, 1]);
    assert_eq!(count(10), [4, 4, 2]);
    assert_eq!(count(20), [8, 7, 5]);
    // They are spread: no three consecutive flows carry the same.
    let assigned = mix.assign(20);
    assert!(
        assigned
            .windows(3)
            .all(|three| three[0] != three[1] || three[1] != three[2])
    );
}

proptest! {
    /// A page's content does not depend on the transport: the same bytes, sooner or later.
    #[test]
    fn traffic_is_the_same_for_every_transport(flow in 0_u64..1000, slow in 1_u64..200) {
        let pages = |latency| {
            let mut session = Session::new(&Traffic::Http(HTTP), Instant::ZERO, stream(flow));
            carry(&mut session, latency, seconds(100_000));
            session.transfers().completed
        };
        let (fast, late) = (pages(Duration::from_millis(1)), pages(Duration::from_millis(slow)));
        prop_assert!(fast.abs_diff(late) <= 40, "{fast} {late}");
    }
}
