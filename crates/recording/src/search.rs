//! Searches in text by `memchr`, which every profile of the build optimizes. The searches of Rust's
//! library are generic, so that `make build` compiles them with this crate, without optimization,
//! and a log of a day has millions of bytes.

use memchr::memmem;

/// Whether `part` is in `text`.
pub fn has(text: &str, part: &str) -> bool {
    memmem::find(text.as_bytes(), part.as_bytes()).is_some()
}

/// The texts before and after the first `part`.
pub fn around<'a>(text: &'a str, part: &str) -> Option<(&'a str, &'a str)> {
    let at = memmem::find(text.as_bytes(), part.as_bytes())?;
    Some((&text[..at], &text[at + part.len()..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn searches_find_as_the_library_does(
            text in "[a-c\u{fc}, ]{0,12}",
            part in "[a-c, ]{1,3}",
        ) {
            prop_assert_eq!(has(&text, &part), text.contains(&part));
            prop_assert_eq!(around(&text, &part), text.split_once(part.as_str()));
        }
    }
}
