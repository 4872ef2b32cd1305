//! Packets that pass the gateway's agents: no bytes make a reader or an agent panic, and each
//! packet gets one verdict within the bounds.
#![no_main]

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::LazyLock;

use airtcp_gateway::agents::Chain;
use airtcp_gateway::agents::engine::{Decision, Engine, PassingPacket};
use airtcp_gateway::agents::hold_limit::{HoldLimits, RoundTrip};
use airtcp_gateway::packets::packet_view::read_headers;
use airtcp_link::agent::Toward;
use airtcp_units::{Duration, Instant};
use libfuzzer_sys::fuzz_target;

static CHAINS: LazyLock<Vec<Chain>> = LazyLock::new(|| {
    [
        "delay-injection",
        "random-delay",
        "snoop",
        "wtcp:window=2,packets=4",
        "dynamic-arq",
    ]
    .map(|agent| Chain::new(&[agent.to_owned()]).expect("it is in the catalogue"))
    .to_vec()
});

// Each packet: which way, how long after the last, its length; then its bytes.
fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, mut rest)) = bytes.split_first() else {
        return;
    };
    let chain = &CHAINS[usize::from(kind) % CHAINS.len()];
    let most = NonZeroUsize::new(4).expect("it is not zero");
    let mut engine: Engine<u64> =
        Engine::new(chain, HoldLimits::default(), most, 1).expect("the defaults are right");
    let (mut now, mut passed, mut decided) = (Instant::ZERO, 0, BTreeSet::new());
    while let Some((&[way, wait, length], behind)) = rest.split_first_chunk::<3>() {
        let (packet, next) = behind.split_at(behind.len().min(usize::from(length)));
        rest = next;
        now += Duration::from_micros(u64::from(wait) * 500);
        let toward = if way & 1 == 0 {
            Toward::Mobile
        } else {
            Toward::Wired
        };
        let Ok(seen) = read_headers(packet, toward) else {
            continue;
        };
        passed += 1;
        engine.pass(
            now,
            &PassingPacket {
                flow: u64::from(seen.ends.mobile.port() % 8),
                toward,
                segment: seen.segment,
                bytes: packet,
                packet: passed,
                round_trip: (way & 2 == 0).then_some(RoundTrip {
                    smoothed: Duration::from_millis(60),
                    timeout: Duration::from_millis(260),
                }),
            },
        );
        settle(&mut engine, &mut decided);
    }
    engine.wake(now + Duration::from_secs(2));
    settle(&mut engine, &mut decided);
    assert_eq!((engine.held(), decided.len() as u64), (0, passed));
});

fn settle(engine: &mut Engine<u64>, decided: &mut BTreeSet<u64>) {
    while let Some(decision) = engine.poll() {
        let packet = match decision {
            Decision::Pass(packet)
            | Decision::PassChanged(packet, _)
            | Decision::PassWithPriority(packet, _)
            | Decision::Drop(packet) => packet,
            Decision::Repeat(_) => continue,
        };
        assert!(
            decided.insert(packet),
            "packet {packet} is decided about twice"
        );
    }
}
