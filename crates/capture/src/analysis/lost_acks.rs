//! Acknowledgments that were lost on their way back, by the numbers that the receiver's host gave
//! its packets.

/// Fewer packets show no counter.
const MIN_PACKETS: u64 = 50;
/// A counter of the connection goes up by one, but for losses, in this share of the packets.
const MIN_IN_ORDER_PERCENT: u64 = 60;
/// What lost acknowledgments reported is in the next, which so reports as much as all of them, but
/// for segments of which some were acknowledged alone.
const MIN_CONFIRMED_PERCENT: u64 = 70;
const MIN_REPORTED_PERCENT: u64 = 75;

/// Acknowledgments that were lost on their way back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostAcks {
    /// Those that are missing.
    pub lost: u64,
    /// Those and the ones that came.
    pub sent: u64,
}

impl LostAcks {
    /// Counts from the acknowledgments that came: bytes newly reported by each, and packets missing
    /// before it. `None` where their numbers are no counter of the connection.
    pub(super) fn count(acks: &[(u32, u32)]) -> Option<Self> {
        let came = acks.len() as u64;
        if came < MIN_PACKETS {
            return None;
        }
        let in_order = acks.iter().filter(|(_, missing)| *missing == 0).count() as u64;
        if in_order * 100 < came * MIN_IN_ORDER_PERCENT {
            return None;
        }
        let in_order = acks.iter().filter(|(_, missing)| *missing == 0);
        let mut reports: Vec<u32> = in_order.map(|(newly, _)| *newly).collect();
        reports.sort_unstable();
        let usual = u64::from(reports[reports.len() / 2]);
        let behind_gap = || acks.iter().filter(|(_, missing)| *missing > 0);
        let gaps = behind_gap().count() as u64;
        let confirms = |(newly, missing): &&(u32, u32)| {
            let whole = usual * (1 + u64::from(*missing));
            u64::from(*newly) * 100 >= whole * MIN_REPORTED_PERCENT
        };
        let confirmed = behind_gap().filter(confirms).count() as u64;
        if confirmed * 100 < gaps * MIN_CONFIRMED_PERCENT {
            return None;
        }
        let lost: u64 = acks.iter().map(|(_, missing)| u64::from(*missing)).sum();
        Some(Self {
            lost,
            sent: came + lost,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledgments of two segments; each tenth is lost, and the next reports for both.
    #[test]
    fn a_gap_before_a_larger_report_is_a_loss() {
        let acks: Vec<(u32, u32)> = (0..900)
            .map(|number| {
                if number % 9 == 8 {
                    (5792, 1)
                } else {
                    (2896, 0)
                }
            })
            .collect();
        let lost = LostAcks::count(&acks).unwrap();
        assert_eq!((lost.lost, lost.sent), (100, 1000));
    }

    /// A counter that other connections of the host share.
    #[test]
    fn a_gap_before_a_usual_report_is_another_connection() {
        let acks: Vec<(u32, u32)> = (0..900).map(|number| (2896, number % 3 / 2)).collect();
        assert_eq!(LostAcks::count(&acks), None);
    }

    /// The same, and every second acknowledgment reports two segments in place of one.
    #[test]
    fn a_gap_is_no_loss_where_reports_do_not_grow_with_it() {
        let acks: Vec<(u32, u32)> = (0..900)
            .map(|number| match number % 3 {
                2 => (2896, 3),
                _ => (1448, 0),
            })
            .collect();
        assert_eq!(LostAcks::count(&acks), None);
    }
}
