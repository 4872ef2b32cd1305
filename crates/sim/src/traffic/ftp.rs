//! File transfers.

use std::collections::VecDeque;

use airtcp_units::Instant;

use super::{Action, End, Transfers};

/// File transfers (Mahmoodi et al. §IV: 16 MB each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ftp {
    /// Bytes of a file.
    pub size: u64,
    /// Whether the next follows when one has arrived; else the connection closes.
    pub repeat: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    ftp: Ftp,
    /// Bytes of the file that are still to arrive.
    left: u64,
    began: Instant,
}

impl Session {
    pub(super) fn new(ftp: Ftp, start: Instant, actions: &mut VecDeque<Action>) -> Self {
        let mut session = Self {
            ftp,
            left: 0,
            began: start,
        };
        session.begin(start, actions);
        session
    }

    fn begin(&mut self, now: Instant, actions: &mut VecDeque<Action>) {
        self.began = now;
        self.left = self.ftp.size.max(1);
        actions.push_back(Action::Write {
            end: End::Source,
            bytes: self.left,
        });
        if !self.ftp.repeat {
            actions.push_back(Action::Close);
        }
    }

    pub(super) fn on_data(
        &mut self,
        now: Instant,
        bytes: u64,
        actions: &mut VecDeque<Action>,
        transfers: &mut Transfers,
    ) {
        if self.left == 0 {
            return;
        }
        self.left = self.left.saturating_sub(bytes);
        if self.left == 0 {
            transfers.complete(self.began, now);
            if self.ftp.repeat {
                self.begin(now, actions);
            }
        }
    }
}
