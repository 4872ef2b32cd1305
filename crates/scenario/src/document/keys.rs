//! One declaration for each key of a table: its sentence, its type, its default, and whether it
//! names a file. [`key!`] and [`field!`] name keys elsewhere; a key that is not declared does not
//! compile.

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
///         /// The key's sentence, in rustdoc, the JSON Schema and docs/reference/keys-*.md.
///         // Where its default comes from.
///         key: Type = default, as Written;
///         /// A key whose default depends on others: what resolves the table fills it in.
///         other: Span<…>;
///         /// A table inside this one.
///         inner: InnerTable, holding keys;
///         /// A table that is there even if the file leaves it out: as an empty one.
///         usual: UsualTable, always holding keys;
///         /// A file, looked up next to the scenario.
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
                    $(, holding $table:tt)? $(, always holding $always:tt)? $(, naming $file:tt)?;
            )*
        }
    ) => {
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        $(#[$attribute])*
        pub struct $Table {
            $($(
                $(#[$needed_attribute])*
                pub $needed: $Needed,
            )*)?
            $(
                $(#[$key_attribute])*
                #[serde(
                    default,
                    skip_serializing_if = "crate::document::keys::Slot::is_left_out"
                )]
                pub $key: keys!(@slot $(as $Written)? $(always $always)?; $Key),
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
                    $( keys!(@table $always table, $key: $Key, found); )?
                )*
            }

            fn each_file(&mut self, visit: &mut dyn FnMut(&mut String)) {
                let _ = &visit;
                $($($( keys!(@visit $needed_file &mut self.$needed, visit); )?)*)?
                $(
                    $( if let Some(name) = &mut self.$key {
                        keys!(@visit $file name, visit);
                    } )?
                    $( keys!(@inside $table &mut self.$key, visit); )?
                    $( keys!(@inside $always &mut self.$key, visit); )?
                )*
            }
        }
    };
    (@slot; $Key:ty) => { Option<$Key> };
    (@slot as $Written:ty; $Key:ty) => { Option<$Written> };
    (@slot always $always:tt; $Key:ty) => { $Key };
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
    (@inside keys $slot:expr, $visit:ident) => {
        if let Some(inner) = $crate::document::keys::Slot::get_mut($slot) {
            $crate::document::keys::Keys::each_file(inner, $visit);
        }
    };
}

/// The dotted name of a key of a scenario: `key!(link.reverse.rate)`.
macro_rules! key {
    ($first:ident $(. $step:ident)*) => {{
        let _ = |scenario: &$crate::document::Document| {
            let _ = field!(scenario, $first $(. $step)*);
        };
        concat!(stringify!($first) $(, ".", stringify!($step))*)
    }};
}

/// What a scenario says at a key, if the table that holds it is there:
/// `field!(document, link.reverse.rate)`.
macro_rules! field {
    ($table:expr, $key:ident) => { Some(&$table.$key) };
    ($table:expr, $step:ident $(. $key:ident)+) => {
        $crate::document::keys::Slot::get(&$table.$step)
            .and_then(|inner| field!(inner, $($key).+))
    };
}

/// The dotted name of a key of `table`, found at `path`: `key_of!(path, table.rate)`.
macro_rules! key_of {
    ($path:expr, $table:ident . $key:ident) => {{
        let _ = &$table.$key;
        $crate::document::keys::below(&$path, stringify!($key))
    }};
}

/// Refuses every key of `$table` (at `$path`) listed here that was given, with the reason `$why`.
macro_rules! refuse_keys {
    ($table:ident, $path:expr, $why:expr; $($key:ident),+) => {
        $( if $table.$key.is_some() {
            return Err(Problem::at(key_of!($path, $table.$key), $why));
        } )+
    };
}

/// The keys of a table, and of the tables inside it, that name files.
pub(crate) trait Keys {
    /// Adds their dotted names to `found`; `table` is the table's own.
    fn file_keys(table: &str, found: &mut Vec<String>);

    /// Calls `visit` with the value of each that is given.
    fn each_file(&mut self, visit: &mut dyn FnMut(&mut String));
}

/// Where a table has a key's value: left out or not, or, as with some tables, always there.
pub(crate) trait Slot {
    /// The type of the value.
    type Value;

    /// The value, if it is there.
    fn get(&self) -> Option<&Self::Value>;

    /// The value, if it is there.
    fn get_mut(&mut self) -> Option<&mut Self::Value>;

    /// Whether it is not.
    fn is_left_out(&self) -> bool {
        self.get().is_none()
    }
}

impl<T> Slot for Option<T> {
    type Value = T;

    fn get(&self) -> Option<&T> {
        self.as_ref()
    }

    fn get_mut(&mut self) -> Option<&mut T> {
        self.as_mut()
    }
}

impl<T: Keys> Slot for T {
    type Value = T;

    fn get(&self) -> Option<&T> {
        Some(self)
    }

    fn get_mut(&mut self) -> Option<&mut T> {
        Some(self)
    }
}

/// The name of a file that a table must give.
impl Slot for String {
    type Value = Self;

    fn get(&self) -> Option<&Self> {
        Some(self)
    }

    fn get_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}

/// The object file of a congestion control.
impl Keys for super::TcpTable {
    fn file_keys(table: &str, found: &mut Vec<String>) {
        found.push(crate::control::file_key(table));
    }

    fn each_file(&mut self, visit: &mut dyn FnMut(&mut String)) {
        if let Some(control) = crate::control::object_of_mut(self) {
            visit(&mut control.bpf);
        }
    }
}

/// The dotted name of `key` in `table`, which is empty for a scenario's own keys.
pub(crate) fn below(table: &str, key: &str) -> String {
    if table.is_empty() {
        return key.to_owned();
    }
    format!("{table}.{key}")
}
