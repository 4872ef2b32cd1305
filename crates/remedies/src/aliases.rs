//! Names under which papers, standards and kernels know the remedies, for an error's "did you
//! mean".

/// Other names of remedies, in lower case without hyphens, and the remedy of each.
const ALIASES: &[(&str, &str)] = &[
    // Miyim §IV.
    ("tnr", "go-back-n"),
    ("tracenretransmit", "go-back-n"),
    ("gbn", "go-back-n"),
    ("snr", "selective-repeat"),
    ("selectnrepeat", "selective-repeat"),
    // Fotiadis & Siris §III.
    ("infrl", "inf-retry"),
    ("retrylimit", "inf-retry"),
    ("adi", "delay-injection"),
    ("adaptivedelayinjection", "delay-injection"),
    // Srinivasan §3.
    ("wsctcp", "wsc"),
    ("beststart", "wsc-best-start"),
    ("corrrtt", "wsc-corrected-rtt"),
    ("dyndupack", "wsc-dynamic-dupack"),
    // Lien et al. and the classifiers that they compare.
    ("tcpnewzag", "newzag"),
    ("lda", "newzag"),
    ("adaptivearq", "dynamic-arq"),
    // Standards and kernels.
    ("rack", "rack-tlp"),
    ("tlp", "rack-tlp"),
    ("tarr", "ack-rate"),
    ("iw", "initial-window"),
    ("initcwnd", "initial-window"),
    ("quickack", "delayed-ack"),
    ("rtomin", "min-rto"),
    ("tcprtominus", "min-rto"),
    ("aqmfqcodel", "fq-codel"),
    ("l4s", "prague"),
    ("tsq", "small-queue"),
    ("wmem", "send-buffer"),
    ("tcpwmem", "send-buffer"),
    ("sosndbuf", "send-buffer"),
    ("sndbuf", "send-buffer"),
    ("rmem", "receive-buffer"),
    ("tcprmem", "receive-buffer"),
    ("sorcvbuf", "receive-buffer"),
    ("rcvbuf", "receive-buffer"),
    ("windowclamp", "receive-window"),
    ("itcp", "split-tcp"),
    ("splittcp", "split-tcp"),
    ("pep", "split-tcp"),
    ("atf", "airtime-fairness"),
    ("sqm", "cake"),
];

/// The remedy that is also called `given`, however it is spelt: "TNR", "tcp_wmem".
pub fn meant_by(given: &str) -> Option<&'static str> {
    // No other name is longer, and nobody mistypes one of hundreds of letters.
    if given.len() > 60 {
        return None;
    }
    let letters: String = given
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    ALIASES
        .iter()
        .find_map(|(alias, remedy)| (*alias == letters).then_some(*remedy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{find, parse};

    #[test]
    fn each_is_of_a_remedy_and_no_remedys_name() {
        for (alias, remedy) in ALIASES {
            assert!(find(remedy).is_some(), "{alias}: {remedy}");
            assert!(find(alias).is_none(), "{alias}");
            let plain: String = alias.chars().filter(char::is_ascii_alphanumeric).collect();
            assert_eq!(plain.to_lowercase(), *alias);
            assert_eq!(meant_by(alias), Some(*remedy), "{alias} twice");
        }
    }

    #[test]
    fn the_papers_names_are_understood() {
        for (given, remedy) in [
            ("TNR", "go-back-n"),
            ("trace-n-retransmit", "go-back-n"),
            ("SNR", "selective-repeat"),
            ("inf-RL", "inf-retry"),
            ("tcp_wmem", "send-buffer"),
        ] {
            let error = parse(given).unwrap_err().to_string();
            let hint = format!("did you mean {remedy:?}?");
            assert!(error.contains(&hint), "{error}");
        }
    }
}
