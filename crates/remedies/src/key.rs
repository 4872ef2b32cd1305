//! Keys of `[tcp]` that parameters of remedies set: a parameter's bounds, unit and meaning are its
//! key's.

use airtcp_tcp::config::{Described, TcpTable};
use airtcp_units::bounded::{Bytes, Limit, Real, Span, Whole};
use airtcp_units::{ByteCount, Duration};

use crate::Quantity;

/// A key of `[tcp]`.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name below `tcp`: `rto_factor`, `delayed_ack.segments`.
    pub name: &'static str,
    /// Its meaning.
    pub(crate) sentence: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) minimum: Quantity,
    pub(crate) maximum: Quantity,
    /// Sets it to a quantity within these bounds.
    pub(crate) set: fn(&mut TcpTable, Quantity),
}

impl Key {
    /// The key in the field that `_field` borrows, for [`key!`].
    pub(crate) const fn new<V: KeyValue>(
        Described { sentence, .. }: Described,
        name: &'static str,
        _field: fn(&mut TcpTable) -> &mut Option<V>,
        set: fn(&mut TcpTable, Quantity),
    ) -> Self {
        Self {
            name,
            sentence,
            unit: V::UNIT,
            minimum: V::MINIMUM,
            maximum: V::MAXIMUM,
            set,
        }
    }
}

/// The key in a field of `[tcp]`, or of a table in it: `key!(mss)`,
/// `key!(delayed_ack: DelayedAckTable, segments)`.
macro_rules! key {
    ($field:ident) => {{
        const DESCRIBED: airtcp_tcp::config::Described =
            airtcp_tcp::config::TcpTable::described(stringify!($field));
        $crate::key::Key::new(
            DESCRIBED,
            DESCRIBED.key,
            |table| &mut table.$field,
            |table, quantity| table.$field = $crate::key::KeyValue::of(quantity),
        )
    }};
    ($inner:ident: $Table:ident, $field:ident) => {
        $crate::key::Key::new(
            airtcp_tcp::config::$Table::described(stringify!($field)),
            concat!(stringify!($inner), ".", stringify!($field)),
            |table| &mut table.$inner.get_or_insert_default().$field,
            |table, quantity| {
                table.$inner.get_or_insert_default().$field = $crate::key::KeyValue::of(quantity);
            },
        )
    };
}
pub(crate) use key;

/// The value under a key, with its bounds as a parameter's.
pub(crate) trait KeyValue: Sized {
    const UNIT: &'static str = "";
    const MINIMUM: Quantity;
    const MAXIMUM: Quantity;

    /// The value of a quantity within the bounds; `None` for one of another kind.
    fn of(quantity: Quantity) -> Option<Self>;
}

impl KeyValue for bool {
    const MINIMUM: Quantity = Quantity::Count(0);
    const MAXIMUM: Quantity = Quantity::Count(1);

    fn of(quantity: Quantity) -> Option<Self> {
        match quantity {
            Quantity::Count(number) => Some(number != 0),
            _ => None,
        }
    }
}

impl<const MIN: u64, const MAX: u64> KeyValue for Whole<MIN, MAX> {
    const MINIMUM: Quantity = Quantity::Count(MIN);
    const MAXIMUM: Quantity = Quantity::Count(MAX);

    fn of(quantity: Quantity) -> Option<Self> {
        match quantity {
            Quantity::Count(number) => Some(Self::clamped(number)),
            _ => None,
        }
    }
}

impl<const MIN: i64, const MAX: i64> KeyValue for Real<MIN, MAX> {
    const MINIMUM: Quantity = Quantity::Number(Self::MINIMUM);
    const MAXIMUM: Quantity = Quantity::Number(Self::MAXIMUM);

    fn of(quantity: Quantity) -> Option<Self> {
        match quantity {
            Quantity::Number(number) => Some(Self::clamped(number)),
            _ => None,
        }
    }
}

impl<const MIN: u64, const MAX: u64> KeyValue for Span<MIN, MAX> {
    const MINIMUM: Quantity = Quantity::Time(Duration::from_nanos(MIN));
    const MAXIMUM: Quantity = Quantity::Time(Duration::from_nanos(MAX));

    fn of(quantity: Quantity) -> Option<Self> {
        match quantity {
            Quantity::Time(time) => Some(Self::clamped(time)),
            _ => None,
        }
    }
}

impl<const MIN: u64, const MAX: u64> KeyValue for Bytes<MIN, MAX> {
    const UNIT: &'static str = "bytes";
    const MINIMUM: Quantity = Quantity::Count(MIN);
    const MAXIMUM: Quantity = Quantity::Count(MAX);

    fn of(quantity: Quantity) -> Option<Self> {
        match quantity {
            Quantity::Count(number) => Some(Self::clamped(ByteCount::from_bytes(number))),
            _ => None,
        }
    }
}

/// The limit itself: a remedy has to set one.
impl<V: KeyValue> KeyValue for Limit<V> {
    const UNIT: &'static str = V::UNIT;
    const MINIMUM: Quantity = V::MINIMUM;
    const MAXIMUM: Quantity = V::MAXIMUM;

    fn of(quantity: Quantity) -> Option<Self> {
        V::of(quantity).map(Self::At)
    }
}
