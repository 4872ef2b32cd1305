//! The root queueing discipline of a device: reading and restoring it.
//!
//! It is stored as reported by the kernel, options byte by byte, so that exactly the same is
//! restored: a parser of options would lose unknown ones.

use serde::{Deserialize, Serialize};

use super::discipline::Discipline;
use super::tcmsg::{INGRESS, KIND, MESSAGE, OPTIONS, ROOT, attach, delete, dump, failed, message};
use crate::error::{Error, Result};
use crate::interface;
use crate::netlink::frame::{as_text, find, word};

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
        attach(device, ROOT, self.handle, &self.kind, &self.options)
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
        attach(device, ROOT, OWN_HANDLE, self.kind(), &self.in_netlink())
    }
}

/// Removes the root discipline of a device: the kernel then chooses a default.
///
/// # Errors
///
/// There is no such device, or the kernel refuses.
pub fn remove(device: &str) -> Result<()> {
    let body = message(interface::index(device)?, 0, ROOT);
    delete(&body).map_err(|cause| failed(device, "take away the queueing discipline of", cause))
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
