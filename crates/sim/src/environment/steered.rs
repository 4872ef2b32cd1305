//! A control that an agent steers: it holds the pace that it was given.

use airtcp_tcp::external::{Call, ExternalControl, Operations, Socket, Source};
use std::sync::OnceLock;

/// The least window, in segments (BBR, `BBRMinPipeCwnd`).
const MIN_WINDOW: u64 = 4;

/// The control, one for the process.
pub(super) fn steered() -> ExternalControl {
    static STEERED: OnceLock<ExternalControl> = OnceLock::new();
    *STEERED.get_or_init(|| ExternalControl::keep(Box::new(Steered)))
}

/// Sends at the pace given, with a window of twice what that needs; a loss changes neither.
#[derive(Clone, Debug)]
struct Steered;

impl Source for Steered {
    fn name(&self) -> &str {
        "steered"
    }

    fn operations(&self) -> Box<dyn Operations> {
        Box::new(Self)
    }
}

impl Operations for Steered {
    fn boxed(&self) -> Box<dyn Operations> {
        Box::new(Self)
    }

    fn is_model(&self) -> bool {
        true
    }

    fn call(&mut self, call: Call<'_>, socket: &mut Socket) -> Result<Option<u64>, String> {
        match call {
            // Until the agent acts, the initial window once a round trip.
            Call::Init => {
                socket.paced = true;
                let bytes = u64::from(socket.cwnd) * u64::from(socket.mss);
                let nanos = socket.srtt.as_nanos().max(1_000_000);
                socket.pacing_rate = bytes * 1_000_000_000 / nanos;
            }
            Call::Control(_) => {
                let rate = u128::from(socket.pacing_rate);
                let bytes = 2 * rate * u128::from(socket.srtt.as_nanos()) / 1_000_000_000;
                let segments = u64::try_from(bytes / u128::from(socket.mss.max(1)));
                let window = segments.unwrap_or(u64::MAX).max(MIN_WINDOW);
                socket.cwnd = u32::try_from(window).unwrap_or(u32::MAX >> 1);
            }
            Call::Threshold => return Ok(Some(socket.cwnd.into())),
            _ => {}
        }
        Ok(None)
    }
}
