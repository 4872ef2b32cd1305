//! Checks documents against the code: generated parts between markers must match it.

use std::fs;
use std::path::Path;

/// Compares the part of `document` between `<!-- generated: name -->` and `<!-- end -->` with
/// `expected`, or of a Python file between comments of the same words; with `AIRTCP_WRITE_DOCS`
/// set, writes it there instead.
///
/// # Panics
/// When they differ, or there is no such part.
pub(crate) fn check(document: &str, name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(document);
    let text = fs::read_to_string(&path).unwrap();
    let (start_marker, end_marker) = if document.ends_with(".py") {
        (format!("    # generated: {name}\n"), "    # end")
    } else {
        (format!("<!-- generated: {name} -->\n"), "<!-- end -->")
    };
    let start = text.find(&start_marker).expect(&start_marker) + start_marker.len();
    let end = start + text[start..].find(end_marker).expect(end_marker);
    if text[start..end] == *expected {
        return;
    }
    assert!(
        std::env::var_os("AIRTCP_WRITE_DOCS").is_some(),
        "{document}: the part {name:?} is out of date; run: AIRTCP_WRITE_DOCS=1 cargo test \
         -p {} -- --test-threads 1",
        env!("CARGO_PKG_NAME")
    );
    fs::write(
        &path,
        format!("{}{expected}{}", &text[..start], &text[end..]),
    )
    .unwrap();
}
