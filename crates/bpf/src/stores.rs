//! Which stores to the socket the kernel's verifier takes (`bpf_tcp_ca_btf_struct_access`): to the
//! start of a writable member and not past its end; to the control's private state from any of its
//! bytes on.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::mirror::{Layout, Member, Slot};

impl Slot {
    /// Most bytes of a store that starts `from` bytes into the member; 0 if no byte may.
    fn room(&self, from: i64) -> u32 {
        let may_start = match self.member {
            Member::Private => (0..i64::from(self.size)).contains(&from),
            member => member.is_writable() && self.bits.1 == 0 && from == 0,
        };
        match u32::try_from(from) {
            Ok(from) if may_start => self.size.saturating_sub(from),
            _ => 0,
        }
    }
}

impl Layout {
    /// For each byte of the mirror, the most bytes of a store that starts there.
    pub(crate) fn rooms(&self) -> Vec<u8> {
        let mut rooms = alloc::vec![0; self.size() as usize];
        for slot in self.slots() {
            let places = rooms.iter_mut().skip(slot.offset as usize);
            for (from, place) in (0..i64::from(slot.size)).zip(places) {
                *place = u8::try_from(slot.room(from)).unwrap_or(u8::MAX);
            }
        }
        rooms
    }

    /// The reason why a store of `size` bytes at a byte of the mirror is refused, if it is.
    /// `member`: the one that its address was made from, where that is known.
    pub(crate) fn refusal(
        &self,
        member: Option<Member>,
        offset: i64,
        size: usize,
    ) -> Option<String> {
        let slot = match member {
            Some(member) => self.slot(member),
            None => self.at(offset),
        };
        let Some(slot) = slot else {
            return Some("a store outside the socket's members".into());
        };
        let from = offset - i64::from(slot.offset);
        if usize::try_from(slot.room(from)).is_ok_and(|room| room >= size) {
            return None;
        }
        let (name, end) = (slot.member.name(), slot.size);
        let what = if !slot.member.is_writable() || slot.bits.1 > 0 {
            format!("a store to {name}, which is read-only")
        } else if !(0..i64::from(end)).contains(&from) {
            format!("a store at byte {from} of {name}, which has {end} bytes")
        } else if slot.room(from) == 0 {
            format!("a store at byte {from} of {name}, expected at its start")
        } else if from == 0 {
            format!("a store of {size} bytes to {name}, which has {end}")
        } else {
            format!("a store of {size} bytes at byte {from} of {name}, which has {end}")
        };
        Some(format!("{what}: the kernel's verifier refuses it"))
    }

    /// The member that a byte belongs to, or the last one before it.
    fn at(&self, offset: i64) -> Option<Slot> {
        let before = |slot: &&Slot| i64::from(slot.start()) <= offset;
        let slots = self.slots().iter().filter(before);
        slots.max_by_key(|slot| slot.offset).copied()
    }
}
