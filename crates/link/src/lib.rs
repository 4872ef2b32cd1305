//! The link between two endpoints: queues, error models, traces, as sans-IO models.
//!
//! A [`Pipe`] is one direction of a link. It is handed packets and the time and returns the arrival
//! time of the next one; it owns no clock and no hidden random source. It is made of replaceable
//! parts, which a packet meets in this order:
//!
//! 1. [`policer`] (if there is one) and [`queue`]: does it pass, and is there room to wait?
//! 2. [`service`]: when is it put on the link, and when has its last byte left?
//! 3. [`error`]: does it arrive at all?
//! 4. [`delay`]: how long does it propagate?
//!
//! All parts use the types of [`frame`]. [`mac`] holds channels that stations share and links that
//! retransmit, over the radio of [`phy`]; [`agent`] holds an access point's actions on passing
//! packets. [`trace`] reads recorded links; [`random`] is the source of all randomness.

pub mod agent;
pub mod delay;
pub mod error;
pub mod fading;
pub mod frame;
pub mod mac;
pub mod phy;
pub mod pipe;
pub mod policer;
pub mod queue;
pub mod random;
pub mod rate_control;
pub mod scheduler;
pub mod service;
pub mod stops;
pub mod trace;

pub use delay::{
    BaseDelay, Delay, DeliveryOrder, Jitter, JitterShape, Late, RecordingStart, RttModel, RttShape,
    VariableDelay,
};
pub use error::{ErrorModel, GilbertElliott};
pub use frame::{Admission, Transmission};
pub use pipe::{FecConfig, Pipe, PipeConfig};
pub use policer::{Policer, PolicerConfig};
pub use queue::{
    AbcConfig, AckFilter, AutorateConfig, CakeConfig, CoDelConfig, CodePoints, Discipline,
    DualPi2Config, EcnField, FqCoDelConfig, PieConfig, QueueLimit, Tins,
};
pub use random::Stream;
pub use service::Service;
pub use stops::{RandomStops, Stop, StopLength, Stops};
pub use trace::conditions::{Condition, Conditions};
pub use trace::light::LightTrace;
pub use trace::lost_packets::LostPackets;
pub use trace::mahimahi::MahimahiTrace;
pub use trace::repeat::Repeat;
pub use trace::rtt_log::{RttSeries, RttSummary};
pub use trace::stop_list::StopList;
pub use trace::{TraceError, TraceProblem};
