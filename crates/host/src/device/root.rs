//! The root queueing discipline of a device: reading and restoring it.
//!
//! It is stored as reported by the kernel, options byte by byte, so that exactly the same is
//! restored. Messages are encoded here by hand: a parser of options would lose unknown ones.

use std::io;

use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REPLACE};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::discipline::{Discipline, OPTIONS};
use crate::error::{Error, Result};
use crate::interface;
use crate::netlink::frame::{append_attribute, as_text, find, text, word};
use crate::netlink::{Connection, Part};

/// RTM_NEWQDISC, RTM_DELQDISC and RTM_GETQDISC of include/uapi/linux/rtnetlink.h.
const NEW: u16 = 36;
const DELETE: u16 = 37;
const GET: u16 = 38;
/// TC_H_ROOT and TC_H_INGRESS of include/uapi/linux/pkt_sched.h.
const ROOT: u32 = u32::MAX;
const INGRESS: u32 = 0xffff_fff1;
/// TCA_KIND.
const KIND: u16 = 1;
/// Bytes of struct tcmsg.
pub(super) const MESSAGE: usize = 20;

/// Kinds with options that the kernel accepts as it reports them, and without classes.
const RESTORABLE: [&str; 10] = [
    "pfifo",
    "bfifo",
    "pfifo_fast",
    "noqueue",
    "fq",
    "codel",
    "fq_codel",
    "pie",
    "fq_pie",
    "cake",
];

/// The handle of airtcp's disciplines, which identifies them.
pub const OWN_HANDLE: u32 = 0xa17c_0000;

/// A discipline that is the root of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootDiscipline {
    /// Its kind, as tc(8) names it.
    pub kind: String,
    /// Its handle; 0 if the kernel has chosen it itself.
    pub handle: u32,
    /// The content of its options.
    options: Vec<u8>,
}

impl RootDiscipline {
    /// The root discipline of a device in the calling thread's namespace; `None` for the kernel's
    /// default.
    ///
    /// # Errors
    ///
    /// There is no such device, or the kernel does not answer.
    pub fn of(device: &str) -> Result<Option<Self>> {
        let all = all(device)?;
        let root = all.into_iter().find(|(parent, _)| *parent == ROOT);
        Ok(root.map(|(_, root)| root).filter(|root| root.handle != 0))
    }

    /// The root discipline of a device, if it can be restored.
    ///
    /// # Errors
    ///
    /// It has classes or a kind with state that cannot be recorded; names it.
    pub fn restorable(device: &str) -> Result<Option<Self>> {
        let all = all(device)?;
        let below = all
            .iter()
            .find(|(parent, one)| *parent != ROOT && *parent != INGRESS && one.handle != 0);
        let Some((_, root)) = all.iter().find(|(parent, _)| *parent == ROOT) else {
            return Ok(None);
        };
        if root.handle == 0 {
            return Ok(None);
        }
        if below.is_some() || !RESTORABLE.contains(&root.kind.as_str()) {
            return Err(Error::new(format!(
                "{device} has queueing discipline {}, whose classes and filters could not be put \
                 back",
                root.kind
            ))
            .remedied_by(format!(
                "tc qdisc del dev {device} root, if you can do without"
            )));
        }
        Ok(Some(root.clone()))
    }

    /// Restores it on a device.
    ///
    /// # Errors
    ///
    /// There is no such device, or the kernel refuses.
    pub fn put(&self, device: &str) -> Result<()> {
        set(device, &self.kind, self.handle, &self.options)
    }
}

impl Discipline {
    /// Attaches the discipline to a device of the calling thread's namespace, under [a
    /// handle](OWN_HANDLE) that identifies it.
    ///
    /// # Errors
    ///
    /// This kernel lacks it, or refuses an option.
    pub fn put_as_own(&self, device: &str) -> Result<()> {
        set(device, self.kind(), OWN_HANDLE, &self.in_netlink())
    }
}

/// Removes the root discipline of a device: the kernel then chooses a default.
///
/// # Errors
///
/// There is no such device, or the kernel refuses.
pub fn remove(device: &str) -> Result<()> {
    let body = message(interface::index(device)?, 0, ROOT);
    exchange(DELETE, NLM_F_ACK, &body)
        .map(drop)
        .map_err(|cause| failed(device, "take away the queueing discipline of", cause))
}

fn set(device: &str, kind: &str, handle: u32, options: &[u8]) -> Result<()> {
    let mut body = message(interface::index(device)?, handle, ROOT);
    body.extend(text(KIND, kind));
    if !options.is_empty() {
        append_attribute(&mut body, OPTIONS, options);
    }
    exchange(NEW, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &body)
        .map(drop)
        .map_err(|cause| {
            if cause.raw_os_error() == Some(Errno::NOENT.raw_os_error()) {
                return Error::new(format!("this kernel has no queueing discipline {kind}"))
                    .remedied_by(format!("it is the module sch_{kind}: modprobe sch_{kind}"));
            }
            failed(
                device,
                &format!("put queueing discipline {kind} before"),
                cause,
            )
        })
}

pub(super) fn failed(device: &str, what: &str, cause: io::Error) -> Error {
    Error::system(format!("cannot {what} {device}"), cause)
}

/// All disciplines of a device, each with its parent.
fn all(device: &str) -> Result<Vec<(u32, RootDiscipline)>> {
    let index = interface::index(device)?;
    let answers = dump(&message(index, 0, 0))
        .map_err(|cause| failed(device, "read the queueing disciplines of", cause))?;
    let of_device = |(found, parent, one): (u32, u32, RootDiscipline)| {
        (found == index).then_some((parent, one))
    };
    Ok(answers
        .iter()
        .filter_map(|body| parsed(body))
        .filter_map(of_device)
        .collect())
}

/// struct tcmsg: family, padding, interface, handle, parent, info.
pub(super) fn message(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    let fields = [0, index, handle, parent, 0];
    fields
        .iter()
        .flat_map(|field: &u32| field.to_ne_bytes())
        .collect()
}

/// Interface, parent and discipline of an answer.
fn parsed(body: &[u8]) -> Option<(u32, u32, RootDiscipline)> {
    let content = body.get(MESSAGE..)?;
    let root = RootDiscipline {
        kind: find(content, KIND).map(as_text).unwrap_or_default(),
        handle: word(body, 8)?,
        options: find(content, OPTIONS).unwrap_or_default().to_vec(),
    };
    Some((word(body, 4)?, word(body, 12)?, root))
}

/// Requests all disciplines of every device; returns the bodies of the answers.
pub(super) fn dump(body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    exchange(GET, NLM_F_DUMP, body)
}

fn exchange(kind: u16, flags: u16, body: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let answers = Connection::open(Part::Route)?.exchange(kind, flags, body)?;
    Ok(answers.into_iter().map(|(_, body)| body).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Namespace;

    /// The old discipline is restored byte by byte; the kernel's default counts as `None`.
    #[test]
    fn what_was_there_is_put_back() {
        let Ok(namespace) = Namespace::new() else {
            airtcp_needs::skip("namespaces need root");
            return;
        };
        namespace
            .enter(|| {
                assert_eq!(RootDiscipline::of("lo")?, None);
                Discipline::parse("pfifo limit 77")?.put("lo")?;
                let old = RootDiscipline::restorable("lo")?.expect("a discipline");
                assert_eq!(
                    (old.kind.as_str(), &old.options[..4]),
                    ("pfifo", &77_u32.to_ne_bytes()[..])
                );
                Discipline::parse("bfifo limit 9000")?.put_as_own("lo")?;
                let own = RootDiscipline::of("lo")?.expect("a discipline");
                assert_eq!((own.kind.as_str(), own.handle), ("bfifo", OWN_HANDLE));
                old.put("lo")?;
                assert_eq!(RootDiscipline::of("lo")?, Some(old));
                remove("lo")?;
                assert_eq!(RootDiscipline::of("lo")?, None);
                assert!(RootDiscipline::of("absent").is_err());
                Ok(())
            })
            .unwrap();
    }
}
