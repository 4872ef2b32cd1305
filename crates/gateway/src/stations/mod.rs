//! Failed attempts on the radio, if its driver counts them: nl80211's statistics of stations.
//!
//! The kernel reports no individual failed attempts, but a driver counts them by station, and the
//! counters are read ten times a second, by a separate thread: a busy driver blocks its callers.

mod message;

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::{Builder, sleep};
use std::time::Duration;

use netlink_packet_core::NLM_F_DUMP;
use tracing::warn;

use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::netlink::frame::{find, half_word, text};
use airtcp_host::netlink::{Connection, Part};
pub use message::Mac;
use message::{Answer, FAMILY, HEADER, Question, Station, header};

/// GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID and CTRL_ATTR_FAMILY_NAME of
/// include/uapi/linux/genetlink.h: the family that numbers the others, and its version.
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const CONTROLLER_VERSION: u8 = 2;

/// Interval between readings of the counters.
const EVERY: Duration = Duration::from_millis(100);

/// A station with recent failed attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failures {
    /// The station.
    pub station: Mac,
    /// Number of attempts.
    pub attempts: u32,
}

/// Reports on stations, while this value lives.
#[derive(Debug)]
pub struct Stations {
    news: Receiver<Failures>,
    /// The thread ends with it.
    _lives: Arc<()>,
}

impl Stations {
    /// Listens to every 802.11 device in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// There is no such device, or permission is missing.
    pub fn listen() -> Result<Self> {
        let driver = Driver::find()?;
        let (to, news) = channel();
        let lives = Arc::new(());
        let listener = Arc::downgrade(&lives);
        Builder::new()
            .name("stations".to_owned())
            .spawn(move || read_counters(&driver, &to, &listener))
            .tried(|| "cannot start a thread for stations".to_owned())?;
        Ok(Self {
            news,
            _lives: lives,
        })
    }

    /// The new reports.
    pub fn news(&self) -> impl Iterator<Item = Failures> + '_ {
        self.news.try_iter()
    }
}

/// Reads counters until nobody listens.
fn read_counters(driver: &Driver, to: &Sender<Failures>, listener: &Weak<()>) {
    let mut counters = Counters::default();
    let mut warned = false;
    while listener.strong_count() > 0 {
        match driver.stations() {
            Ok(stations) => {
                if !warned && stations.iter().any(|one| one.failed_attempts.is_none()) {
                    warn!("a driver does not count the attempts to a station that fail");
                    warned = true;
                }
                for news in counters.take(&stations) {
                    // The listener may be gone by now.
                    let _ = to.send(news);
                }
            }
            Err(cause) if !warned => {
                warn!(%cause, "nl80211 cannot be asked for stations");
                warned = true;
            }
            Err(_) => {}
        }
        sleep(EVERY);
    }
}

/// The counters at the last reading.
#[derive(Debug, Default)]
struct Counters(BTreeMap<Mac, u32>);

impl Counters {
    /// Returns the increments since the last reading, which a new station, or one with a reset
    /// counter, does not have yet.
    fn take(&mut self, stations: &[Station]) -> Vec<Failures> {
        let counted = |one: &Station| Some((one.address, one.failed_attempts?));
        let now: BTreeMap<_, _> = stations.iter().filter_map(counted).collect();
        let news = now.iter().filter_map(|(&station, &count)| {
            let attempts = count.wrapping_sub(*self.0.get(&station)?);
            (1..=u32::MAX / 2)
                .contains(&attempts)
                .then_some(Failures { station, attempts })
        });
        let news = news.collect();
        self.0 = now;
        news
    }
}

/// The connection to nl80211.
#[derive(Debug)]
struct Driver {
    netlink: Connection,
    /// The family's number, which the kernel reassigns at each start.
    family: u16,
}

impl Driver {
    fn find() -> Result<Self> {
        let failed = || "cannot ask the kernel for nl80211".to_owned();
        let netlink = Connection::open(Part::Generic).tried(failed)?;
        let mut question = header(GET_FAMILY, CONTROLLER_VERSION);
        question.extend(text(FAMILY_NAME, FAMILY));
        let answers = netlink
            .exchange(CONTROLLER, 0, &question)
            .map_err(|cause| {
                Error::system(failed(), cause).remedied_by(
                    "agent ebsn hears of failed attempts from the drivers of 802.11: look where \
                     one is loaded (`iw dev` lists its devices)",
                )
            })?;
        let family = answers
            .iter()
            .find_map(|(_, body)| half_word(find(body.get(HEADER..)?, FAMILY_ID)?, 0))
            .ok_or_else(|| Error::new(failed()))?;
        Ok(Self { netlink, family })
    }

    /// Every station of every device.
    fn stations(&self) -> io::Result<Vec<Station>> {
        let mut stations = Vec::new();
        for answer in self.dump(Question::Devices)? {
            let Answer::Device(device) = answer else {
                continue;
            };
            for answer in self.dump(Question::Stations { device })? {
                if let Answer::Station(station) = answer {
                    stations.push(station);
                }
            }
        }
        Ok(stations)
    }

    fn dump(&self, question: Question) -> io::Result<Vec<Answer>> {
        let answers = self
            .netlink
            .exchange(self.family, NLM_F_DUMP, &question.body())?;
        Ok(answers.iter().map(|(_, body)| Answer::read(body)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Mac = [2, 0, 0, 0, 0, 1];
    const OTHER: Mac = [2, 0, 0, 0, 0, 2];

    fn station(address: Mac, failed_attempts: Option<u32>) -> Station {
        Station {
            address,
            failed_attempts,
        }
    }

    #[test]
    fn what_is_added_is_news() {
        let mut counters = Counters::default();
        // Counts from before the first reading are not new, nor are missing counts.
        let first = [station(ONE, Some(u32::MAX - 1)), station(OTHER, None)];
        assert_eq!(counters.take(&first), []);
        let news = counters.take(&[station(ONE, Some(2)), station(OTHER, Some(9))]);
        let failures = |station, attempts| Failures { station, attempts };
        assert_eq!(news, [failures(ONE, 4)]);
        // A station that returned counts from zero.
        assert_eq!(
            counters.take(&[station(ONE, Some(0)), station(OTHER, Some(10))]),
            [failures(OTHER, 1)]
        );
        assert_eq!(counters.take(&[]), []);
        assert_eq!(counters.take(&[station(OTHER, Some(50))]), []);
    }

    /// A kernel without 802.11 gives an error with a remedy; another one gives its stations.
    #[test]
    fn the_kernel_is_asked() {
        match Driver::find() {
            Ok(driver) => drop(driver.stations().unwrap()),
            Err(error) => {
                assert!(error.to_string().contains("nl80211"), "{error}");
                airtcp_needs::skip(error);
            }
        }
    }
}
