//! Two endpoints and the wire between them: data written on one side is read on the other, and no
//! arriving packet takes more than its bound.

mod bytes;
mod closing;
mod fast_open;
mod hostile;
mod leaving;
mod many;
mod path;
mod world;
