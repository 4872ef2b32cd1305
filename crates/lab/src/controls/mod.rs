//! Relevant keys of a scenario as sliders: ranges and words from the schema.

mod keys;
mod kind;
mod modes;
mod slider;

use serde::Serialize;
use serde_json::{Map, Value};

use keys::{leaves, values};
pub use kind::Kind;
use slider::slider;

/// Keys and values.
type Defaults = &'static [(&'static str, &'static str)];

/// Options of a link with a rate: table, name, and the values that enable it.
const SWITCHES: [(&str, &str, Defaults); 3] = [
    ("stops", "Stops", &[("every", "5 s"), ("length", "300 ms")]),
    ("jitter", "Jitter", &[("mean", "5 ms")]),
    ("late", "Reordering", &[("share", "0.01"), ("by", "20 ms")]),
];

/// A slider.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Control {
    /// The key that it sets.
    pub key: String,
    /// What the key is, in a sentence.
    pub meaning: String,
    /// The kind of its values.
    pub kind: Kind,
    /// In bit/s, seconds, bytes, a share of 1 or a plain number; `None` means "unlimited".
    pub value: Option<f64>,
    /// Lower end of the slider; typed numbers may be any that the schema admits.
    pub low: f64,
    /// Upper end of the slider.
    pub high: f64,
    /// Whether the lower end of the slider means 0.
    pub zero: bool,
    /// Whether "unlimited" is a value too.
    pub unlimited: bool,
    /// Whether it is shown directly.
    pub main: bool,
    /// All possible values, if there are few.
    pub choices: Vec<f64>,
}

/// A possible value of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Word {
    /// The value.
    pub text: String,
    /// What it means, in a sentence.
    pub meaning: String,
    /// Whether it is compatible with the other keys as they are.
    pub fits: bool,
}

/// A key with a few words as values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pick {
    /// The key that it sets.
    pub key: String,
    /// What the key is, in a sentence.
    pub meaning: String,
    /// Its value.
    pub value: String,
    /// Its possible values.
    pub words: Vec<Word>,
}

/// An optional property of the link, with its sliders.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Switch {
    /// The name on the page.
    pub name: String,
    /// What it is, in a sentence.
    pub meaning: String,
    /// Its sliders, at the values that enable it.
    pub controls: Vec<Control>,
}

/// All settings of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Controls {
    /// The sliders, in the order of the scenario.
    pub controls: Vec<Control>,
    /// Keys with a few words as values.
    pub picks: Vec<Pick>,
    /// Optional properties that the scenario leaves out.
    pub switches: Vec<Switch>,
    /// Every key of a scenario and its meaning.
    pub keys: Map<String, Value>,
}

/// The sliders of a scenario with all its keys. `accepts` decides for a key and a text whether the
/// scenario would be valid with it.
pub(crate) fn controls(
    document: &Value,
    schema: &Value,
    accepts: &dyn Fn(&str, &str) -> bool,
) -> Controls {
    let leaves = leaves(schema);
    let values = values(document);
    let shown = values.iter().filter(|(key, _)| is_of_the_link(key));
    let controls = shown
        .filter_map(|(key, value)| slider(key, value, leaves.get(key)?))
        .map(|control| Control {
            choices: modes::choices(&control, accepts),
            ..control
        })
        .collect();
    let described = leaves
        .iter()
        .map(|(key, leaf)| (key.clone(), meaning(leaf).into()));
    Controls {
        controls,
        picks: modes::picks(&values, &leaves, accepts),
        switches: switches(document, &leaves),
        keys: described.collect(),
    }
}

/// Optional properties of a link with a rate that it does not have.
fn switches(document: &Value, leaves: &Map<String, Value>) -> Vec<Switch> {
    let link = &document["link"];
    if link["rate"].is_null() || !link["stops"].is_null() {
        return Vec::new();
    }
    let missing = SWITCHES.iter().filter(|(table, ..)| link[*table].is_null());
    missing
        .map(|(table, name, defaults)| {
            let of = |leaf: &str| format!("link.{table}.{leaf}");
            let controls = defaults.iter().filter_map(|(leaf, text)| {
                let key = of(leaf);
                slider(&key, &Value::from(*text), leaves.get(&key)?)
            });
            let first = defaults.first().map_or("", |(leaf, _)| *leaf);
            Switch {
                name: (*name).to_owned(),
                meaning: leaves.get(&of(first)).map(meaning).unwrap_or_default(),
                controls: controls.collect(),
            }
        })
        .collect()
}

fn is_of_the_link(key: &str) -> bool {
    key == "tcp.max_window" || !(key.starts_with("tcp.") || key.starts_with("traffic."))
}

/// The description of a node of the schema.
fn meaning(leaf: &Value) -> String {
    leaf["description"].as_str().unwrap_or_default().to_owned()
}
