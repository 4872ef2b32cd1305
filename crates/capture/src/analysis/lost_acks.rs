//! Acknowledgments lost on the return path, by their IPv4 identifications.

/// Minimum number of packets to detect a counter.
const MIN_PACKETS: u64 = 50;
/// Minimum percentage of packets that increment a per-connection counter by one.
const MIN_IN_ORDER_PERCENT: u64 = 60;
/// Minimum percentage of gaps confirmed by the next ACK, which covers the range of the lost ones.
/// It does not if some of these segments were acknowledged individually.
const MIN_CONFIRMED_PERCENT: u64 = 70;
const MIN_REPORTED_PERCENT: u64 = 75;

/// Acknowledgments lost on the return path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostAcks {
    /// Number of missing acknowledgments.
    pub lost: u64,
    /// Number of acknowledgments sent, including the received ones.
    pub sent: u64,
}

impl LostAcks {
    /// Counts from the received acknowledgments: bytes newly reported by each, and packets missing
    /// before it. `None` if their numbers are not a counter of the connection.
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

    /// ACKs of two segments; each tenth is lost, and the next one covers both.
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

    /// A counter shared with other connections of the host.
    #[test]
    fn a_gap_before_a_usual_report_is_another_connection() {
        let acks: Vec<(u32, u32)> = (0..900).map(|number| (2896, number % 3 / 2)).collect();
        assert_eq!(LostAcks::count(&acks), None);
    }

    /// The same, with every second ACK covering two segments instead of one.
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
