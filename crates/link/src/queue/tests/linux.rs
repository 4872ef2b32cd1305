//! CoDel against the arithmetic of Linux: time in units of 1024 ns that wrap at 32 bits, and the
//! reciprocal of the square root as a 16-bit fraction that one step of Newton's method updates
//! (`include/net/codel.h`, `codel_impl.h`). Its drops are at the same departures within the
//! imprecision of the fraction.

use super::*;

/// The state of a queue as the kernel keeps it.
#[derive(Debug)]
struct Kernel {
    first_above: u32,
    drop_next: u32,
    count: u32,
    last_count: u32,
    reciprocal_root: u16,
    dropping: bool,
    target: u32,
    interval: u32,
}

/// The kernel's clock: `ktime >> 10`.
const fn ticks(nanos: u64) -> u32 {
    (nanos >> 10) as u32
}

/// Whether `a` is before `b` on a clock that wraps.
const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl Kernel {
    fn new() -> Self {
        Self {
            first_above: 0,
            drop_next: 0,
            count: 0,
            last_count: 0,
            reciprocal_root: 0,
            dropping: false,
            target: ticks(5_000_000),
            interval: ticks(100_000_000),
        }
    }

    /// x ← x·(3 − count·x²)/2 on fractions of 2^32.
    fn newton(&mut self) {
        let root = u64::from(self.reciprocal_root) << 16;
        let square = (root * root) >> 32;
        let bracket = ((3_u64 << 32) - u64::from(self.count) * square) >> 2;
        self.reciprocal_root = (((bracket * root) >> 31) >> 16) as u16;
    }

    fn law(&self, from: u32) -> u32 {
        let fraction = u64::from(self.reciprocal_root) << 16;
        from.wrapping_add(((u64::from(self.interval) * fraction) >> 32) as u32)
    }

    fn ok_to_drop(&mut self, now: u32, since: u32, behind: usize) -> bool {
        if before(now.wrapping_sub(since), self.target) || behind <= 1 {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = now.wrapping_add(self.interval);
            return false;
        }
        before(self.first_above, now)
    }

    /// Packets dropped at a departure from `queue`, arrivals in nanoseconds.
    fn dequeue(&mut self, now_nanos: u64, queue: &mut Vec<u64>) -> usize {
        let now = ticks(now_nanos);
        let mut dropped = 0;
        let mut take = |kernel: &mut Self| match queue.is_empty() {
            true => {
                kernel.first_above = 0;
                false
            }
            false => {
                let since = ticks(queue.remove(0));
                kernel.ok_to_drop(now, since, queue.len())
            }
        };
        let mut ok = take(self);
        if self.dropping {
            self.dropping = ok;
            while self.dropping && !before(now, self.drop_next) {
                self.count += 1;
                self.newton();
                dropped += 1;
                ok = take(self);
                if ok {
                    self.drop_next = self.law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok {
            dropped += 1;
            take(self);
            self.dropping = true;
            let delta = self.count.wrapping_sub(self.last_count);
            if delta > 1 && before(now.wrapping_sub(self.drop_next), 16 * self.interval) {
                self.count = delta;
                self.newton();
            } else {
                self.count = 1;
                self.reciprocal_root = u16::MAX;
            }
            self.last_count = self.count;
            self.drop_next = self.law(now);
        }
        dropped
    }
}

/// A load of `per_mille` of the link's rate, for `seconds` with a packet of 1500 bytes each
/// millisecond served: the times of all drops, in milliseconds, by us and by the kernel. Load has
/// phases so that dropping begins and ends several times.
fn drops(phases: &[(u64, u64)]) -> [Vec<u64>; 2] {
    let mut ours = queue(
        Discipline::CoDel(CoDelConfig::default()),
        QueueLimit::Unlimited,
    );
    let (mut kernel, mut list) = (Kernel::new(), Vec::new());
    let mut times = [Vec::new(), Vec::new()];
    let (mut number, mut credit, mut now) = (0, 0, 1_000_000_000);
    for &(per_mille, milliseconds) in phases {
        for _ in 0..milliseconds {
            credit += per_mille;
            while credit >= 1000 {
                credit -= 1000;
                ours.push(waiting(now, number, 0, 1500, Ecn::NotCapable));
                list.push(now);
                number += 1;
            }
            now += 1_000_000;
            let dropped = step(&mut ours, now).dropped.len();
            times[0].extend(std::iter::repeat_n(now / 1_000_000, dropped));
            let dropped = kernel.dequeue(now, &mut list);
            times[1].extend(std::iter::repeat_n(now / 1_000_000, dropped));
        }
    }
    times
}

/// A steady overload of 10 %. Newton's one step takes 1/√2 for 0.5, so that the kernel's third drop
/// comes after 50 ms and not after 70.7; from the next one on it is within 3 %.
#[test]
fn drops_follow_each_other_as_in_linux() {
    let [ours, kernel] = drops(&[(1100, 4000)]);
    assert!(ours.len() > 30, "{}", ours.len());
    let gaps = |times: &[u64]| -> Vec<u64> {
        let pairs = times.windows(2).map(|pair| pair[1] - pair[0]);
        pairs.collect()
    };
    let (ours, kernel) = (gaps(&ours), gaps(&kernel));
    assert_eq!((ours[0], kernel[0]), (100, 100));
    assert_eq!((ours[1], kernel[1]), (71, 50));
    for (ours, kernel) in ours.iter().zip(&kernel).skip(2) {
        assert!(ours.abs_diff(*kernel) <= 3, "{ours} and {kernel} ms");
    }
}

/// Overloads with pauses in which the queue drains: short pauses, after which the rate of drops is
/// remembered, and one that is longer than 16 intervals.
#[test]
fn overloads_cost_as_many_drops_as_in_linux() {
    let [ours, kernel] = drops(&[
        (1200, 1500),
        (200, 400),
        (1200, 1500),
        (200, 400),
        (1300, 900),
        (100, 3000),
        (1200, 1500),
    ]);
    assert!(ours.len() > 60, "{}", ours.len());
    let difference = ours.len().abs_diff(kernel.len());
    assert!(
        difference * 20 <= kernel.len(),
        "{} and {}",
        ours.len(),
        kernel.len()
    );
}
