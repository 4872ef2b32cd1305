//! Gateways whose devices belong to a bridge or carry a VLAN.

use crate::router::{Middle, Router, WIRED, sh, uses};
use crate::upload::upload;
use crate::{EVERY, SLOW, WIDE, can_queue};

/// The middle, or prints why there is none.
fn middle(middle: Middle) -> Option<Router> {
    let made = uses(&["nft"]).and_then(|()| Router::new(middle));
    made.and_then(can_queue)
        .inspect_err(|error| airtcp_needs::skip(error))
        .ok()
}

/// No rule would ever match a packet that is forwarded to a port: the bridge must be named.
#[test]
fn a_port_is_refused_and_its_bridge_is_taken() {
    let Some(router) = middle(Middle::RoutesFromBridge) else {
        return;
    };
    let path = router.configuration(WIDE);
    let words = [EVERY, "--apply", "--config", &path];
    let refused = router.gateway(&words).err().map(|error| error.to_string());
    let refused = refused.unwrap_or_default();
    assert!(refused.contains("expected --mobile br0"), "{refused}");
    assert!(!router.rules().contains("airtcp"), "{}", router.rules());
    let devices = ["--mobile", "br0", "--wired", "r1"];
    let mut gateway = router
        .gateway_with(&[&devices[..], &words].concat(), &[])
        .unwrap();
    assert!(upload(&router, WIRED, 1_000_000, SLOW).is_whole);
    let report = gateway.stop();
    assert!(report["did"]["delayed"].as_u64() > Some(20), "{report}");
}

/// A VLAN of the mobile's is a device like any other.
#[test]
fn a_vlan_is_a_device() {
    let Some(router) = middle(Middle::Routes) else {
        return;
    };
    let tagged = |host, device: &str, address: &str| {
        sh(
            host,
            &format!(
                "ip link add link {device} name {device}.5 type vlan id 5\n\
                 ip addr flush dev {device}\n\
                 ip addr add {address}/24 dev {device}.5\n\
                 ip link set {device}.5 up"
            ),
        )
    };
    let made = tagged(&router.router, "r0", "10.77.1.1")
        .and_then(|_| tagged(&router.mobile, "m0", "10.77.1.2"))
        .and_then(|_| sh(&router.mobile, "ip route add default via 10.77.1.1"));
    if let Err(error) = made {
        airtcp_needs::skip(error);
        return;
    }
    let path = router.configuration(WIDE);
    let words = ["--mobile", "r0.5", "--wired", "r1", EVERY, "--apply"];
    let mut gateway = router
        .gateway_with(&[&words[..], &["--config", &path]].concat(), &[])
        .unwrap();
    assert!(upload(&router, WIRED, 1_000_000, SLOW).is_whole);
    let report = gateway.stop();
    assert!(report["did"]["delayed"].as_u64() > Some(20), "{report}");
}
