//! The kernel's BPF helper functions that a congestion control may call (bpf-helpers(7)).

use alloc::vec;

use crate::environment::Environment;
use crate::maps::{Kind, Maps};
use crate::memory::Memory;
use crate::trace;
use crate::trap::Trap;

/// Declares the helpers once: their numbers in `enum bpf_func_id`.
macro_rules! helpers {
    ($($Helper:ident $first:literal $(..= $last:literal)? : $what:literal;)+) => {
        /// A helper.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Helper {
            $(#[doc = $what] $Helper,)+
        }

        impl Helper {
            /// The helper of this number.
            #[must_use]
            pub const fn numbered(number: i32) -> Option<Self> {
                match number {
                    $($first $(..= $last)? => Some(Self::$Helper),)+
                    _ => None,
                }
            }
        }
    };
}

helpers! {
    MapLookup 1: "`bpf_map_lookup_elem`.";
    MapUpdate 2: "`bpf_map_update_elem`.";
    MapDelete 3: "`bpf_map_delete_elem`.";
    ProbeRead 4: "`bpf_probe_read`.";
    Time 5: "`bpf_ktime_get_ns`: virtual time.";
    TracePrintk 6: "`bpf_trace_printk`: an event of the run.";
    Random 7: "`bpf_get_prandom_u32`: from the flow's own stream.";
    Processor 8: "`bpf_get_smp_processor_id`: 0.";
    SpinLock 93..=94: "`bpf_spin_lock` and `bpf_spin_unlock`: nothing else runs.";
    StorageGet 107: "`bpf_sk_storage_get`.";
    StorageDelete 108: "`bpf_sk_storage_delete`.";
    ProbeReadKernel 113: "`bpf_probe_read_kernel`.";
    SendAck 116: "`bpf_tcp_send_ack`: counted alone.";
    Jiffies 118: "`bpf_jiffies64`.";
    BootTime 125: "`bpf_ktime_get_boot_ns`.";
    SocketCast 136..=140: "`bpf_skc_to_tcp_sock` and its like: every socket is this one.";
    CoarseTime 160: "`bpf_ktime_get_coarse_ns`.";
    TraceVprintk 177: "`bpf_trace_vprintk`: an event of the run.";
    TaiTime 208: "`bpf_ktime_get_tai_ns`.";
}

/// `BPF_SK_STORAGE_GET_F_CREATE`.
const CREATE: u64 = 1;
const ENOENT: i64 = 2;
const EEXIST: i64 = 17;
const E2BIG: i64 = 7;

impl Helper {
    /// Calls it.
    ///
    /// # Errors
    ///
    /// An argument is no address that the program may use.
    pub fn call(
        self,
        [a, b, c, d, e]: [u64; 5],
        memory: &mut Memory,
        maps: &mut Maps,
        environment: &mut Environment,
    ) -> Result<u64, Trap> {
        Ok(match self {
            Self::MapLookup => maps.find(a, b, memory)?.unwrap_or(0),
            Self::MapUpdate => update(maps, (a, b, c, d), memory)?,
            Self::MapDelete => match maps.remove(a, b, memory)? {
                true => 0,
                false => failure(ENOENT),
            },
            Self::ProbeRead | Self::ProbeReadKernel => {
                let bytes = memory.bytes(c, size(b))?.to_vec();
                memory.bytes_mut(a, bytes.len())?.copy_from_slice(&bytes);
                0
            }
            Self::Time | Self::BootTime | Self::CoarseTime | Self::TaiTime => environment.now_ns,
            Self::TracePrintk => {
                let text = trace::format(memory, (a, size(b)), &[c, d, e])?;
                environment.write(text)
            }
            Self::TraceVprintk => {
                let words = size(d) / 8;
                let mut arguments = vec![0; words.min(12)];
                for (argument, at) in arguments.iter_mut().zip((c..).step_by(8)) {
                    *argument = u64::from_le_bytes(memory.load(at)?);
                }
                let text = trace::format(memory, (a, size(b)), &arguments)?;
                environment.write(text)
            }
            Self::Random => u64::from(environment.draw()),
            Self::Processor | Self::SpinLock => 0,
            Self::StorageGet => match maps.stored(a)? {
                Some(place) => place,
                None if d & CREATE != 0 => maps.store(a, c, memory)?,
                None => 0,
            },
            Self::StorageDelete => match maps.forget(a)? {
                true => 0,
                false => failure(ENOENT),
            },
            Self::SendAck => {
                environment.acknowledgments += 1;
                0
            }
            Self::Jiffies => environment.jiffies(),
            Self::SocketCast => a,
        })
    }
}

fn update(
    maps: &mut Maps,
    (map, key, value, flags): (u64, u64, u64, u64),
    memory: &mut Memory,
) -> Result<u64, Trap> {
    let found = maps.find(map, key, memory)?;
    // BPF_NOEXIST: 1, BPF_EXIST: 2.
    match (found, flags & 3) {
        (Some(_), 1) => return Ok(failure(EEXIST)),
        (None, 2) => return Ok(failure(ENOENT)),
        _ => {}
    }
    let place = match found {
        Some(place) => place,
        None if maps.kind(map)? == Kind::Array => return Ok(failure(E2BIG)),
        None => match maps.insert(map, key, memory)? {
            Some(place) => place,
            None => return Ok(failure(E2BIG)),
        },
    };
    let bytes = memory.bytes(value, maps.value_size(map)?)?.to_vec();
    memory
        .bytes_mut(place, bytes.len())?
        .copy_from_slice(&bytes);
    Ok(0)
}

const fn failure(error: i64) -> u64 {
    (-error).cast_unsigned()
}

/// A size argument: 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "a size has 32 bits")]
const fn size(value: u64) -> usize {
    value as u32 as usize
}
