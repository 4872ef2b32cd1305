//! Names of an endpoint's connections and listeners.

use slotmap::new_key_type;

new_key_type! {
    /// A connection of an endpoint. It is never reused for another.
    pub struct ConnectionId;

    /// A listener of an endpoint.
    pub struct ListenerId;
}
