//! Best start: a connection begins with the final window of earlier sessions with its peer
//! (Srinivasan, WSC-TCP, §3.3).

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use airtcp_endpoint::Options;
use airtcp_sessions::{Limits, Sessions};
use airtcp_tcp::Connection;

/// The database of sessions, if any.
#[derive(Debug)]
pub struct BestStart(Option<Sessions>);

impl BestStart {
    /// Opens the database in `file`. Errors are reported, but not fatal.
    pub fn open(file: Option<&Path>) -> Self {
        Self(file.map(|file| {
            let (sessions, warning) = Sessions::open(file, Limits::default());
            if let Some(warning) = warning {
                eprintln!("airtcp-net: {warning}");
            }
            sessions
        }))
    }

    /// The options of a connection to `peer`: `usual`, with its known window.
    pub fn options(&self, usual: &Options, peer: IpAddr) -> Options {
        let mut options = usual.clone();
        if let Some(sessions) = &self.0
            && let Ok(Some(window)) = sessions.initial_window(&peer.to_string(), now(), 0)
        {
            Arc::make_mut(&mut options.config).initial_window = window;
        }
        options
    }

    /// Stores the final window of a session with `peer`, in segments.
    pub fn keep(&mut self, peer: IpAddr, connection: &Connection) {
        let Some(sessions) = &mut self.0 else {
            return;
        };
        let sender = connection.sender();
        let segments = sender.cwnd() / sender.mss().max(1);
        let window = u32::try_from(segments).unwrap_or(u32::MAX).max(1);
        if let Err(warning) = sessions.record(&peer.to_string(), now(), 0, window) {
            eprintln!("airtcp-net: {warning}");
        }
    }
}

/// Seconds since the start of 1970; hours of the day are in UTC.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn past_sessions_say_how_to_begin() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions");
        let usual = Options::default();
        let (known, other) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        for _ in 0..Limits::default().enough {
            let best_start = BestStart::open(Some(&file));
            assert_eq!(best_start.options(&usual, known).config, usual.config);
            let (mut sessions, _) = Sessions::open(&file, Limits::default());
            sessions.record("192.0.2.1", now(), 0, 33).unwrap();
        }
        let best_start = BestStart::open(Some(&file));
        assert_eq!(best_start.options(&usual, known).config.initial_window, 33);
        assert_eq!(best_start.options(&usual, other).config, usual.config);
        assert_eq!(
            BestStart::open(None).options(&usual, known).config,
            usual.config
        );
    }
}
