//! The devices at the two ends of a link, and their readiness.

use std::os::fd::BorrowedFd;

use airtcp_host::device::Tun;
use rustix::event::{PollFd, PollFlags};

use crate::end::End;

/// A pair of devices for each station: the station's, and the server's for it.
#[derive(Debug)]
pub(super) struct Devices {
    pairs: Vec<[Tun; 2]>,
}

impl Devices {
    /// Creates the pairs; the lists are of one length.
    pub fn new(stations: Vec<Tun>, server: Vec<Tun>) -> Self {
        let pairs = stations.into_iter().zip(server);
        Self {
            pairs: pairs.map(|(station, server)| [station, server]).collect(),
        }
    }

    /// Number of stations.
    pub const fn stations(&self) -> usize {
        self.pairs.len()
    }

    /// The device at this end of the path between `station` and the server.
    ///
    /// # Panics
    ///
    /// There is no such station.
    pub fn at(&self, station: usize, end: End) -> &Tun {
        &self.pairs[station][side(end)]
    }

    /// Descriptors for poll(2): `stop`, and every device in the order of [`Ready`].
    pub fn waited<'a>(&'a self, stop: BorrowedFd<'a>) -> Vec<PollFd<'a>> {
        std::iter::once(PollFd::from_borrowed_fd(stop, PollFlags::IN))
            .chain(
                self.pairs
                    .iter()
                    .flatten()
                    .map(|device| PollFd::new(device, PollFlags::IN)),
            )
            .collect()
    }

    /// Whether poll(2) found `stop` readable or closed.
    pub fn is_stopped(waited: &[PollFd<'_>]) -> bool {
        !waited[0].revents().is_empty()
    }

    /// The state in which each device may have packets.
    pub fn all_ready(&self) -> Ready {
        Ready(vec![true; 2 * self.pairs.len()])
    }
}

/// Devices that may have packets: a read without a packet costs as much as half a packet, and most
/// of a link's wake-ups are for one end or for neither.
#[derive(Clone, Debug)]
pub(super) struct Ready(Vec<bool>);

impl Ready {
    /// Takes over the result of poll(2).
    pub fn read_from(&mut self, waited: &[PollFd<'_>]) {
        for (ready, device) in self.0.iter_mut().zip(&waited[1..]) {
            *ready = !device.revents().is_empty();
        }
    }

    /// Notes that every device may have packets: others get some while one is read.
    pub fn set_all(&mut self) {
        self.0.fill(true);
    }

    /// Whether any may have packets.
    pub fn any(&self) -> bool {
        self.0.contains(&true)
    }

    /// Whether the device at this end may have packets.
    pub fn is(&self, station: usize, end: End) -> bool {
        self.0[2 * station + side(end)]
    }

    /// Notes whether the device at this end may have packets.
    pub fn set(&mut self, station: usize, end: End, ready: bool) {
        self.0[2 * station + side(end)] = ready;
    }
}

const fn side(end: End) -> usize {
    match end {
        End::Station(_) => 0,
        End::Server => 1,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use rustix::event::poll;

    use super::*;

    /// Sockets in place of devices: poll(2) detects which are readable.
    #[test]
    fn what_poll_finds_is_read_by_station_and_end() {
        let pairs: Vec<_> = (0..5).map(|_| UnixStream::pair().unwrap()).collect();
        let (stop, devices) = pairs.split_first().unwrap();
        let mut waited = vec![PollFd::from_borrowed_fd(stop.0.as_fd(), PollFlags::IN)];
        waited.extend(devices.iter().map(|one| PollFd::new(&one.0, PollFlags::IN)));
        (&devices[3].1).write_all(b"x").unwrap();
        poll(&mut waited, Some(&rustix::event::Timespec::default())).unwrap();
        let mut ready = Ready(vec![true; 4]);
        ready.read_from(&waited);
        assert!(ready.is(1, End::Server) && ready.any());
        assert!(!ready.is(1, End::Station(1)) && !ready.is(0, End::Server));
        assert!(!Devices::is_stopped(&waited));
        ready.set(1, End::Server, false);
        assert!(!ready.any());
    }
}
