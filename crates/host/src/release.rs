//! The release of the running kernel, and whether airtcp has this kernel to itself.

/// Set, to any value, for programs in a kernel in virtual time.
pub const GUEST_VARIABLE: &str = "AIRTCP_GUEST";

/// Whether this process runs in a guest: a dedicated kernel that ends with it, so that nothing has
/// to be restored and system-wide settings affect no other program.
pub fn is_guest() -> bool {
    std::env::var_os(GUEST_VARIABLE).is_some()
}

/// The release of the running kernel, as `uname -r` prints it.
pub fn running() -> String {
    rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned()
}

/// Major and minor version of a release: `(6, 12)` of `6.12.117+deb12-cloud-amd64`.
pub fn version(release: &str) -> (u32, u32) {
    let mut numbers = release
        .split(|character: char| !character.is_ascii_digit())
        .map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Whether the running kernel is of at least that version.
pub fn is_at_least(needed: &str) -> bool {
    version(&running()) >= version(needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version("6.12.117+deb12-cloud-amd64"), (6, 12));
        assert!(version("6.4") < version("6.12"));
        assert!(version("5.10.0-30-amd64") < version("6.1"));
        assert!(is_at_least("2.6") && !is_at_least("99.0"));
    }
}
