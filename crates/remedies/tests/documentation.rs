//! `docs/reference/remedies.md` is the catalogue in words: this writes it, and fails when it is
//! out of date.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use airtcp_remedies::{Parameter, Remedy, catalogue};

const INTRODUCTION: &str = "\
# Remedies

A remedy is a named change to TCP or to the link. `airtcp compare FILE --remedy NAME` shows what it \
does on your link; `airtcp list remedies NAME` prints what stands here. Values come after a colon, \
several with commas, and remedies are combined with a plus:

    airtcp compare scenarios/ping.toml --remedy rto-factor:factor=15 --remedy \"sack+min-rto:min=400 ms\"

Two remedies that make the same choice cannot be combined.

A parameter that sets a key of a scenario names it, and has its range.

This page is written from the catalogue. `ROUTE` stands for a route as `ip route show` prints it, \
`DEVICE` for a network device, and `PHY` for a radio as `iw phy` lists it.
";

fn text(remedies: &[Remedy]) -> String {
    let mut text = INTRODUCTION.to_owned();
    text += "\n| remedy | place | what it does |\n|---|---|---|\n";
    for Remedy {
        name,
        place,
        effect,
        ..
    } in remedies
    {
        writeln!(
            text,
            "| [`{name}`](#{name}) | {} | {effect} |",
            place.name()
        )
        .unwrap();
    }
    for remedy in remedies {
        let Remedy {
            name,
            place,
            effect,
            source,
            parameters,
            decides,
            ..
        } = remedy;
        write!(
            text,
            "\n## {name}\n\nAt the {}: {effect}.\n\n- Decides: {decides}\n- Source: {source}\n\
             - Deployment: {}\n",
            place.name(),
            remedy.deployment_text()
        )
        .unwrap();
        if parameters.is_empty() {
            continue;
        }
        text += "\n| parameter | default | range | meaning |\n|---|---|---|---|\n";
        for parameter in *parameters {
            let Parameter {
                name,
                key,
                unit,
                default,
                minimum,
                maximum,
                ..
            } = parameter;
            let key = key.map_or_else(String::new, |key| format!("`tcp.{}`: ", key.name));
            let meaning = parameter.meaning();
            let unit = if unit.is_empty() {
                String::new()
            } else {
                format!(" {unit}")
            };
            writeln!(
                text,
                "| `{name}` | {default}{unit} | {minimum} to {maximum} | {key}{meaning} |"
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn remedies_page_is_the_catalogue() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/remedies.md");
    let expected = text(catalogue());
    if std::env::var_os("AIRTCP_WRITE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|found| found == expected),
        "docs/reference/remedies.md is out of date; run: \
         AIRTCP_WRITE_DOCS=1 cargo test -p airtcp-remedies"
    );
}
