//! Functions of the kernel's that a congestion control may call (`bpf_tcp_ca_check_kfunc_ids`),
//! from RFC 5681 §3.1 in units of segments.

use crate::memory::Memory;
use crate::mirror::{Layout, Member};
use crate::trap::Trap;

/// Such a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kfunc {
    /// Grows the window by each segment acknowledged, up to the threshold; returns those left over.
    SlowStart,
    /// Grows the window by a segment for each `w` acknowledged.
    CongAvoidAi,
    /// Half of the window, at least two segments.
    RenoSsthresh,
    /// Both growths, if the window limits the sender.
    RenoCongAvoid,
    /// The window before the last reduction, if larger.
    RenoUndoCwnd,
}

impl Kfunc {
    /// The functions by the kernel's names.
    pub const ALL: [(&str, Self); 5] = [
        ("tcp_slow_start", Self::SlowStart),
        ("tcp_cong_avoid_ai", Self::CongAvoidAi),
        ("tcp_reno_ssthresh", Self::RenoSsthresh),
        ("tcp_reno_cong_avoid", Self::RenoCongAvoid),
        ("tcp_reno_undo_cwnd", Self::RenoUndoCwnd),
    ];

    /// The function of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let (_, kfunc) = Self::ALL.iter().find(|(known, _)| *known == name)?;
        Some(*kfunc)
    }

    /// The members that it reads or writes, with their sizes in the kernel.
    #[must_use]
    pub const fn members(self) -> &'static [Member] {
        match self {
            Self::SlowStart => &[Member::Cwnd, Member::Ssthresh, Member::CwndClamp],
            Self::CongAvoidAi => &[Member::Cwnd, Member::CwndCount, Member::CwndClamp],
            Self::RenoSsthresh => &[Member::Cwnd],
            Self::RenoCongAvoid => &[
                Member::Cwnd,
                Member::CwndCount,
                Member::CwndClamp,
                Member::Ssthresh,
                Member::MaxPacketsOut,
                Member::IsCwndLimited,
            ],
            Self::RenoUndoCwnd => &[Member::Cwnd, Member::PriorCwnd],
        }
    }

    /// Calls it.
    ///
    /// # Errors
    ///
    /// `tcp_cong_avoid_ai` without a `w`: the kernel would divide by zero.
    pub fn call(
        self,
        [_, a, b, _, _]: [u64; 5],
        layout: &Layout,
        memory: &mut Memory,
    ) -> Result<u64, Trap> {
        let mut socket = Socket { layout, memory };
        Ok(match self {
            Self::SlowStart => socket.slow_start(low(a)).into(),
            Self::CongAvoidAi => {
                socket.avoid(low(a), low(b))?;
                0
            }
            Self::RenoSsthresh => (socket.get(Member::Cwnd) >> 1).max(2).into(),
            Self::RenoCongAvoid => {
                socket.reno(low(b))?;
                0
            }
            Self::RenoUndoCwnd => socket
                .get(Member::Cwnd)
                .max(socket.get(Member::PriorCwnd))
                .into(),
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "arguments have 32 bits")]
const fn low(value: u64) -> u32 {
    value as u32
}

struct Socket<'a> {
    layout: &'a Layout,
    memory: &'a mut Memory,
}

impl Socket<'_> {
    fn get(&self, member: Member) -> u32 {
        self.layout
            .slot(member)
            .map_or(0, |slot| low(slot.get(self.memory)))
    }

    fn set(&mut self, member: Member, value: u32) {
        if let Some(slot) = self.layout.slot(member) {
            slot.set(self.memory, value.into());
        }
    }

    fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.get(Member::Cwnd);
        let next = cwnd.wrapping_add(acked).min(self.get(Member::Ssthresh));
        let left = acked.wrapping_sub(next.wrapping_sub(cwnd));
        self.set(Member::Cwnd, next.min(self.get(Member::CwndClamp)));
        left
    }

    fn avoid(&mut self, w: u32, acked: u32) -> Result<(), Trap> {
        if w == 0 {
            return Err(Trap::Argument("tcp_cong_avoid_ai with w = 0"));
        }
        let (mut cwnd, mut count) = (self.get(Member::Cwnd), self.get(Member::CwndCount));
        // Credit from before w became smaller counts once.
        if count >= w {
            count = 0;
            cwnd = cwnd.wrapping_add(1);
        }
        count = count.wrapping_add(acked);
        cwnd = cwnd.wrapping_add(count / w);
        self.set(Member::CwndCount, count % w);
        self.set(Member::Cwnd, cwnd.min(self.get(Member::CwndClamp)));
        Ok(())
    }

    fn reno(&mut self, mut acked: u32) -> Result<(), Trap> {
        let (cwnd, ssthresh) = (self.get(Member::Cwnd), self.get(Member::Ssthresh));
        let half_used = cwnd < self.get(Member::MaxPacketsOut).saturating_mul(2);
        if self.get(Member::IsCwndLimited) == 0 && !(cwnd < ssthresh && half_used) {
            return Ok(());
        }
        if cwnd < ssthresh {
            acked = self.slow_start(acked);
            if acked == 0 {
                return Ok(());
            }
        }
        let cwnd = self.get(Member::Cwnd);
        self.avoid(cwnd, acked)
    }
}
