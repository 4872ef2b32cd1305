//! Scenarios without randomness, and whether they report that.

use super::*;

/// Two Renos of 80 and 20 ms at one queue.
const TWO: &str = "duration = '4 s'\ntopology = 'dumbbell'\nlink.delay = '10 ms'\n\
                   flows.count = 2\nflows.access_delay = ['30 ms', '0 ms']\n\
                   tcp.profile = 'linux-reno'\n";

/// Whether two seeds give other flows. The digest differs because of their initial sequence
/// numbers.
fn flows_differ(text: &str) -> bool {
    let scenario = scenario(text);
    let flows = |seed| format!("{:?}", summary(&scenario, seed).flows);
    flows(1) != flows(2)
}

/// Floyd & Jacobson 1992, §2: the phase decides, and one run shows one of them.
#[test]
fn flows_that_meet_in_one_phase_are_pointed_out() {
    let [warning] = &scenario(TWO).warnings()[..] else {
        panic!("one warning")
    };
    assert!(warning.contains("flows.start_spread"), "{warning}");
    assert!(!flows_differ(TWO));
    let spread = format!("{TWO}flows.start_spread = '1 s'\n");
    assert!(scenario(&spread).warnings().is_empty());
    assert!(flows_differ(&spread));
    let alone = TWO.replace("count = 2", "count = 1");
    assert!(scenario(&alone).is_same_for_every_seed());
    assert!(scenario(&alone).warnings().is_empty());
}

/// The statement that every seed gives the same run is right, for each part that draws.
#[test]
fn what_is_the_same_for_every_seed_is() {
    let drawn = [
        "link.loss.rate = 0.01",
        "link.jitter.mean = '5 ms'",
        "link.late = { share = 0.1, by = '20 ms' }",
        "link.stops = { process = 'random', working = '500 ms', length = '100 ms' }",
        "remedies = ['coin:q=0.5']\nlink.queue.packets = 10",
        "traffic.application = 'http'",
        "perturb = '0.5 %'",
    ];
    for text in drawn {
        let text = format!("duration = '4 s'\n{text}\n");
        if let Ok(scenario) = Scenario::parse(&text, "test", Path::new(".")) {
            assert!(!scenario.is_same_for_every_seed(), "{text}");
            assert!(flows_differ(&text) || text.contains("coin"), "{text}");
        } else {
            panic!("{text}");
        }
    }
    let same = [
        "",
        "link.queue.packets = 10",
        "link.aqm.discipline = 'codel'",
        "link.loss = { model = 'block', of = 100, lost = 2 }",
        "link.stops = { process = 'periodic', every = '900 ms', length = '250 ms' }",
    ];
    for text in same {
        let text = format!("duration = '4 s'\n{text}\n");
        assert!(scenario(&text).is_same_for_every_seed(), "{text}");
        assert!(!flows_differ(&text), "{text}");
    }
}
