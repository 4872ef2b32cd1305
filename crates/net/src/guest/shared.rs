//! The memory that a guest shares with the outside: work in, results out.
//!
//! It is the BAR of an ivshmem-plain device, a file on the host, which the kernel maps without a
//! driver. Writing to it is a write to memory: no interrupt, no waiting, no additional time.
//!
//! ```text
//!   0      length of the work, u64 little endian        8   length of the results
//!   4096   the work                        INPUT_END … size the results
//! ```

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use airtcp_host::error::{Error, Result, Tried};
use rustix::mm::{MapFlags, ProtFlags, mmap};

/// PCI vendor and device number of ivshmem (QEMU's docs/specs/ivshmem-spec).
const DEVICE: [(&str, &str); 2] = [("vendor", "0x1af4"), ("device", "0x1110")];
/// The BAR with the memory.
const BAR: &str = "resource2";
/// Start of the work.
const INPUT: usize = 4096;
/// End of the work, start of the results.
const INPUT_END: usize = 16 << 20;

/// The memory, mapped for as long as the guest runs.
pub(super) struct Shared {
    base: *mut u8,
    size: usize,
    written: usize,
}

impl Shared {
    /// Maps the memory of the guest's ivshmem device.
    ///
    /// # Errors
    ///
    /// There is no such device, or it is too small.
    pub(super) fn map() -> Result<Self> {
        let path = find()?;
        let unusable = || format!("cannot map {}", path.display());
        let file = File::options()
            .read(true)
            .write(true)
            .open(&path)
            .tried(unusable)?;
        let size = usize::try_from(file.metadata().tried(unusable)?.len()).unwrap_or(0);
        if size <= INPUT_END {
            return Err(Error::new(format!("{}: too small", path.display())));
        }
        // SAFETY: a new mapping, not shared within this process.
        #[expect(unsafe_code, reason = "memory that is shared is mapped by hand")]
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )
        }
        .tried(unusable)?;
        Ok(Self {
            base: base.cast(),
            size,
            written: 0,
        })
    }

    /// The work, copied.
    ///
    /// # Errors
    ///
    /// There is no work.
    pub(super) fn work(&self) -> Result<Vec<u8>> {
        let length = usize::try_from(self.length(0).load(Ordering::Acquire)).unwrap_or(usize::MAX);
        if length == 0 || length > INPUT_END - INPUT {
            return Err(Error::new(format!(
                "work of {length} bytes: none, or too much"
            )));
        }
        let mut work = vec![0; length];
        // SAFETY: the bounds were checked, and the outside writes before the guest runs.
        #[expect(unsafe_code, reason = "memory that is shared is read by hand")]
        unsafe {
            std::ptr::copy_nonoverlapping(self.base.add(INPUT), work.as_mut_ptr(), length);
        }
        Ok(work)
    }

    /// Appends to the results.
    ///
    /// # Errors
    ///
    /// They do not fit.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() > self.size - INPUT_END - self.written {
            return Err(Error::new(format!(
                "the results are longer than the {} MiB that there is room for",
                (self.size - INPUT_END) >> 20
            )));
        }
        // SAFETY: the bounds were checked, and there is no other writer.
        #[expect(unsafe_code, reason = "memory that is shared is written by hand")]
        unsafe {
            let to = self.base.add(INPUT_END + self.written);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
        self.written += bytes.len();
        self.length(1).store(self.written as u64, Ordering::Release);
        Ok(())
    }

    const fn length(&self, number: usize) -> &AtomicU64 {
        // SAFETY: the mapping starts at a page and lives as long as `self`.
        #[expect(unsafe_code, reason = "memory that is shared is read by hand")]
        unsafe {
            AtomicU64::from_ptr(self.base.cast::<u64>().add(number))
        }
    }
}

/// The file of the device's memory.
fn find() -> Result<PathBuf> {
    let devices = "/sys/bus/pci/devices";
    for entry in std::fs::read_dir(devices).tried(|| format!("cannot read {devices}"))? {
        let folder = entry.tried(|| format!("cannot read {devices}"))?.path();
        let is_it = DEVICE.iter().all(|(file, number)| {
            std::fs::read_to_string(folder.join(file)).is_ok_and(|text| text.trim() == *number)
        });
        if is_it {
            return Ok(folder.join(BAR));
        }
    }
    Err(Error::new("the guest has no ivshmem device"))
}
