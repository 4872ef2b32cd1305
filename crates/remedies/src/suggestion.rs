//! "Did you mean": the known names nearest to one that is not known.

/// Number of names worth reading in an error.
const MAX_NAMES: usize = 3;

/// The names among `known` that `given` may have been meant to be, nearest first, at most three.
///
/// A name is near when a third of it, or less, was mistyped (letters swapped, missing, added or
/// changed), when one begins with the other, or when the given name is one of its words.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Nobody mistypes a name of hundreds of letters, and the distance costs the product of both.
    if given.is_empty() || given.len() > 100 {
        return Vec::new();
    }
    let given = given.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let distance = strsim::damerau_levenshtein(&given, name);
            let typing_slip = distance <= (name.len().max(given.len()) / 3).max(1);
            let abbreviation = given.len() >= 2
                && name.len() >= 2
                && (name.starts_with(&given) || given.starts_with(name));
            let is_a_word =
                given.len() >= 3 && name.split(['_', '-', '.']).any(|word| word == given);
            (typing_slip || abbreviation || is_a_word).then_some((distance, name))
        })
        .collect();
    near.sort();
    near.into_iter()
        .take(MAX_NAMES)
        .map(|(_, name)| name)
        .collect()
}

/// The names as an end of an error: `; did you mean "loss"?`, or empty if no name is near.
pub fn question<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = nearest(given, known)
        .into_iter()
        .map(|name| format!("{name:?}"))
        .collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => format!("; did you mean {last}?"),
        Some((last, rest)) => format!("; did you mean {} or {last}?", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 5] = ["rate", "delay", "queue", "loss", "suspension"];

    #[test]
    fn finds_slips_and_abbreviations() {
        assert_eq!(nearest("losss", KEYS), ["loss"]);
        assert_eq!(nearest("dealy", KEYS), ["delay"]);
        assert_eq!(nearest("Rate", KEYS), ["rate"]);
        assert_eq!(nearest("susp", KEYS), ["suspension"]);
        assert_eq!(question("losss", KEYS), "; did you mean \"loss\"?");
    }

    #[test]
    fn finds_a_word_of_a_longer_name() {
        let keys = ["max_window", "receive_window", "min_rto", "rto_factor"];
        assert_eq!(nearest("window", keys), ["max_window", "receive_window"]);
        assert_eq!(nearest("rto", keys), ["min_rto", "rto_factor"]);
        assert!(nearest("win", keys).is_empty());
    }

    #[test]
    fn stays_silent_when_nothing_is_near() {
        assert!(nearest("colour", KEYS).is_empty());
        assert!(nearest("", KEYS).is_empty());
        assert_eq!(question("colour", KEYS), "");
    }
}
