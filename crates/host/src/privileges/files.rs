//! Restricts file access by Landlock (Documentation/userspace-api/landlock.rst).

use std::path::Path;

use landlock::{
    ABI, AccessFs, BitFlags, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError,
};

use crate::error::{Error, Result};

/// The kinds of access known to Linux 6.2 are restricted; an older kernel restricts fewer.
const KNOWN: ABI = ABI::V3;

/// Allows writing only below `writes`, and reading and executing only below `reads`, if given.
/// Files already open stay accessible. Does nothing on a kernel without Landlock.
///
/// # Errors
///
/// The kernel has Landlock and refuses.
pub fn restrict(writes: &[&Path], reads: Option<&[&Path]>) -> Result<()> {
    let reading = AccessFs::from_read(KNOWN);
    let handled = AccessFs::from_write(KNOWN) | reads.map_or(BitFlags::EMPTY, |_| reading);
    let read = reads.unwrap_or_default();
    let written = writes.iter().map(|path| (*path, handled));
    let rules = written.chain(read.iter().map(|path| (*path, reading)));
    enforce(handled, rules)
        .map_err(|cause| Error::new(format!("cannot limit access to files: {cause}")))
}

fn enforce<'a>(
    handled: BitFlags<AccessFs>,
    rules: impl Iterator<Item = (&'a Path, BitFlags<AccessFs>)>,
) -> std::result::Result<(), RulesetError> {
    let mut ruleset = Ruleset::default().handle_access(handled)?.create()?;
    for (path, access) in rules {
        // Missing files are ignored.
        if let Ok(opened) = PathFd::new(path) {
            // Files other than folders have no access rights of folders.
            let access = if path.is_dir() {
                access
            } else {
                access & AccessFs::from_file(KNOWN)
            };
            ruleset = ruleset.add_rule(PathBeneath::new(opened, access))?;
        }
    }
    ruleset.restrict_self().map(drop)
}
