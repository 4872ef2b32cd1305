//! Counters of the kernel's queueing disciplines.
//!
//! Each kind has a separate structure for its counters besides the common ones
//! (include/uapi/linux/pkt_sched.h); only numbers common to all are read here.

use serde::{Deserialize, Serialize};

use super::tcmsg::{MESSAGE, dump, failed, message};
use crate::error::{Error, Result};
use crate::interface;
use crate::netlink::frame::{as_text, attributes, find, word};

/// TCA_KIND and TCA_STATS2 of include/uapi/linux/rtnetlink.h.
const KIND: u16 = 1;
const STATISTICS: u16 = 7;
/// TCA_STATS_BASIC, TCA_STATS_QUEUE and TCA_STATS_APP of include/uapi/linux/gen_stats.h.
const BASIC: u16 = 1;
const QUEUE: u16 = 3;
const OWN: u16 = 4;
/// TCA_CAKE_STATS_TIN_STATS, and of each tin the acknowledgments dropped and packets marked.
const CAKE_TINS: u16 = 10;
const CAKE_ACKS_DROPPED: u16 = 6;
const CAKE_MARKED: u16 = 8;
/// struct gnet_stats_basic: bytes in 64 bits, then packets.
const BASIC_PACKETS: usize = 8;
/// struct gnet_stats_queue: length, backlog, drops.
const QUEUE_DROPS: usize = 8;

/// Counters of a discipline since it was attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueCounts {
    /// Packets that it has passed on.
    pub passed: u64,
    /// Packets dropped, including acknowledgments that later ones cover.
    pub dropped: u64,
    /// Packets that it has marked.
    pub marked: u64,
    /// Acknowledgments dropped because a later one in the queue covers them.
    pub acks_dropped: u64,
}

impl QueueCounts {
    /// The counters of the discipline of this kind on a device of the calling thread's namespace,
    /// at any depth.
    ///
    /// # Errors
    ///
    /// The device has no discipline of this kind, or the kernel does not answer.
    pub fn of(device: &str, kind: &str) -> Result<Self> {
        let index = interface::index(device)?;
        let answers = dump(&message(index, 0, 0))
            .map_err(|cause| failed(device, "read the counts of", cause))?;
        answers
            .iter()
            .filter(|body| word(body, 4) == Some(index))
            .find_map(|body| parsed(body, kind))
            .ok_or_else(|| {
                Error::new(format!(
                    "{device} has no queueing discipline {kind} that counts"
                ))
            })
    }
}

/// The counts in an answer of the kernel, if it is of this kind.
fn parsed(body: &[u8], kind: &str) -> Option<QueueCounts> {
    let content = body.get(MESSAGE..)?;
    if as_text(find(content, KIND)?) != kind {
        return None;
    }
    let counted = find(content, STATISTICS)?;
    let own = find(counted, OWN).unwrap_or_default();
    let (marked, acks_dropped) = counts_of_its_own(kind, own);
    Some(QueueCounts {
        passed: word(find(counted, BASIC)?, BASIC_PACKETS)?.into(),
        dropped: word(find(counted, QUEUE)?, QUEUE_DROPS)?.into(),
        marked: marked.into(),
        acks_dropped: acks_dropped.into(),
    })
}

/// Packets marked, and acknowledgments dropped.
fn counts_of_its_own(kind: &str, own: &[u8]) -> (u32, u32) {
    let at = |place: usize| (word(own, place).unwrap_or(0), 0);
    match kind {
        // The seventh number of struct tc_codel_xstats.
        "codel" => at(6 * 4),
        // The fourth of struct tc_fq_codel_xstats; the first marks statistics of the whole qdisc.
        "fq_codel" => at(3 * 4),
        // In struct tc_pie_xstats, after a probability of 64 bits and seven numbers.
        "pie" => at(8 + 7 * 4),
        // The fifth of struct tc_fq_pie_xstats.
        "fq_pie" => at(4 * 4),
        "cake" => {
            let sum = |which: u16| {
                attributes(find(own, CAKE_TINS).unwrap_or_default())
                    .filter_map(|(_, tin)| word(find(tin, which)?, 0))
                    .sum()
            };
            (sum(CAKE_MARKED), sum(CAKE_ACKS_DROPPED))
        }
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::discipline::Discipline;
    use super::*;
    use crate::namespace::Namespace;
    use crate::netlink::frame::{append_attribute, text};

    fn numbers(of: &[u32]) -> Vec<u8> {
        of.iter().flat_map(|one| one.to_ne_bytes()).collect()
    }

    /// An answer with 1000 packets passed, 7 dropped, and these kind-specific numbers.
    fn answer(kind: &str, own: &[u8]) -> Vec<u8> {
        let mut counted = Vec::new();
        append_attribute(&mut counted, BASIC, &numbers(&[0, 0, 1000]));
        append_attribute(&mut counted, QUEUE, &numbers(&[1, 2, 7, 0, 0]));
        append_attribute(&mut counted, OWN, own);
        let mut body = vec![0; MESSAGE];
        body.extend(text(KIND, kind));
        append_attribute(&mut body, STATISTICS, &counted);
        body
    }

    #[test]
    fn each_kind_counts_in_a_structure_of_its_own() {
        let mut tin = Vec::new();
        append_attribute(&mut tin, CAKE_ACKS_DROPPED, &numbers(&[4]));
        append_attribute(&mut tin, CAKE_MARKED, &numbers(&[30]));
        let (mut tins, mut cake) = (Vec::new(), Vec::new());
        append_attribute(&mut tins, 1, &tin);
        append_attribute(&mut tins, 2, &tin);
        append_attribute(&mut cake, CAKE_TINS, &tins);
        let counting = |start: u32| numbers(&(start..start + 10).collect::<Vec<_>>());
        for (kind, own, marked, acks_dropped) in [
            ("codel", counting(100), 106, 0),
            ("fq_codel", counting(100), 103, 0),
            ("pie", counting(100), 109, 0),
            ("fq_pie", counting(100), 104, 0),
            ("cake", cake, 60, 8),
            ("pfifo", Vec::new(), 0, 0),
        ] {
            let expected = QueueCounts {
                passed: 1000,
                dropped: 7,
                marked,
                acks_dropped,
            };
            assert_eq!(parsed(&answer(kind, &own), kind), Some(expected), "{kind}");
            assert_eq!(parsed(&answer("other", &own), kind), None);
        }
    }

    #[test]
    fn the_kernel_tells_of_its_own() {
        let Ok(namespace) = Namespace::new() else {
            airtcp_needs::skip("namespaces need root");
            return;
        };
        namespace
            .enter(|| {
                Discipline::parse("pfifo limit 77")?.put("lo")?;
                assert_eq!(QueueCounts::of("lo", "pfifo")?, QueueCounts::default());
                let absent = QueueCounts::of("lo", "cake").unwrap_err().to_string();
                assert!(absent.contains("no queueing discipline cake"), "{absent}");
                Ok(())
            })
            .unwrap();
    }
}
