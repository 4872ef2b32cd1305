//! The memory of a program: numbered regions. An address is `region << 32 | offset`; region 0 is
//! empty, so that a null pointer faults.

use alloc::vec::Vec;

/// The stack: [`FRAMES`] frames.
pub const STACK: usize = 1;
/// The mirror of the socket.
pub const SOCKET: usize = 2;
/// The arguments, as `BPF_PROG` reads them.
pub const CONTEXT: usize = 3;
/// The sample that an argument points to.
pub const SAMPLE: usize = 4;
/// The first of the program's sections and maps.
pub const DATA: usize = 5;

/// Bytes of a stack frame (`MAX_BPF_STACK`).
pub const FRAME: usize = 512;
/// Depth of calls (`MAX_CALL_FRAMES`).
pub const FRAMES: usize = 8;

/// An access outside a region, or a store to one that is read-only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAccess {
    /// The address.
    pub address: u64,
    /// Bytes accessed.
    pub size: usize,
    /// Whether it was a store.
    pub writes: bool,
}

/// A range of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its contents.
    pub bytes: Vec<u8>,
    /// Whether a store faults.
    pub read_only: bool,
}

/// All regions of a program and its flow.
#[derive(Clone, Debug)]
pub struct Memory {
    regions: Vec<Region>,
    /// For each byte of the socket, the most bytes of a store that starts there.
    rooms: Vec<u8>,
}

/// The address of byte `offset` of a region.
#[must_use]
pub const fn address(region: usize, offset: u64) -> u64 {
    (region as u64) << 32 | offset & 0xffff_ffff
}

/// Splits an address: the region, and the byte in it.
#[expect(clippy::cast_possible_truncation, reason = "both halves have 32 bits")]
pub const fn split(address: u64) -> (usize, usize) {
    ((address >> 32) as usize, address as u32 as usize)
}

impl Memory {
    /// Creates memory: a socket with the most bytes of a store at each of its bytes, a sample of
    /// this size in bytes, then sections and maps.
    #[must_use]
    pub fn new(rooms: Vec<u8>, sample: usize, data: impl IntoIterator<Item = Region>) -> Self {
        let zeroed = |size: usize, read_only| Region {
            bytes: alloc::vec![0; size],
            read_only,
        };
        let mut regions = alloc::vec![
            zeroed(0, true),
            zeroed(FRAMES * FRAME, false),
            zeroed(rooms.len(), true),
            zeroed(5 * 8, true),
            zeroed(sample, true),
        ];
        regions.extend(data);
        Self { regions, rooms }
    }

    /// Contents of a region; empty if there is no such region.
    #[must_use]
    pub fn region(&self, region: usize) -> &[u8] {
        self.regions.get(region).map_or(&[], |region| &region.bytes)
    }

    /// The same, mutable whether or not the program may write to it.
    pub fn region_mut(&mut self, region: usize) -> &mut [u8] {
        match self.regions.get_mut(region) {
            Some(region) => &mut region.bytes,
            None => &mut [],
        }
    }

    /// Loads `N` bytes.
    ///
    /// # Errors
    ///
    /// They are not within a region.
    #[inline]
    pub fn load<const N: usize>(&self, address: u64) -> Result<[u8; N], BadAccess> {
        let (region, offset) = split(address);
        self.regions
            .get(region)
            .and_then(|region| region.bytes.get(offset..)?.first_chunk::<N>())
            .copied()
            .ok_or(BadAccess {
                address,
                size: N,
                writes: false,
            })
    }

    /// Stores `N` bytes.
    ///
    /// # Errors
    ///
    /// They are not within a region that may be written.
    #[inline]
    pub fn store<const N: usize>(&mut self, address: u64, value: [u8; N]) -> Result<(), BadAccess> {
        let (number, offset) = split(address);
        let has_room = |room: &u8| usize::from(*room) >= N;
        let rooms = &self.rooms;
        let place = self
            .regions
            .get_mut(number)
            .filter(|region| {
                !region.read_only || number == SOCKET && rooms.get(offset).is_some_and(has_room)
            })
            .and_then(|region| region.bytes.get_mut(offset..)?.first_chunk_mut::<N>());
        match place {
            Some(place) => {
                *place = value;
                Ok(())
            }
            None => Err(BadAccess {
                address,
                size: N,
                writes: true,
            }),
        }
    }

    /// `size` bytes to read.
    ///
    /// # Errors
    ///
    /// They are not within a region.
    pub fn bytes(&self, address: u64, size: usize) -> Result<&[u8], BadAccess> {
        let (region, offset) = split(address);
        self.regions
            .get(region)
            .and_then(|region| region.bytes.get(offset..)?.get(..size))
            .ok_or(BadAccess {
                address,
                size,
                writes: false,
            })
    }

    /// `size` bytes that the kernel writes for a program: never in the socket.
    ///
    /// # Errors
    ///
    /// They are not within a region that may be written.
    pub fn bytes_mut(&mut self, address: u64, size: usize) -> Result<&mut [u8], BadAccess> {
        let (region, offset) = split(address);
        self.regions
            .get_mut(region)
            .filter(|region| !region.read_only)
            .and_then(|region| region.bytes.get_mut(offset..)?.get_mut(..size))
            .ok_or(BadAccess {
                address,
                size,
                writes: true,
            })
    }
}
