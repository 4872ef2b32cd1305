//! A client's side: the cookies that servers granted.

use alloc::collections::VecDeque;
use core::net::IpAddr;

use airtcp_packet::{FastOpen, Segment};
use airtcp_tcp::FastOpenSyn;
use airtcp_units::{Duration, Instant};
use hashbrown::HashMap;

use crate::secret::Secret;
use crate::tuple::FourTuple;

/// Space for a SYN's options, with room for options added by a middlebox (Linux,
/// `MAX_TCP_OPTION_SPACE`).
const OPTION_BYTES: u16 = 40;
/// The MSS of a server without the option (RFC 9293 §3.7.1).
const DEFAULT_MSS: u16 = 536;
/// Maximum number of doublings of the pause (Linux, `tcp_fastopen_active_should_disable`).
const DOUBLINGS: u32 = 6;

/// How a connection is opened with data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastOpenConnect {
    /// Whether the SYN carries data although no cookie is known (Linux, `tcp_fastopen`, 0x4).
    pub without_cookie: bool,
}

/// Settings of a client's cache of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// Maximum number of servers; beyond it the one learned of first is forgotten.
    pub most: usize,
    /// Time without data in SYNs after a connection with such data was silenced: the path may drop
    /// packets after such a SYN. Doubled each time, up to 64 times as long. Off as in Linux since
    /// 5.14 (`tcp_fastopen_blackhole_timeout_sec`: 0).
    pub pause: Option<Duration>,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self {
            most: 4096,
            pause: None,
        }
    }
}

/// The state of a server.
#[derive(Clone, Copy, Debug, Default)]
struct Server {
    mss: Option<u16>,
    cookie: Option<FastOpen>,
    format: Format,
}

/// The formats in which a cookie request was not answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Format {
    #[default]
    None,
    /// The assigned number was not answered: the experimental format is tried once.
    Standard,
    /// Neither was.
    Both,
}

/// The request of a SYN, and whether it was retransmitted.
pub type Learned = (FastOpenSyn, bool);

/// A client's knowledge of servers, by its address and theirs: cookies, segment sizes, formats.
#[derive(Debug)]
pub struct FastOpenCache {
    settings: CacheSettings,
    servers: HashMap<(IpAddr, IpAddr), Server, Secret>,
    /// Their order of arrival.
    order: VecDeque<(IpAddr, IpAddr)>,
    paused_until: Instant,
    pauses: u32,
}

impl FastOpenCache {
    /// An empty cache; `key` is secret and keeps peers from choosing their position in it.
    #[must_use]
    pub fn new(key: [u8; 16], settings: CacheSettings) -> Self {
        Self {
            settings,
            servers: HashMap::with_hasher(Secret::new(key)),
            order: VecDeque::new(),
            paused_until: Instant::ZERO,
            pauses: 0,
        }
    }

    fn server(&self, tuple: &FourTuple) -> Server {
        let key = (tuple.local.ip(), tuple.remote.ip());
        self.servers.get(&key).copied().unwrap_or_default()
    }

    /// Whether a SYN to the remote end may carry data now.
    #[must_use]
    pub fn allows_data(&self, now: Instant, tuple: &FourTuple, how: FastOpenConnect) -> bool {
        let knows = how.without_cookie || self.server(tuple).cookie.is_some();
        knows && now >= self.paused_until
    }

    /// The Fast Open content of a SYN if a segment without options holds `payload` bytes: a cookie
    /// and data, or the request of one (Linux, `tcp_send_syn_data`).
    #[must_use]
    pub fn syn(
        &self,
        now: Instant,
        tuple: &FourTuple,
        payload: u16,
        how: FastOpenConnect,
    ) -> FastOpenSyn {
        let server = self.server(tuple);
        if !self.allows_data(now, tuple, how) {
            let request = if server.format == Format::Standard {
                FastOpen::REQUEST.experimental()
            } else {
                FastOpen::REQUEST
            };
            return FastOpenSyn {
                option: (now >= self.paused_until).then_some(request),
                most: 0,
            };
        }
        let mss = server.mss.map_or(payload, |mss| mss.min(payload));
        FastOpenSyn {
            option: server.cookie.filter(|_| !how.without_cookie),
            most: mss.saturating_sub(OPTION_BYTES).into(),
        }
    }

    /// Learns from `answer`, the SYN-ACK to a SYN with a request for Fast Open (Linux,
    /// `tcp_rcv_fastopen_synack` and `tcp_fastopen_cache_set`).
    pub fn learn(
        &mut self,
        tuple: &FourTuple,
        (asked, is_retransmitted): Learned,
        answer: &Segment,
    ) {
        let key = (tuple.local.ip(), tuple.remote.ip());
        if !self.servers.contains_key(&key) {
            self.order.push_back(key);
            if self.order.len() > self.settings.most.max(1)
                && let Some(first) = self.order.pop_front()
            {
                self.servers.remove(&first);
            }
        }
        let server = self.servers.entry(key).or_default();
        server.mss = Some(answer.mss.filter(|&mss| mss > 0).unwrap_or(DEFAULT_MSS));
        let Some(option) = asked.option else {
            // An unsolicited cookie is ignored.
            return;
        };
        match answer.fast_open().filter(|cookie| !cookie.is_request()) {
            Some(cookie) => server.cookie = Some(cookie),
            None if !is_retransmitted && option.is_request() => {
                let tried = if option.is_experimental() {
                    Format::Both
                } else {
                    Format::Standard
                };
                if server.cookie.is_none() {
                    server.format = server.format.max(tried);
                }
            }
            None => {}
        }
    }

    /// A connection with a request for Fast Open in its SYN was silenced (Linux,
    /// `tcp_fastopen_active_disable`).
    pub fn on_silenced(&mut self, now: Instant) {
        if let Some(pause) = self.settings.pause {
            self.paused_until = now + pause * (1 << self.pauses.min(DOUBLINGS));
            self.pauses = self.pauses.saturating_add(1);
        }
    }

    /// A connection with data in its SYN received data.
    pub const fn on_success(&mut self) {
        self.pauses = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(remote: &str) -> FourTuple {
        FourTuple {
            local: "10.0.0.1:5000".parse().unwrap(),
            remote: remote.parse().unwrap(),
        }
    }

    fn cache(settings: CacheSettings) -> FastOpenCache {
        FastOpenCache::new([1; 16], settings)
    }

    /// A SYN-ACK with an MSS, and with a cookie or without.
    fn answer(mss: u16, cookie: Option<&[u8]>) -> Segment {
        let mut answer = Segment {
            mss: Some(mss),
            ..Segment::default()
        };
        if let Some(cookie) = cookie {
            answer.set_fast_open(FastOpen::cookie(cookie).unwrap());
        }
        answer
    }

    const ASKS: FastOpenConnect = FastOpenConnect {
        without_cookie: false,
    };
    const BARE: FastOpenConnect = FastOpenConnect {
        without_cookie: true,
    };
    const NOW: Instant = Instant::ZERO;

    /// The first connection requests; later ones carry data, of the server's MSS less 40.
    #[test]
    fn a_granted_cookie_is_carried_by_the_next_syn() {
        let mut cache = cache(CacheSettings::default());
        let server = tuple("10.0.0.2:80");
        let asked = cache.syn(NOW, &server, 1460, ASKS);
        assert_eq!((asked.option, asked.most), (Some(FastOpen::REQUEST), 0));
        cache.learn(&server, (asked, false), &answer(940, Some(&[1; 8])));
        let other_port = tuple("10.0.0.2:443");
        let asked = cache.syn(NOW, &other_port, 1460, ASKS);
        assert_eq!(asked.option, FastOpen::cookie(&[1; 8]));
        assert_eq!(asked.most, 900);
        // A later answer without one leaves it, and replaces the MSS; it never exceeds ours.
        cache.learn(&server, (asked, false), &answer(9000, None));
        let asked = cache.syn(NOW, &server, 1460, ASKS);
        assert_eq!(
            (asked.option, asked.most),
            (FastOpen::cookie(&[1; 8]), 1420)
        );
        assert!(!cache.allows_data(NOW, &tuple("10.0.0.3:80"), ASKS));
    }

    /// An unsolicited cookie is not kept; without cookies data leaves all the same.
    #[test]
    fn an_unsolicited_cookie_is_nothing() {
        let mut cache = cache(CacheSettings::default());
        let server = tuple("10.0.0.2:80");
        let asked = cache.syn(NOW, &server, 1460, BARE);
        assert_eq!((asked.option, asked.most), (None, 1420));
        cache.learn(&server, (asked, false), &answer(940, Some(&[1; 8])));
        assert!(!cache.allows_data(NOW, &server, ASKS));
        assert_eq!(cache.syn(NOW, &server, 1460, BARE).most, 900);
    }

    /// The assigned number, then the experimental format once, then the assigned number.
    #[test]
    fn the_experimental_format_is_tried_once() {
        let mut cache = cache(CacheSettings::default());
        let server = tuple("10.0.0.2:80");
        let formats = [false, true, false, false].map(|_| {
            let asked = cache.syn(NOW, &server, 1460, ASKS);
            cache.learn(&server, (asked, false), &answer(1460, None));
            asked.option.unwrap().is_experimental()
        });
        assert_eq!(formats, [false, true, false, false]);
        // A retransmitted SYN carried no request: its answer implies nothing about formats.
        let other = tuple("10.0.0.3:80");
        let asked = cache.syn(NOW, &other, 1460, ASKS);
        cache.learn(&other, (asked, true), &answer(1460, None));
        let asked = cache.syn(NOW, &other, 1460, ASKS);
        assert_eq!(asked.option, Some(FastOpen::REQUEST));
    }

    #[test]
    fn the_first_server_is_forgotten_where_there_are_too_many() {
        let mut cache = cache(CacheSettings {
            most: 2,
            pause: None,
        });
        let servers = ["10.0.0.2:80", "10.0.0.3:80", "10.0.0.4:80"].map(tuple);
        for server in &servers {
            let asked = cache.syn(NOW, server, 1460, ASKS);
            cache.learn(server, (asked, false), &answer(1460, Some(&[1; 8])));
        }
        let known = servers.map(|server| cache.allows_data(NOW, &server, ASKS));
        assert_eq!(known, [false, true, true]);
    }

    /// A pause of 10 s, doubled at each further silence, and 10 s after a success.
    #[test]
    fn silence_pauses_it_for_longer_each_time() {
        let mut cache = cache(CacheSettings {
            pause: Some(Duration::from_secs(10)),
            ..CacheSettings::default()
        });
        let server = tuple("10.0.0.2:80");
        let at = |seconds| NOW + Duration::from_secs(seconds);
        let allowed =
            |cache: &FastOpenCache, seconds| cache.allows_data(at(seconds), &server, BARE);
        cache.on_silenced(at(0));
        assert!(!allowed(&cache, 9) && allowed(&cache, 10));
        assert_eq!(cache.syn(at(9), &server, 1460, ASKS).option, None);
        cache.on_silenced(at(10));
        assert!(!allowed(&cache, 29) && allowed(&cache, 30));
        cache.on_success();
        cache.on_silenced(at(30));
        assert!(!allowed(&cache, 39) && allowed(&cache, 40));
        for _ in 0..100 {
            cache.on_silenced(at(40));
        }
        assert!(allowed(&cache, 40 + 640) && !allowed(&cache, 40 + 639));
    }
}
