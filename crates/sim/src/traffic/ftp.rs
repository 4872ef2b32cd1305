//! File transfers.

use std::collections::VecDeque;

use airtcp_scenario::Ftp;
use airtcp_units::Instant;

use super::{Action, End, Transfers};

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
