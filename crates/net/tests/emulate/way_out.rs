//! The far end's uplink: one emulated link inside another, the outer one's far end being the world.

use std::process::Command;

use super::{PIPE, Scenario, emulate, is_allowed, text};

/// The far end of the outer link serves a page, and answers for every name in place of the
/// machine's resolver, whose address it takes over.
const WORLD: &str = "import socket,subprocess,threading
answer=socket.inet_aton('192.0.2.80')
for line in open('/etc/resolv.conf'):
    if line.startswith('nameserver'):
        resolver=line.split()[1]; break
subprocess.run(['ip','addr','add',resolver+'/32','dev','lo'],check=True)
names=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); names.bind((resolver,53))
def resolve():
    while True:
        d,a=names.recvfrom(512); end=d[12:].index(0)+5
        names.sendto(d[:2]+b'\\x81\\x80\\0\\1\\0\\1\\0\\0\\0\\0'+d[12:12+end]
            +b'\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x3c\\0\\4'+answer,a)
threading.Thread(target=resolve,daemon=True).start()
s=socket.create_server(('::',4000),family=socket.AF_INET6,dualstack_ipv6=True)
open('ready','w').close()
while True:
    c,a=s.accept(); c.sendall(b'the world'); c.close()
";

/// The requests of the inner link's command: the world by both addresses, and a name.
const ASK: &str = "import os,socket,time
def ask(address):
    c=socket.create_connection((address,4000),timeout=2)
    return c.recv(100).decode()
begun=time.monotonic(); print(ask(os.environ['WORLD']))
# A handshake over two links of 10 ms each way.
assert time.monotonic()-begun>=0.04
while True:
    # The way out learns its IPv6 addresses a moment later.
    try: print(ask(os.environ['WORLD6'])); break
    except OSError: time.sleep(0.1)
print(socket.gethostbyname('no.such.name.example'))
";

/// A command inside reaches the machine's network, by name too, and so does a nested one.
#[test]
fn a_nested_link_reaches_the_world_through_the_outer_one() {
    if !airtcp_needs::are_met(&["slirp4netns", "ip"]) || !is_allowed() {
        return;
    }
    let resolvers = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let mut resolvers = resolvers.lines().filter_map(|line| {
        let address = line.strip_prefix("nameserver")?.trim();
        address.parse::<std::net::Ipv4Addr>().ok()
    });
    if resolvers
        .next()
        .is_none_or(|resolver| resolver.is_loopback())
    {
        airtcp_needs::skip("the machine has no resolver of its own to stand for");
        return;
    }
    let scenario = Scenario::new(PIPE);
    for (name, program) in [("world.py", WORLD), ("ask.py", ASK)] {
        std::fs::write(scenario.folder().join(name), program).unwrap();
    }
    let inner = format!(
        "while ! test -e ready; do sleep 0.01; done
         export WORLD=$AIRTCP_SERVER WORLD6=$AIRTCP_SERVER6
         exec '{}' emulate --mtu 1280 '{}' -- python3 ask.py",
        env!("CARGO_BIN_EXE_airtcp-net"),
        scenario.path().display(),
    );
    let output = emulate(&scenario, &[], "python3 world.py", &inner);
    assert_eq!(
        text(&output.stdout),
        "the world\nthe world\n192.0.2.80",
        "{}",
        text(&output.stderr)
    );
}

/// A separate machine, root over its network, with a world beyond a second device that knows no
/// other network. The emulator finds neither program there.
const MACHINE: &str = "set -e
ip link set lo up
unshare -n sleep 1000 & world=$!
trap 'kill $world' EXIT
own=$(readlink /proc/self/ns/net)
while [ \"$(readlink /proc/$world/ns/net)\" = \"$own\" ]; do sleep 0.01; done
ip link add up0 type veth peer name w0 netns $world
ip addr add 192.0.2.1/30 dev up0; ip link set up0 up
nsenter -t $world -n sh -c 'ip addr add 192.0.2.2/30 dev w0; ip link set w0 up'
echo $FORWARDS > /proc/sys/net/ipv4/ip_forward
nsenter -t $world -n python3 -c \"import socket
s=socket.create_server(('192.0.2.2',4000)); open('ready','w').close()
while True:
    c,a=s.accept(); c.sendall(a[0].encode()); c.close()\" & server=$!
trap 'kill $server $world' EXIT
while ! test -e ready; do sleep 0.01; done
python=$(python3 -c 'import sys; print(sys.executable)')
PATH=/nowhere \"$EMULATOR\" emulate --quiet link.toml -- \"$python\" -c \"import socket
try: print(socket.create_connection(('192.0.2.2',4000),timeout=5).recv(100).decode())
except OSError: print('no way')\"
# The kernel takes a namespace's devices down a moment after its last process.
while ip link | grep -q airtcp-; do sleep 0.01; done
echo gone
";

/// Runs the emulator in such a machine. `None` if that is not available.
fn in_a_machine(forwards: bool) -> Option<std::process::Output> {
    if !airtcp_needs::are_met(&["ip"]) {
        return None;
    }
    let scenario = Scenario::new(PIPE);
    let output = Command::new("unshare")
        .args(["--map-root-user", "--net", "sh", "-c", MACHINE])
        .env("EMULATOR", env!("CARGO_BIN_EXE_airtcp-net"))
        .env("FORWARDS", if forwards { "1" } else { "0" })
        .current_dir(scenario.folder())
        .output();
    Some(output.expect("unshare starts"))
}

/// As root, and where the machine forwards, the far end's packets take the machine's address.
#[test]
fn a_machine_that_forwards_translates_for_the_far_end() {
    if !is_allowed() {
        return;
    }
    let Some(output) = in_a_machine(true) else {
        return;
    };
    let error = text(&output.stderr);
    if error.contains("nft_masq") {
        airtcp_needs::skip(error);
        return;
    }
    // The world's view, and then that nothing is left.
    assert_eq!(text(&output.stdout), "192.0.2.1\ngone", "{error}");
}

/// The machine's settings are not changed: the message lists the required ones.
#[test]
fn a_machine_that_does_not_forward_is_left_as_it_is() {
    if !is_allowed() {
        return;
    }
    let Some(output) = in_a_machine(false) else {
        return;
    };
    assert_eq!(
        text(&output.stdout),
        "no way\ngone",
        "{}",
        text(&output.stderr)
    );
}

/// Without any uplink the link exists all the same, and the message names the missing uplink.
#[test]
fn a_missing_way_out_is_said() {
    if !is_allowed() {
        return;
    }
    let scenario = Scenario::new(PIPE);
    let command = format!(
        "echo 0 > /proc/sys/net/ipv4/ip_forward
         PATH=/nowhere exec '{}' emulate '{}' -- /bin/sh -c 'echo ran'",
        env!("CARGO_BIN_EXE_airtcp-net"),
        scenario.path().display(),
    );
    let output = emulate(&scenario, &[], "true", &command);
    let error = text(&output.stderr);
    assert_eq!(text(&output.stdout), "ran", "{error}");
    assert!(output.status.success(), "{error}");
    assert!(error.contains("install slirp4netns"), "{error}");
    assert!(error.contains("net.ipv4.ip_forward=1"), "{error}");
}
