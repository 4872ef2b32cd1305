//! The path's MTU, and when segments really leave.

use airtcp_endpoint::{ListenOptions, Options};
use airtcp_packet::wire::parse;
use airtcp_units::Duration;

use super::world::{CLIENT, Refusal, SERVER, World, pattern, patterned};

/// Sends `total` bytes from client to server, and compares them.
fn transfer(world: &mut World, ids: [airtcp_endpoint::ConnectionId; 2], total: u64) {
    let (mut written, mut read) = (0, 0);
    world.until(|world| {
        let count = (total - written).min(50_000) as usize;
        let bytes = patterned(2, written, count);
        written += world.ends[CLIENT].write(ids[CLIENT], &bytes).unwrap() as u64;
        for byte in world.read(SERVER, ids[SERVER]) {
            assert_eq!(byte, pattern(2, read), "at {read}");
            read += 1;
        }
        read == total
    });
}

fn sender_of(world: &World, id: airtcp_endpoint::ConnectionId) -> &airtcp_tcp::Sender {
    world.ends[CLIENT].stream(id).unwrap().connection().sender()
}

/// RFC 1191: a router in the middle takes 1000 bytes and reports that. Data in flight is cut and
/// retransmitted, without a timeout and without a smaller window.
#[test]
fn a_router_says_what_fits() {
    let mut world = World::new(1);
    let ids = world.open(&Options::default(), ListenOptions::default());
    let before = sender_of(&world, ids[CLIENT]).cwnd();
    world.mtu = Some((1000, Refusal::Told));
    transfer(&mut world, ids, 500_000);
    let sender = sender_of(&world, ids[CLIENT]);
    assert_eq!(sender.mss(), 1000 - 52);
    assert_eq!(world.longest[SERVER], 1000);
    assert_eq!(sender.counters().timeouts, 0);
    assert!(sender.cwnd() >= before && sender.ssthresh().is_none());
}

/// RFC 4821: from 512 bytes up to the size that passes in silence, within the search's precision;
/// lost probes are no sign of congestion.
#[test]
fn probes_find_what_fits() {
    for mtu in [800, 1200, 1492, 1500] {
        let mut world = World::new(1);
        let options = Options {
            path_probe: Some(512),
            ..Options::default()
        };
        world.mtu = Some((mtu, Refusal::Silent));
        let ids = world.open(&options, ListenOptions::default());
        transfer(&mut world, ids, 3_000_000);
        let sender = sender_of(&world, ids[CLIENT]);
        let most = mtu as u64 - 52;
        let found = sender.mss();
        assert!(found <= most && most - found < 8, "{found} of {most}");
        // HyStart may have ended slow start; a loss that was congestion's would have been
        // recovered.
        assert_eq!(
            sender.counters().fast_retransmits,
            0,
            "no loss was congestion's"
        );
        assert_eq!(sender.counters().recoveries_taken_back, 0);
        assert_eq!(sender.counters().timeouts, 0);
    }
}

/// RFC 2923 §2.1: a path with an MTU that shrinks at one moment, without any report. With the
/// search on, segments shrink once they time out.
#[test]
fn a_black_hole_is_left() {
    let mut world = World::new(1);
    let options = Options {
        path_probe: Some(1448),
        ..Options::default()
    };
    let ids = world.open(&options, ListenOptions::default());
    transfer(&mut world, ids, 100_000);
    world.mtu = Some((900, Refusal::Silent));
    let id = ids[CLIENT];
    let bytes = patterned(4, 0, 200_000);
    assert_eq!(world.ends[CLIENT].write(id, &bytes), Ok(bytes.len()));
    let mut read = 0;
    world.until(|world| {
        for byte in world.read(SERVER, ids[SERVER]) {
            assert_eq!(byte, pattern(4, read), "at {read}");
            read += 1;
        }
        read == 200_000
    });
    assert!(sender_of(&world, id).mss() <= 900 - 52);
}

/// A radio that queues for two seconds before it sends: the timer and the round trip start when the
/// driver reports the segment's departure, so that nothing times out and the path's round trip is
/// measured.
#[test]
fn a_segment_counts_from_when_it_left() {
    for reports in [true, false] {
        let mut world = World::new(1);
        let options = Options {
            departures: reports,
            ..Options::default()
        };
        let [client, _] = world.open(&options, ListenOptions::default());
        world.pass(Duration::from_secs(1));
        let mut packet = Vec::new();
        for _ in 0..20 {
            world.ends[CLIENT].write(client, &[7; 500]).unwrap();
            let polled = world.ends[CLIENT]
                .poll_transmit(world.now, &mut packet)
                .unwrap();
            assert_eq!(parse(&packet).unwrap().segment.payload_bytes, 500);
            // In the radio's queue.
            let leaves = world.now + Duration::from_secs(2);
            while world.ends[CLIENT].next_wakeup() < leaves {
                world.now = world.ends[CLIENT].next_wakeup();
                world.ends[CLIENT].on_wakeup(world.now);
                let mut again = Vec::new();
                while world.ends[CLIENT]
                    .poll_transmit(world.now, &mut again)
                    .is_some()
                {
                    assert!(!reports, "nothing times out that has not left");
                }
            }
            world.now = leaves;
            if reports {
                let departure = polled.departure.unwrap();
                world.ends[CLIENT].on_transmitted(world.now, departure);
            }
            let (bytes, delay) = (packet.clone(), world.delay);
            world.fly(SERVER, bytes, delay);
            world.pass(Duration::from_millis(200));
        }
        let sender = sender_of(&world, client);
        let srtt = sender.rtt().srtt().unwrap();
        if reports {
            assert_eq!(sender.counters().timeouts, 0);
            assert!(srtt < Duration::from_millis(60), "{srtt}");
        } else {
            assert!(srtt > Duration::from_secs(1), "{srtt}");
        }
    }
}
