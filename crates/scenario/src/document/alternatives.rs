//! Alternatives of a table: a key of it, such as `model`, selects which of the others have a
//! meaning. Each alternative is declared once, with its keys and their defaults; from that come
//! a typed value with these keys only, the completed table, and the refusal of all other keys.

use serde::Serialize;

use super::keys::below;
use crate::error::Problem;

/// Declares the alternatives of a table that [`keys!`] declares.
///
/// ```text
/// alternatives! {
///     /// The model's keys.
///     pub enum Model of Table by model: ModelName, only Table::has_models, with table {
///         /// An alternative that one or several names select.
///         Variant: Name | OtherName
///             needs { key: Written }
///             takes { other: Type = default }
///             allows { third: Written };
///     }
///     because { other: "the reason why other names do not have it" }
///     instead { other: "the key that other names have in its place" }
/// }
/// ```
///
/// A key is needed and held as it is written, or has a default and is held as it is simulated, or
/// is held as it is written if it is given. A default may use the keys before it, and the table by
/// the name after `with`. `only` names a condition of the table without which no name selects.
macro_rules! alternatives {
    (
        $(#[$attribute:meta])*
        pub enum $Enum:ident of $Table:ident by $selector:ident: $Selector:ident
        $(, only $condition:path)? $(, with $bound:ident)?
        {
            $(
                $(#[$meaning:meta])*
                $Variant:ident: $($value:ident)|+
                $(needs { $($needed:ident: $Needed:ty),* $(,)? })?
                $(takes { $($key:ident: $Key:ty = $default:expr),* $(,)? })?
                $(allows { $($optional:ident: $Optional:ty),* $(,)? })?;
            )+
        }
        $(because { $($explained:ident: $reason:literal),* $(,)? })?
        $(instead { $($replaced:ident: $replacement:literal),* $(,)? })?
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Enum {
            $(
                $(#[$meaning])*
                $Variant {
                    $($( $needed: $Needed, )*)?
                    $($( $key: $Key, )*)?
                    $($( $optional: Option<$Optional>, )*)?
                },
            )+
        }

        impl $Enum {
            const DECLARED: $crate::document::alternatives::Declared =
                $crate::document::alternatives::Declared {
                    selector: stringify!($selector),
                    keys: &[
                        $( (
                            stringify!($Variant),
                            &[
                                $($( stringify!($needed), )*)?
                                $($( stringify!($key), )*)?
                                $($( stringify!($optional), )*)?
                            ],
                        ), )+
                    ],
                    reasons: &[ $($( (stringify!($explained), $reason), )*)? ],
                    replacements: &[ $($( (stringify!($replaced), $replacement), )*)? ],
                };

            /// The alternative that `table`, found at `path`, selects, with its keys.
            ///
            /// # Errors
            /// A key that it needs is missing.
            pub fn of(table: &$Table, path: &str) -> Result<Self, $crate::error::Problem> {
                use airtcp_units::written::read;
                let selected = table.$selector();
                let _ = path;
                $( let $bound = table; )?
                Ok(match selected {
                    $(
                        $( $Selector::$value )|+ => {
                            $($(
                                let Some($needed) = table.$needed.clone() else {
                                    let selected = $crate::document::alternatives::name(&selected);
                                    return Err(Self::DECLARED.missing(
                                        stringify!($needed),
                                        &selected,
                                        path,
                                    ));
                                };
                            )*)?
                            $($(
                                let $key: $Key = read(&table.$key, &$default);
                            )*)?
                            Self::$Variant {
                                $($( $needed, )*)?
                                $($( $key, )*)?
                                $($( $optional: table.$optional.clone(), )*)?
                            }
                        }
                    )+
                })
            }
        }

        impl $crate::document::keys::Rule<$Table> for $Enum {
            fn completed(table: &$Table) -> $Table {
                use airtcp_units::written::{completed, read};
                let mut done = table.clone();
                $( if !$condition(table) {
                    return done;
                } )?
                $( let $bound = table; )?
                match table.$selector() {
                    $(
                        $( $Selector::$value )|+ => {
                            $($(
                                let $key: $Key = read(&table.$key, &$default);
                                done.$key = completed(&table.$key, &$key);
                            )*)?
                        }
                    )+
                }
                done.$selector = Some(table.$selector());
                done
            }

            fn check(table: &$Table, path: &str) -> Result<(), $crate::error::Problem> {
                $( if !$condition(table) {
                    return Ok(());
                } )?
                let given = [
                    $(
                        $($( (stringify!($needed), table.$needed.is_some()), )*)?
                        $($( (stringify!($key), table.$key.is_some()), )*)?
                        $($( (stringify!($optional), table.$optional.is_some()), )*)?
                    )+
                ];
                let selected = table.$selector();
                let variant = match selected {
                    $( $( $Selector::$value )|+ => stringify!($Variant), )+
                };
                let names = |variant: &str| {
                    use $crate::document::alternatives::name;
                    let all = [
                        $( (stringify!($Variant), vec![$( name(&$Selector::$value) ),+]), )+
                    ];
                    let mut all = all.into_iter().filter(|(own, _)| *own == variant);
                    all.next().map_or_else(Vec::new, |(_, names)| names)
                };
                let selected = || $crate::document::alternatives::name(&selected);
                Self::DECLARED.refuse_others(variant, &given, path, &names, &selected)
            }
        }
    };
}

/// The names and keys of alternatives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    /// The key that selects one.
    pub selector: &'static str,
    /// The keys of each alternative.
    pub keys: &'static [(&'static str, &'static [&'static str])],
    /// Why only its alternatives have a key.
    pub reasons: &'static [(&'static str, &'static str)],
    /// The key in the place of another, in the alternatives that do not have that.
    pub replacements: &'static [(&'static str, &'static str)],
}

impl Declared {
    /// Refuses the first of the keys `given` that the alternative `selected` does not have.
    /// `names` are the names that select an alternative, and `now` is the one in the table.
    pub fn refuse_others(
        &self,
        selected: &str,
        given: &[(&str, bool)],
        path: &str,
        names: &dyn Fn(&str) -> Vec<String>,
        now: &dyn Fn() -> String,
    ) -> Result<(), Problem> {
        let owners = |key: &str| {
            let all = self
                .keys
                .iter()
                .filter(move |(_, keys)| keys.contains(&key));
            all.map(|(variant, _)| *variant).collect::<Vec<_>>()
        };
        for (key, is_given) in given {
            let owners = owners(key);
            if !is_given || owners.contains(&selected) {
                continue;
            }
            let names: Vec<String> = owners.into_iter().flat_map(names).collect();
            let remedy = if names.len() > 1 {
                "one of them"
            } else {
                "that"
            };
            let other = found(self.replacements, key)
                .map_or_else(String::new, |other| format!(", or give {other}"));
            let reason =
                found(self.reasons, key).map_or_else(String::new, |reason| format!(": {reason}"));
            return Err(Problem::at(
                below(path, key),
                format!(
                    "belongs to {} = {} (now {}){reason}; remove it, or choose {remedy}{other}",
                    below(path, self.selector),
                    listed(&names),
                    now(),
                ),
            ));
        }
        Ok(())
    }

    /// The error of a key that the alternative with the name `selected` needs.
    pub fn missing(&self, key: &str, selected: &str, path: &str) -> Problem {
        let selector = below(path, self.selector);
        Problem::at(
            below(path, key),
            format!("is missing; {selector} = {selected} needs it"),
        )
    }
}

fn found<'a>(texts: &[(&str, &'a str)], key: &str) -> Option<&'a str> {
    let mut all = texts.iter().filter(|(own, _)| *own == key);
    all.next().map(|(_, text)| *text)
}

/// `"a", "b" or "c"`.
fn listed(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((only, _)) => only.clone(),
        None => String::new(),
    }
}

/// A name as a scenario writes it, in quotation marks.
pub(crate) fn name(choice: &impl Serialize) -> String {
    // A choice is text in JSON as well.
    serde_json::to_string(choice).unwrap_or_default()
}
