//! Readiness for non-blocking operations: poll(2) and epoll(7).

use airtcp_tcp::State;

use crate::interest::{Marks, Watched};
use crate::socket::{Kind, Socket};
use crate::system;
use crate::world::{Answer, World};

const IN: u32 = libc::EPOLLIN as u32;
const OUT: u32 = libc::EPOLLOUT as u32;
const RDHUP: u32 = libc::EPOLLRDHUP as u32;
const HUP: u32 = libc::EPOLLHUP as u32;
const ERR: u32 = libc::EPOLLERR as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONCE: u32 = libc::EPOLLONESHOT as u32;

impl World {
    /// Events of a descriptor (Linux, `tcp_poll`).
    pub fn events(&self, descriptor: i32) -> u32 {
        let Some(socket) = self.sockets.get(&descriptor) else {
            return 0;
        };
        let id = match socket.kind {
            Kind::Connection(id) => id,
            Kind::Listens(listener) => {
                return if self.endpoint.waiting(listener) > 0 {
                    IN
                } else {
                    0
                };
            }
            // The SYN waits for data (Linux, `tcp_poll`).
            Kind::Fresh if socket.fast_open.deferred.is_some() => return OUT,
            Kind::Fresh => return OUT | HUP,
            Kind::Epoll(_) => return 0,
        };
        let Some(stream) = self.endpoint.stream(id) else {
            return 0;
        };
        let ready = stream.readiness();
        let connection = stream.connection();
        let mut events = 0;
        let has_closed = connection.receiver().is_finished() || socket.reads_shut;
        if has_closed {
            events |= IN | RDHUP;
        }
        if has_closed && socket.writes_shut || connection.state() == State::Closed {
            events |= HUP | IN | RDHUP;
        }
        if ready.established && stream.available() >= socket.options.readable_from {
            events |= IN;
        }
        if ready.established && (ready.writable || socket.writes_shut) {
            events |= OUT;
        }
        if self.end(id).is_some() && !socket.told_of_end {
            events |= ERR | IN | OUT;
        }
        events
    }

    pub fn make_epoll(&mut self) -> Answer {
        let kind = Kind::Epoll(std::collections::BTreeMap::new());
        self.open(Socket::new(kind, system::options(), false))
    }

    /// epoll_ctl(2); `wanted` if there is something to watch for.
    pub fn watch(
        &mut self,
        epoll: i32,
        operation: i32,
        descriptor: i32,
        wanted: Option<(u32, u64)>,
    ) -> Answer {
        if !self.sockets.contains_key(&descriptor) {
            return Err(libc::EBADF);
        }
        let Kind::Epoll(watched) = &mut self.socket(epoll)?.kind else {
            return Err(libc::EINVAL);
        };
        let known = watched.contains_key(&descriptor);
        match operation {
            libc::EPOLL_CTL_ADD if known => return Err(libc::EEXIST),
            libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL if !known => return Err(libc::ENOENT),
            libc::EPOLL_CTL_DEL => {
                watched.remove(&descriptor);
            }
            libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD => {
                let (events, data) = wanted.ok_or(libc::EFAULT)?;
                let told = None;
                watched.insert(descriptor, Watched { events, data, told });
            }
            _ => return Err(libc::EINVAL),
        }
        Ok(0)
    }

    /// At most `most` of the watched events.
    pub fn news(&mut self, epoll: i32, most: usize) -> Result<Vec<(u32, u64)>, i32> {
        let Kind::Epoll(watched) = &self.socket(epoll)?.kind else {
            return Err(libc::EINVAL);
        };
        let descriptors: Vec<i32> = watched.keys().copied().collect();
        let mut found = Vec::new();
        for descriptor in descriptors {
            let all = self.events(descriptor);
            let received = self.received(descriptor);
            let Kind::Epoll(watched) = &mut self.socket(epoll)?.kind else {
                return Err(libc::EINVAL);
            };
            let Some(one) = watched.get_mut(&descriptor) else {
                continue;
            };
            let ready = all & (one.events & !(EDGE | ONCE) | ERR | HUP);
            let marks = Marks { received, ready };
            // A vanished event is new when it returns.
            let is_news = match one.told {
                None => true,
                Some(told) => received != told.received || ready & !told.ready != 0,
            };
            if ready != 0 && found.len() < most && (one.events & EDGE == 0 || is_news) {
                found.push((ready, one.data));
                if one.events & ONCE != 0 {
                    one.events = 0;
                }
                one.told = Some(marks);
            } else if let Some(told) = &mut one.told {
                told.ready &= ready;
            }
        }
        Ok(found)
    }

    fn received(&self, descriptor: i32) -> u64 {
        let kind = self.sockets.get(&descriptor).map(|socket| &socket.kind);
        let Some(Kind::Connection(id)) = kind else {
            return 0;
        };
        let stream = self.endpoint.stream(*id);
        stream.map_or(0, |stream| stream.connection().receiver().received())
    }
}
