//! Small changes from seed to seed.

use airtcp_link::PipeConfig;

use super::*;

const POLICED: &str = "duration = '100 s'\nflows.count = 3\n\
    [link]\nrate = '20 Mbit/s'\ndelay = '10 ms'\nqueue.bytes = '30 kB'\n\
    policer = { rate = '5 Mbit/s', burst = '30 kB' }\n";

fn data(text: &str, seed: u64) -> PipeConfig {
    build(&parsed(text), seed).network.pipes[0].1.clone()
}

fn quantities(pipe: &PipeConfig) -> [u64; 5] {
    let (Service::Constant(rate), Delay::Constant(delay), QueueLimit::Bytes(queue)) =
        (&pipe.service, &pipe.delay, &pipe.queue)
    else {
        panic!("{pipe:?}")
    };
    let policer = pipe.policer.expect("a policer");
    [
        rate.as_bps(),
        delay.as_nanos(),
        *queue,
        policer.rate.as_bps(),
        policer.burst,
    ]
}

#[test]
fn each_seed_changes_every_quantity_of_a_pipe_by_its_share_at_most() {
    let usual = quantities(&data(POLICED, 1));
    let text = format!("perturb = '1 %'\n{POLICED}");
    let (mut least, mut most) = ([f64::MAX; 5], [f64::MIN; 5]);
    for seed in 0..200 {
        let changed = quantities(&data(&text, seed));
        assert_eq!(
            changed,
            quantities(&data(&text, seed)),
            "a seed is one link"
        );
        for (place, (changed, usual)) in changed.into_iter().zip(usual).enumerate() {
            let change = changed as f64 / usual as f64 - 1.0;
            least[place] = least[place].min(change);
            most[place] = most[place].max(change);
        }
    }
    for (least, most) in least.into_iter().zip(most) {
        assert!((-0.0101..-0.009).contains(&least), "{least}");
        assert!((0.009..0.0101).contains(&most), "{most}");
    }
}

#[test]
fn starts_are_delayed_by_a_share_of_twenty_seconds() {
    let text = format!("perturb = '1 %'\n{POLICED}");
    let starts = |text: &str, seed| {
        let flows = build(&parsed(text), seed).flows;
        flows.into_iter().map(|flow| flow.start).collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..100).flat_map(|seed| starts(&text, seed)).collect();
    let latest = all.iter().max().unwrap().as_secs_f64();
    assert!((0.19..=0.2).contains(&latest), "{latest}");
    assert_ne!(all[0], all[1]);
    assert!(starts(POLICED, 1).iter().all(|start| start.as_nanos() == 0));
}

#[test]
fn without_it_seeds_are_one_link() {
    assert_eq!(quantities(&data(POLICED, 1)), quantities(&data(POLICED, 2)));
    let policed = parsed(POLICED);
    assert!(policed.is_same_for_every_seed());
    let perturbed = policed.perturbed(Probability::new(0.005).unwrap());
    assert!(!perturbed.unwrap().is_same_for_every_seed());
    let error = policed.perturbed(Probability::ALWAYS).unwrap_err();
    assert!(
        error.to_string().contains("perturb: expected at most 10 %"),
        "{error}"
    );
}

#[test]
fn senders_are_named_by_their_profiles() {
    assert_eq!(parsed("").senders(), ["linux"]);
    assert_eq!(parsed("tcp.profile = 'sack'").senders(), ["sack"]);
    let several = "flows.count = 3\ntcp.profile = 'newreno'\n\
        flows.tcp = [{ profile = 'linux' }, {}, { profile = 'linux' }]";
    assert_eq!(parsed(several).senders(), ["linux", "newreno"]);
}
