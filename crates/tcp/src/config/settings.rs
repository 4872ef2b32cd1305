//! One declaration per setting: its sentence, its type, its default, and its form in a file.

/// Declares structs of settings, and with the feature `schema` the table of a configuration file
/// that sets them.
///
/// ```text
/// settings! {
///     /// The table's sentence.
///     #[derive(…)]
///     table FileTable of Config { own_key: Type; }
///
///     #[derive(…)]
///     pub struct Config {
///         /// The key's sentence, in rustdoc, the JSON Schema and docs/reference/keys-tcp.md.
///         field: Type = default, as Written, named "key";
///     } with tables {
///         /// The sentence of a table inside this one.
///         inner: Inner = Inner::default(), as InnerTable;
///     } without keys {
///         /// Settings without a key in the file, and the parts that follow.
///         part: Part = Part::default();
///     }
///
///     #[derive(…)]
///     pub struct Part in part { … }
/// }
/// ```
///
/// `as` names the type that reads and writes the value in a file if it differs from the field's
/// type: usually a [bounded](airtcp_units) one. `named` is the key if it differs from the field's
/// name. `in` is the field of the first struct that holds the settings of this one: all their keys
/// share one table.
macro_rules! settings {
    (
        $(#[$table_attribute:meta])*
        table $Table:ident of $Config:ident {
            $( $(#[$own_attribute:meta])* $own:ident: $Own:ty; )*
        }
        $(
            $(#[$attribute:meta])*
            pub struct $Part:ident $(in $place:ident)? {
                $(
                    $(#[doc = $sentence:literal])*
                    $key:ident: $Key:ty = $default:expr
                        $(, as $Written:ty)? $(, named $name:literal)?;
                )*
            }
            $(with tables {
                $(
                    $(#[$table_key_attribute:meta])*
                    $table_key:ident: $TableKey:ty = $table_default:expr, as $SubTable:ty;
                )*
            })?
            $(without keys {
                $(
                    $(#[$other_attribute:meta])*
                    $other:ident: $Other:ty = $other_default:expr;
                )*
            })?
        )+
    ) => {
        $(
            $(#[$attribute])*
            pub struct $Part {
                $( $(#[doc = $sentence])* pub $key: $Key, )*
                $($( $(#[$table_key_attribute])* pub $table_key: $TableKey, )*)?
                $($( $(#[$other_attribute])* pub $other: $Other, )*)?
            }

            impl Default for $Part {
                fn default() -> Self {
                    Self {
                        $( $key: $default, )*
                        $($( $table_key: $table_default, )*)?
                        $($( $other: $other_default, )*)?
                    }
                }
            }
        )+

        $(#[$table_attribute])*
        #[cfg(feature = "schema")]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $Table {
            $(
                $(#[$own_attribute])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $own: Option<$Own>,
            )*
            $($(
                $(#[doc = $sentence])*
                #[serde(skip_serializing_if = "Option::is_none" $(, rename = $name)?)]
                pub $key: Option<$crate::config::settings::written!($Key $(as $Written)?)>,
            )*)+
            $($($(
                $(#[$table_key_attribute])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $table_key: Option<$SubTable>,
            )*)?)+
        }

        #[cfg(feature = "schema")]
        impl $crate::config::schema::Written<$Config> for $Table {
            fn of(settings: &$Config) -> Self {
                Self::default().completed(settings)
            }

            fn setting(&self, usual: &$Config) -> $Config {
                self.settings(usual)
            }

            /// A key that is left out is as in `usual`.
            fn completed(&self, usual: &$Config) -> Self {
                use $crate::config::schema::completed;
                let mut table = self.clone();
                $({
                    let part = &usual $(.$place)?;
                    $( table.$key = completed(&self.$key, &part.$key); )*
                    $($(
                        table.$table_key = completed(&self.$table_key, &part.$table_key);
                    )*)?
                })+
                table
            }
        }

        #[cfg(feature = "schema")]
        impl $Table {
            /// The key in a field of this table, and its sentence.
            ///
            /// # Panics
            /// There is no such field; at compile time, where this is a constant.
            pub const fn described(field: &str) -> $crate::config::settings::Described {
                $($(
                    if $crate::config::settings::is_same(field, stringify!($key)) {
                        return $crate::config::settings::Described {
                            key: $crate::config::settings::key!($key $($name)?),
                            sentence: concat!($($sentence),*).trim_ascii(),
                        };
                    }
                )*)+
                panic!("no key is in this field")
            }

            /// Returns the settings. A key that is left out is taken from `usual`.
            pub fn settings(&self, usual: &$Config) -> $Config {
                use $crate::config::schema::read;
                let mut settings = *usual;
                $({
                    let part = &mut settings $(.$place)?;
                    $( part.$key = read(&self.$key, &part.$key); )*
                    $($(
                        part.$table_key = read(&self.$table_key, &part.$table_key);
                    )*)?
                })+
                settings
            }
        }
    };
}

/// The type in which a file holds a setting.
#[cfg(feature = "schema")]
macro_rules! written {
    ($Type:ty) => {
        $Type
    };
    ($Type:ty as $Written:ty) => {
        $Written
    };
}

/// The key of a setting.
#[cfg(feature = "schema")]
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

/// A key of a configuration file, in words.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its name in the table: `min_rto`.
    pub key: &'static str,
    /// Its meaning.
    pub sentence: &'static str,
}

/// Whether two names are the same, for constants.
#[cfg(feature = "schema")]
pub(super) const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(feature = "schema")]
pub(super) use key;
pub(super) use settings;
#[cfg(feature = "schema")]
pub(super) use written;
