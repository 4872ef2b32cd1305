//! One declaration for each key of a table: its sentence, its type, its default, and whether it
//! names a file. [`key!`] and [`field!`] name keys elsewhere; a key that is not declared does not
//! compile.

use crate::error::Problem;

/// Declares a table of a scenario file.
///
/// ```text
/// keys! {
///     /// The table's sentence.
///     #[derive(…)]
///     pub struct Table under SomeRule needs {
///         /// A key that must be given.
///         every: Span<…>;
///     } takes {
///         /// The key's sentence, in rustdoc, the JSON Schema and docs/reference/keys-*.md.
///         // Where its default comes from.
///         key: Type = default, as Written;
///         /// A key whose default depends on other keys of the table.
///         derived: Type, usually Table::function, as Written;
///         /// A key without a default, or with one that a rule or `defaults` knows.
///         other: Span<…>;
///         /// A table inside this one.
///         inner: InnerTable, holding keys;
///         /// One with defaults even if the file leaves it out.
///         filled: InnerTable = InnerTable::default(), holding keys;
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
/// that returns its value or the default. `under` lists the [rules](Rule) between the keys: usually
/// [alternatives](super::alternatives).
macro_rules! keys {
    (
        $(#[$attribute:meta])*
        pub struct $Table:ident
        $(under $($Rule:ident),+)?
        $(needs {
            $(
                $(#[$needed_attribute:meta])*
                $needed:ident: $Needed:ty $(, naming $needed_file:tt)?;
            )*
        })?
        takes {
            $(
                $(#[$key_attribute:meta])*
                $key:ident: $Key:ty $(= $default:expr)? $(, usually $usual:path)?
                    $(, as $Written:ty)? $(, holding $table:tt)? $(, always holding $always:tt)?
                    $(, naming $file:tt)?;
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
            $(
                $( keys!(@value $key: $Key, |_table| $default); )?
                $( keys!(@value $key: $Key, |table| $usual(table)); )?
            )*
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

            fn completed(&self) -> Self {
                let mut table = Clone::clone(self);
                let _ = &mut table;
                $($( table = <$Rule as $crate::document::keys::Rule<Self>>::completed(&table); )+)?
                $(
                    keys!(
                        @complete table.$key: $Key;
                        [$($default)?] [$($usual)?] [$($table)?] [$($always)?]
                    );
                )*
                table
            }

            fn check(&self, path: &str) -> Result<(), $crate::error::Problem> {
                let _ = path;
                $($( <$Rule as $crate::document::keys::Rule<Self>>::check(self, path)?; )+)?
                $(
                    $( keys!(@check $table self.$key, path); )?
                    $( keys!(@check $always self.$key, path); )?
                )*
                Ok(())
            }
        }
    };
    (@slot; $Key:ty) => { Option<$Key> };
    (@slot as $Written:ty; $Key:ty) => { Option<$Written> };
    (@slot always $always:tt; $Key:ty) => { $Key };
    (@value $key:ident: $Key:ty, |$table:ident| $usual:expr) => {
        #[doc = concat!("Returns `", stringify!($key), "`, or its default if it was left out.")]
        pub fn $key(&self) -> $Key {
            let $table = self;
            airtcp_units::written::read(&self.$key, &$usual)
        }
    };
    (@complete $table:ident.$key:ident: $Key:ty; [] [] [] []) => {};
    (@complete $table:ident.$key:ident: $Key:ty; [$default:expr] [] [] []) => {
        $table.$key = airtcp_units::written::completed::<$Key, _>(&$table.$key, &$default);
    };
    (@complete $table:ident.$key:ident: $Key:ty; [] [$usual:path] [] []) => {
        $table.$key = airtcp_units::written::completed::<$Key, _>(&$table.$key, &$usual(&$table));
    };
    (@complete $table:ident.$key:ident: $Key:ty; [] [] [keys] []) => {
        $table.$key = $table.$key.as_ref().map($crate::document::keys::Keys::completed);
    };
    (@complete $table:ident.$key:ident: $Key:ty; [$default:expr] [] [keys] []) => {
        $table.$key = Some($crate::document::keys::Keys::completed(&$table.$key()));
    };
    (@complete $table:ident.$key:ident: $Key:ty; [] [] [] [keys]) => {
        $table.$key = $crate::document::keys::Keys::completed(&$table.$key);
    };
    (@check keys $table:ident.$key:ident, $path:ident) => {
        if let Some(inner) = $crate::document::keys::Slot::get(&$table.$key) {
            let path = $crate::document::keys::below($path, stringify!($key));
            $crate::document::keys::Keys::check(inner, &path)?;
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

/// A table, and the tables inside it.
pub(crate) trait Keys {
    /// Adds the dotted names of keys that name files to `found`; `table` is that of the table.
    fn file_keys(table: &str, found: &mut Vec<String>);

    /// Calls `visit` with the value of each that is given.
    fn each_file(&mut self, visit: &mut dyn FnMut(&mut String));

    /// The table with the default of every key that applies and was left out.
    #[must_use]
    fn completed(&self) -> Self;

    /// Refuses keys that contradict each other by the table's [rules](Rule). `path` is the
    /// table's.
    fn check(&self, path: &str) -> Result<(), Problem>;
}

/// A rule between keys of a table.
pub(crate) trait Rule<Table> {
    /// The table with the defaults that the rule knows.
    fn completed(table: &Table) -> Table;

    /// Refuses a key that the rule does not admit.
    fn check(_table: &Table, _path: &str) -> Result<(), Problem> {
        Ok(())
    }
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

    fn completed(&self) -> Self {
        crate::endpoint::completed(self)
    }

    fn check(&self, _: &str) -> Result<(), Problem> {
        Ok(())
    }
}

/// The dotted name of `key` in `table`, which is empty for a scenario's own keys.
pub(crate) fn below(table: &str, key: &str) -> String {
    if table.is_empty() {
        return key.to_owned();
    }
    format!("{table}.{key}")
}
