//! One declaration for each key of a table: its sentence, its type, its default, and whether it
//! names a file.

/// Declares a table of a scenario file.
///
/// ```text
/// keys! {
///     /// The table's sentence.
///     #[derive(…)]
///     pub struct Table needs {
///         /// A key that must be given.
///         every: Span<…>;
///     } takes {
///         /// The key's sentence, in rustdoc, in the JSON Schema and in docs/scenarios.md.
///         // Where its default comes from.
///         key: Type = default, as Written;
///         /// A key whose default depends on others: what resolves the table fills it in.
///         other: Span<…>;
///         /// A table inside this one.
///         inner: InnerTable, holding keys;
///         /// A file, looked for beside the scenario.
///         path: String, naming file;
///     }
/// }
/// ```
///
/// `as` names the type that reads and writes the value if it differs from what is simulated:
/// usually a [bounded](airtcp_units::bounded) one. A key with a default has a method of its name
/// that returns its value, and fills in the default if the key was left out.
macro_rules! keys {
    (
        $(#[$attribute:meta])*
        pub struct $Table:ident
        $(needs {
            $(
                $(#[$needed_attribute:meta])*
                $needed:ident: $Needed:ty $(, naming $needed_file:tt)?;
            )*
        })?
        takes {
            $(
                $(#[$key_attribute:meta])*
                $key:ident: $Key:ty $(= $default:expr)? $(, as $Written:ty)?
                    $(, holding $table:tt)? $(, naming $file:tt)?;
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $Table {
            $($(
                $(#[$needed_attribute])*
                pub $needed: $Needed,
            )*)?
            $(
                $(#[$key_attribute])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<keys!(@written $Key $(as $Written)?)>,
            )*
        }

        impl $Table {
            $($(
                keys!(@filled $key: $Key = $default);
            )?)*
        }

        impl $crate::document::keys::Keys for $Table {
            fn file_keys(table: &str, found: &mut Vec<String>) {
                let _ = (table, &found);
                $($($( keys!(@file $needed_file table, $needed, found); )?)*)?
                $(
                    $( keys!(@file $file table, $key, found); )?
                    $( keys!(@table $table table, $key: $Key, found); )?
                )*
            }

            fn each_file(&mut self, visit: &mut dyn FnMut(&mut String)) {
                let _ = &visit;
                $($($( keys!(@visit $needed_file &mut self.$needed, visit); )?)*)?
                $(
                    $( if let Some(name) = &mut self.$key {
                        keys!(@visit $file name, visit);
                    } )?
                    $( if let Some(inner) = &mut self.$key {
                        keys!(@inside $table inner, visit);
                    } )?
                )*
            }
        }
    };
    (@written $Key:ty) => { $Key };
    (@written $Key:ty as $Written:ty) => { $Written };
    (@filled $key:ident: $Key:ty = $default:expr) => {
        #[doc = concat!("Returns `", stringify!($key), "`. Fills in the default if it was left out.")]
        pub fn $key(&mut self) -> $Key {
            airtcp_units::written::Written::fill(&mut self.$key, &$default)
        }
    };
    (@file file $table:ident, $key:ident, $found:ident) => {
        $found.push($crate::document::keys::below($table, stringify!($key)));
    };
    (@table keys $table:ident, $key:ident: $Inner:ty, $found:ident) => {
        let inner = $crate::document::keys::below($table, stringify!($key));
        <$Inner as $crate::document::keys::Keys>::file_keys(&inner, $found);
    };
    (@visit file $name:expr, $visit:ident) => { $visit($name); };
    (@inside keys $inner:ident, $visit:ident) => {
        $crate::document::keys::Keys::each_file($inner, $visit);
    };
}

/// The keys of a table, and of the tables inside it, that name files.
pub(crate) trait Keys {
    /// Adds their dotted names to `found`; `table` is the table's own.
    fn file_keys(table: &str, found: &mut Vec<String>);

    /// Calls `visit` with the value of each that is given.
    fn each_file(&mut self, visit: &mut dyn FnMut(&mut String));
}

/// The dotted name of `key` in `table`.
pub(crate) fn below(table: &str, key: &str) -> String {
    format!("{table}.{key}")
}
