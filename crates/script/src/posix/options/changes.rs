//! Options that change the stack of a socket and its live connection.

use std::ops::RangeInclusive;

use airtcp_tcp::Config;
use airtcp_units::Duration;

use super::super::errno::Errno;
use super::super::table::{Descriptor, Sockets, System, TIMESTAMP_BYTES};
use super::row::int;
use crate::settings::{self, SettingOutcome};

/// The MSS of a peer that sends no option (RFC 9293 §3.7.1).
const DEFAULT_MSS: u32 = 536;
/// The least MSS and the largest that an application may request (Linux, `TCP_MIN_MSS` and
/// `MAX_TCP_WINDOW`).
const WANTED_MSS: RangeInclusive<i32> = 88..=32_767;
/// The retransmissions of a SYN that an application may request (Linux, `MAX_TCP_SYNCNT`).
const SYN_RETRIES: RangeInclusive<i32> = 1..=127;
/// Half the least send buffer in bytes (Linux, `SOCK_MIN_SNDBUF`).
const MIN_SEND_BUFFER: usize = 2304;

impl<S: System> Sockets<S> {
    pub(super) fn configure(
        &mut self,
        descriptor: Descriptor,
        change: impl FnOnce(&mut Config),
    ) -> Result<(), Errno> {
        let options = &mut self.socket_mut(descriptor)?.options;
        let mut config = *options.config;
        change(&mut config);
        options.config = config.into();
        Ok(())
    }

    pub(in crate::posix) fn apply_small_segments(
        &mut self,
        descriptor: Descriptor,
    ) -> Result<(), Errno> {
        let socket = self.socket(descriptor)?;
        let (no_delay, corked) = (socket.options.no_delay, socket.corked);
        if let Ok(id) = self.connection(descriptor) {
            let _ = self.endpoint.set_small_segments(id, no_delay, corked);
        }
        Ok(())
    }

    pub(super) fn set_send_buffer(
        &mut self,
        descriptor: Descriptor,
        value: i32,
    ) -> Result<(), Errno> {
        // Linux allocates and reports twice as much, for overhead.
        let bytes = 2 * usize::try_from(value).unwrap_or(0).max(MIN_SEND_BUFFER);
        let options = &mut self.socket_mut(descriptor)?.options;
        options.send_buffer = bytes;
        let receive = options.config.receive_buffer;
        if let Ok(id) = self.connection(descriptor) {
            let _ = self.endpoint.set_buffers(id, bytes, receive);
        }
        Ok(())
    }

    pub(super) fn set_low_water(
        &mut self,
        descriptor: Descriptor,
        value: i32,
    ) -> Result<(), Errno> {
        let bytes = usize::try_from(value).unwrap_or(usize::MAX).max(1);
        let options = &mut self.socket_mut(descriptor)?.options;
        options.readable_from = bytes;
        let writable_from = options.writable_from;
        if let Ok(id) = self.connection(descriptor) {
            let _ = self.endpoint.set_low_water(id, bytes, writable_from);
        }
        Ok(())
    }

    pub(super) fn set_not_sent_low_water(
        &mut self,
        descriptor: Descriptor,
        value: i32,
    ) -> Result<(), Errno> {
        let value = value.cast_unsigned();
        let bytes = match value {
            0 => usize::MAX,
            bytes => bytes as usize,
        };
        let socket = self.socket_mut(descriptor)?;
        socket.not_sent_low_water = value;
        socket.options.unsent_below = bytes;
        if let Ok(id) = self.connection(descriptor) {
            let _ = self.endpoint.set_unsent_below(id, bytes);
        }
        Ok(())
    }

    pub(super) fn set_wanted_mss(
        &mut self,
        descriptor: Descriptor,
        value: i32,
    ) -> Result<(), Errno> {
        let admitted = value == 0 || WANTED_MSS.contains(&value);
        let wanted = u32::try_from(value).ok().filter(|_| admitted);
        let wanted = Some(wanted.ok_or(Errno::EINVAL)?).filter(|&wanted| wanted > 0);
        self.socket_mut(descriptor)?.wanted_mss = wanted;
        let most = self.offered_mss(false, wanted);
        self.configure(descriptor, |config| {
            // The socket's value includes the timestamps, as the option on the wire does.
            let stamps = if config.timestamps {
                TIMESTAMP_BYTES
            } else {
                0
            };
            config.mss = most.saturating_sub(stamps).max(1);
        })
    }

    /// TCP_MAXSEG: the requested value, or the default of a peer without the option, until a
    /// connection is open (Linux, `do_tcp_getsockopt`).
    pub(super) fn mss(&mut self, descriptor: Descriptor) -> Result<i32, Errno> {
        let wanted = self.socket(descriptor)?.wanted_mss.unwrap_or(DEFAULT_MSS);
        let open = self.connection(descriptor).ok();
        let open = open.and_then(|id| self.endpoint.stream(id));
        let open = open.filter(|stream| stream.readiness().established);
        Ok(open.map_or(int(wanted as usize), |stream| {
            int(usize::try_from(stream.connection().sender().mss()).unwrap_or(usize::MAX))
        }))
    }

    pub(super) fn set_syn_retries(
        &mut self,
        descriptor: Descriptor,
        value: i32,
    ) -> Result<(), Errno> {
        let retries = u8::try_from(value)
            .ok()
            .filter(|_| SYN_RETRIES.contains(&value))
            .ok_or(Errno::EINVAL)?;
        if let Ok(id) = self.connection(descriptor) {
            let _ = self.endpoint.set_syn_retries(id, retries);
        }
        self.configure(descriptor, |config| config.limits.syn_retries = retries)
    }

    pub(super) fn set_user_timeout(
        &mut self,
        descriptor: Descriptor,
        value: i32,
    ) -> Result<(), Errno> {
        let millis = u64::try_from(value).map_err(|_| Errno::EINVAL)?;
        let most = (millis > 0).then(|| Duration::from_millis(millis));
        if let Ok(id) = self.connection(descriptor) {
            let _ = self.endpoint.set_user_timeout(id, most);
        }
        self.configure(descriptor, |config| config.limits.user_timeout = most)
    }

    pub(super) fn set_congestion_control(
        &mut self,
        descriptor: Descriptor,
        value: &[u8],
    ) -> Result<(), Errno> {
        let name = String::from_utf8_lossy(value);
        let mut config = *self.socket(descriptor)?.options.config;
        let applied = settings::congestion_control(name.trim_end_matches('\0'), &mut config);
        if applied != SettingOutcome::Yes {
            return Err(Errno::ENOENT);
        }
        if let Ok(id) = self.connection(descriptor) {
            let _ = self.endpoint.set_congestion_control(id, config.congestion);
        }
        self.configure(descriptor, |known| *known = config)
    }
}
