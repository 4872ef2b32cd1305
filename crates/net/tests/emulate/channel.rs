//! The packets' channel: delay, loss by the seed, and every byte in its place.

use std::convert::Infallible;

use airtcp_network::{Arrivals, Content, Network};
use airtcp_units::{Duration, Instant};

use super::{PIPE, Scenario, emulate, is_allowed, text};

/// Sends a file over a link that loses one packet in a hundred, both ways, and compares digests.
#[test]
fn every_byte_arrives_in_its_place() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(&format!("{PIPE}[link.loss]\nrate = 0.01\n"));
    let receive = "import hashlib,socket\n\
        s=socket.create_server(('::',4000),family=socket.AF_INET6,dualstack_ipv6=True)\n\
        open('ready','w').close()\n\
        for _ in range(2):\n\
        \x20   c,_a=s.accept(); h=hashlib.sha256()\n\
        \x20   while d:=c.recv(65536): h.update(d)\n\
        \x20   c.sendall(h.hexdigest().encode()); c.close()\n";
    let send = "import hashlib,os,socket,time\n\
        while not os.path.exists('ready'): time.sleep(0.01)\n\
        for server in (os.environ['AIRTCP_SERVER'],os.environ['AIRTCP_SERVER6']):\n\
        \x20   data=os.urandom(2_000_000); c=socket.create_connection((server,4000))\n\
        \x20   c.sendall(data); c.shutdown(socket.SHUT_WR)\n\
        \x20   answer=b''\n\
        \x20   while d:=c.recv(65536): answer+=d\n\
        \x20   assert answer.decode()==hashlib.sha256(data).hexdigest()\n\
        print('equal')\n";
    std::fs::write(scenario.folder().join("receive.py"), receive).unwrap();
    std::fs::write(scenario.folder().join("send.py"), send).unwrap();
    let output = emulate(&scenario, &[], "python3 receive.py", "python3 send.py");
    assert_eq!(text(&output.stdout), "equal", "{}", text(&output.stderr));
    assert!(output.status.success());
}

/// Sends numbered datagrams over a link; returns the numbers in order of arrival.
pub fn numbered(scenario: &Scenario, options: &[&str], packets: usize, bytes: usize) -> Vec<usize> {
    let receive = "import os,socket\n\
         s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.bind(('0.0.0.0',4000))\n\
         s.setsockopt(socket.SOL_SOCKET,socket.SO_RCVBUF,1<<20)\n\
         open('ready','w').close(); seen=[]\n\
         while True:\n\
         \x20   d,_a=s.recvfrom(2000)\n\
         \x20   if d[:1]==b'E': break\n\
         \x20   seen.append(int(d[:5]))\n\
         open('seen.part','w').write(' '.join(map(str,seen)))\n\
         os.rename('seen.part','seen')\n";
    // A receiver that does not run for a while has room for all. The last datagram is repeated
    // until it has arrived; before it, all late ones arrive.
    let send = format!(
        "import os,socket,time\n\
         while not os.path.exists('ready'): time.sleep(0.01)\n\
         s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n\
         to=(os.environ['AIRTCP_SERVER'],4000)\n\
         for i in range({packets}):\n\
         \x20   s.sendto((b'%05d' % i).ljust({}),to); time.sleep(0.0005)\n\
         time.sleep(0.5)\n\
         while not os.path.exists('seen'): s.sendto(b'E',to); time.sleep(0.01)\n",
        bytes - 28
    );
    let folder = scenario.folder();
    for file in ["seen", "ready"] {
        let _ = std::fs::remove_file(folder.join(file));
    }
    std::fs::write(folder.join("receive.py"), receive).unwrap();
    std::fs::write(folder.join("send.py"), send).unwrap();
    let output = emulate(scenario, options, "python3 receive.py", "python3 send.py");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let seen = std::fs::read_to_string(folder.join("seen")).unwrap();
    let numbers = seen.split(' ').filter(|one| !one.is_empty());
    numbers.map(|one| one.parse().unwrap()).collect()
}

/// The n-th packet of a real run meets the draw of the n-th packet of a simulation.
#[test]
fn a_seed_loses_the_same_packets_as_in_virtual_time() {
    const PACKETS: usize = 400;
    const BYTES: usize = 100;
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(&format!("{PIPE}[link.loss]\nrate = 0.2\n"));
    for seed in [1, 7] {
        assert_eq!(
            numbered(&scenario, &["--seed", &seed.to_string()], PACKETS, BYTES),
            in_virtual_time(&scenario, seed, PACKETS, BYTES),
            "seed {seed}"
        );
    }
}

/// Links that stop and release at once, and links with jitter in order, lose and reorder nothing; a
/// share of late packets is overtaken. Real packets behave as in the simulator.
#[test]
fn stops_and_jitter_keep_the_order_and_late_packets_lose_it() {
    const PACKETS: usize = 300;
    if !is_allowed() {
        return;
    }
    let every: Vec<usize> = (0..PACKETS).collect();
    for kept in [
        "[link.stops]\nprocess = \"random\"\nworking = \"50 ms\"\nlength = \"30 ms\"\n\
         packets = \"held\"\n",
        "[link.jitter]\nmean = \"5 ms\"\nshape = \"exponential\"\n",
    ] {
        let scenario = Scenario::new(&format!("{PIPE}{kept}"));
        assert_eq!(
            numbered(&scenario, &["--seed", "3"], PACKETS, 100),
            every,
            "{kept}"
        );
    }
    let scenario = Scenario::new(&format!("{PIPE}[link.late]\nshare = 0.1\nby = \"20 ms\"\n"));
    let seen = numbered(&scenario, &["--seed", "3"], PACKETS, 100);
    assert!(!seen.is_sorted(), "no packet was overtaken");
    let mut sorted = seen;
    sorted.sort_unstable();
    assert_eq!(sorted, every);
}

/// The packets that arrive from the same network in virtual time.
fn in_virtual_time(scenario: &Scenario, seed: u64, packets: usize, bytes: usize) -> Vec<usize> {
    let read = airtcp_scenario::Scenario::load(&scenario.path(), &[]).unwrap();
    let arrivals = simulated(&read, seed, packets, bytes).into_iter();
    arrivals.map(|(_, number)| number).collect()
}

/// Numbered packets, one per millisecond: arrival times.
pub fn simulated(
    read: &airtcp_scenario::Scenario,
    seed: u64,
    packets: usize,
    bytes: usize,
) -> Vec<(Instant, usize)> {
    let layout = airtcp_scenario::build(read, seed);
    let mut network: Network<usize, Infallible> = Network::new(layout.network, seed);
    let mut arrivals = Arrivals::default();
    let flow = &layout.flows[0];
    let mut port = network.add_flow(&flow.forward, &flow.reverse)[0];
    let mut now = Instant::ZERO;
    for index in 0..packets {
        let packet = port.packet(Content::Other(u32::try_from(bytes).unwrap()), index);
        network.inject(now, packet, &mut arrivals);
        now += Duration::from_millis(1);
    }
    network.advance(now + Duration::from_secs(1), &mut arrivals);
    arrivals
        .map(|arrival| (arrival.time, arrival.packet.carried))
        .collect()
}

/// A handshake takes a round trip: at least two delays of the link, however fast the machine.
#[test]
fn nothing_is_faster_than_the_link() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    let serve = "python3 -c \"import socket; s=socket.create_server(('0.0.0.0',4000)); \
        open('ready','w').close(); s.accept()\"";
    let connect = "python3 -c \"
import os,socket,time
while not os.path.exists('ready'): time.sleep(0.01)
t=time.monotonic(); socket.create_connection((os.environ['AIRTCP_SERVER'],4000))
print(time.monotonic()-t)\"";
    let output = emulate(&scenario, &[], serve, connect);
    let seconds: f64 = text(&output.stdout)
        .parse()
        .unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    assert!(seconds >= 0.020, "{seconds}");
}
