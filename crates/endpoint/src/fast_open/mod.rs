//! TCP Fast Open (RFC 7413) of many connections: the cookies that a server grants, and a client's
//! cache of cookies.

mod cache;
mod keys;
mod pending;

pub(crate) use cache::Learned;
pub use cache::{CacheSettings, FastOpenCache, FastOpenConnect};
pub use keys::FastOpenKeys;
pub use pending::FastOpenListen;
pub(crate) use pending::Pending;
