//! The catalogue of remedies: a remedy's name and values in, configured parts of TCP and link out.
//!
//! A remedy is a named change at one of five places. One that sets a few keys of `[tcp]` is a row
//! of `table`; one with logic takes a file in the folder of its place, and a line in its list.
//!
//! ```
//! let chosen = airtcp_remedies::parse("rto-factor:factor=10+sack").unwrap();
//! let mut tcp = airtcp_tcp::Config::default();
//! let link = chosen.apply(&mut tcp);
//! assert!(link.is_empty());
//! assert_eq!(tcp.timeout.factor, 10.0);
//! assert!(tcp.sack);
//! ```

mod access_point;
pub mod aliases;
pub mod bpf;
mod catalogue;
mod changes;
mod choices;
pub mod deployment;
mod idle;
mod key;
mod link;
mod parameter;
mod proxy;
mod quantity;
mod receiver;
pub mod registered;
mod remedy;
mod selection;
mod sender;
pub mod suggestion;
mod table;

pub use catalogue::{catalogue, find};
use changes::Changes;
pub use changes::{LinkChange, MediumChange, OutageReaction, SentBy};
pub use deployment::Deployment;
pub use idle::Idle;
pub use key::Key;
pub use parameter::{Parameter, Values};
pub use quantity::Quantity;
pub use remedy::{Place, Remedy};
pub use selection::{ConfiguredRemedy, Selection, SelectionError, parse};
