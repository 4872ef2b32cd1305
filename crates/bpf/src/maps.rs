//! A flow's maps: where the value of a key is, in the map's region of memory.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::memory::{Memory, address};
use crate::trap::Trap;

/// The way a map finds its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By index (`BPF_MAP_TYPE_ARRAY`).
    Array,
    /// By key (`BPF_MAP_TYPE_HASH`).
    Hash,
    /// One value of the socket's (`BPF_MAP_TYPE_SK_STORAGE`).
    Storage,
}

impl Kind {
    /// The kind of this number in `enum bpf_map_type`. There is one processor.
    #[must_use]
    pub const fn numbered(number: u32) -> Option<Self> {
        match number {
            1 | 5 | 9 | 10 => Some(Self::Hash),
            2 | 6 => Some(Self::Array),
            24 => Some(Self::Storage),
            _ => None,
        }
    }
}

/// A map as a program declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// Its name.
    pub name: String,
    /// The way it finds its values.
    pub kind: Kind,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// Most entries.
    pub entries: u32,
    /// The region that holds its values.
    pub region: usize,
}

/// No kernel takes a larger value (`BPF_LOCAL_STORAGE_MAX_VALUE_SIZE` is a few bytes less).
const MAX_STORAGE: u32 = 0xffff;

impl Map {
    /// Most bytes of a map's values.
    pub const MAX_BYTES: u64 = 16 << 20;

    /// Bytes from one value to the next.
    #[must_use]
    pub const fn stride(&self) -> u64 {
        (self.value_size as u64).next_multiple_of(8)
    }

    /// Why the kernel does not create it (`array_map_alloc_check`, `htab_map_alloc_check`,
    /// `bpf_local_storage_map_alloc_check`).
    #[must_use]
    pub const fn fault(&self) -> Option<&'static str> {
        let is_storage = matches!(self.kind, Kind::Storage);
        if self.value_size == 0 {
            return Some("expected values of at least a byte");
        }
        match self.kind {
            Kind::Hash if self.key_size == 0 => Some("expected keys of at least a byte"),
            Kind::Array | Kind::Storage if self.key_size != 4 => Some("expected keys of 4 bytes"),
            _ if is_storage && self.value_size > MAX_STORAGE => {
                Some("a value of a socket's storage has at most 65535 bytes")
            }
            _ if is_storage && self.entries != 0 => Some("a socket's storage has no max_entries"),
            _ if !is_storage && self.entries == 0 => Some("expected max_entries of at least 1"),
            _ => None,
        }
    }

    /// Bytes of all values; `None` if they are too many.
    #[must_use]
    pub fn bytes(&self) -> Option<usize> {
        let entries = match self.kind {
            Kind::Storage => 1,
            _ => u64::from(self.entries),
        };
        let bytes = self.stride().checked_mul(entries)?;
        usize::try_from(bytes)
            .ok()
            .filter(|_| bytes <= Self::MAX_BYTES)
    }
}

/// Keys in use, with the index of each one's value.
#[derive(Clone, Debug, Default)]
struct Keys {
    used: BTreeMap<Vec<u8>, u32>,
    free: Vec<u32>,
    next: u32,
}

/// The maps of a flow.
#[derive(Clone, Debug)]
pub struct Maps {
    maps: Vec<(Map, Keys)>,
}

const NO_MAP: Trap = Trap::Argument("an argument is no map");

impl Maps {
    /// Creates empty maps.
    #[must_use]
    pub fn new(maps: &[Map]) -> Self {
        let maps = maps.iter().map(|map| (map.clone(), Keys::default()));
        Self {
            maps: maps.collect(),
        }
    }

    fn map(&self, handle: u64) -> Result<&(Map, Keys), Trap> {
        let found = self
            .maps
            .iter()
            .find(|(map, _)| address(map.region, 0) == handle);
        found.ok_or(NO_MAP)
    }

    fn map_mut(&mut self, handle: u64) -> Result<&mut (Map, Keys), Trap> {
        let found = self
            .maps
            .iter_mut()
            .find(|(map, _)| address(map.region, 0) == handle);
        found.ok_or(NO_MAP)
    }

    /// The kind of a map.
    ///
    /// # Errors
    ///
    /// There is no such map.
    pub fn kind(&self, handle: u64) -> Result<Kind, Trap> {
        Ok(self.map(handle)?.0.kind)
    }

    /// Bytes of a map's value.
    ///
    /// # Errors
    ///
    /// There is no such map.
    pub fn value_size(&self, handle: u64) -> Result<usize, Trap> {
        Ok(self.map(handle)?.0.value_size as usize)
    }

    /// The address of a key's value, if it has one.
    ///
    /// # Errors
    ///
    /// There is no such map, or the key is not in memory.
    pub fn find(&self, handle: u64, key: u64, memory: &Memory) -> Result<Option<u64>, Trap> {
        let (map, keys) = self.map(handle)?;
        let index = match map.kind {
            Kind::Array => {
                let index = u32::from_le_bytes(memory.load(key)?);
                (index < map.entries).then_some(index)
            }
            Kind::Hash => {
                let key = memory.bytes(key, map.key_size as usize)?;
                keys.used.get(key).copied()
            }
            Kind::Storage => return Err(Trap::Argument("a lookup in the socket's storage")),
        };
        Ok(index.map(|index| value(map, index)))
    }

    /// Makes room for a key that has no value; `None` if the map is full.
    ///
    /// # Errors
    ///
    /// There is no such map, or the key is not in memory.
    pub fn insert(&mut self, handle: u64, key: u64, memory: &Memory) -> Result<Option<u64>, Trap> {
        let (map, keys) = self.map_mut(handle)?;
        let key = memory.bytes(key, map.key_size as usize)?.to_vec();
        let index = match keys.free.pop() {
            Some(index) => index,
            None if keys.next < map.entries => {
                keys.next += 1;
                keys.next - 1
            }
            None => return Ok(None),
        };
        keys.used.insert(key, index);
        Ok(Some(value(map, index)))
    }

    /// Removes a key. Returns whether it was there.
    ///
    /// # Errors
    ///
    /// There is no such map, or the key is not in memory.
    pub fn remove(&mut self, handle: u64, key: u64, memory: &Memory) -> Result<bool, Trap> {
        let (map, keys) = self.map_mut(handle)?;
        let key = memory.bytes(key, map.key_size as usize)?;
        let index = keys.used.remove(key);
        keys.free.extend(index);
        Ok(index.is_some())
    }

    /// The address of the socket's value, if it has one.
    ///
    /// # Errors
    ///
    /// There is no such map.
    pub fn stored(&self, handle: u64) -> Result<Option<u64>, Trap> {
        let (map, keys) = self.map(handle)?;
        if map.kind != Kind::Storage {
            return Err(Trap::Argument("a map that is not the socket's storage"));
        }
        Ok((!keys.used.is_empty()).then(|| value(map, 0)))
    }

    /// Gives the socket a value: a copy of that at `initial`, or zeros.
    ///
    /// # Errors
    ///
    /// There is no such map, or the initial value is not in memory.
    pub fn store(&mut self, handle: u64, initial: u64, memory: &mut Memory) -> Result<u64, Trap> {
        let (map, keys) = self.map_mut(handle)?;
        let (place, size) = (value(map, 0), map.value_size as usize);
        let bytes = match initial {
            0 => alloc::vec![0; size],
            initial => memory.bytes(initial, size)?.to_vec(),
        };
        memory.bytes_mut(place, size)?.copy_from_slice(&bytes);
        keys.used.insert(Vec::new(), 0);
        Ok(place)
    }

    /// Takes the socket's value away. Returns whether it had one.
    ///
    /// # Errors
    ///
    /// There is no such map.
    pub fn forget(&mut self, handle: u64) -> Result<bool, Trap> {
        let (_, keys) = self.map_mut(handle)?;
        Ok(keys.used.remove(&Vec::new()[..]).is_some())
    }
}

fn value(map: &Map, index: u32) -> u64 {
    address(map.region, u64::from(index) * map.stride())
}
