//! The system around a script's sockets: its commands set the stack and Fast Open (RFC 7413).

use airtcp_endpoint::FastOpenKeys;
use airtcp_tcp::Config;

use crate::parser::number;
use crate::posix::{Descriptor, Errno, System, key_of_words};
use crate::settings::{self, SettingOutcome};

/// Linux's default of `tcp_fastopen`: as a client only.
const FAST_OPEN: u32 = 0x1;
/// The value set by `common/defaults.sh` of the public suite, and its key.
const SUITES_BITS: u32 = 0x403;
const SUITES_KEY: &str = "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4";
/// The first descriptor after standard input, output and errors.
const FIRST: Descriptor = 3;

/// The settings of a script.
#[derive(Debug)]
pub(super) struct Stack {
    config: Config,
    fast_open: u32,
    keys: FastOpenKeys,
    next: Descriptor,
}

/// The effect of a command outside the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    /// The cookies of other servers are forgotten.
    Forgets,
}

impl System for Stack {
    fn config(&self) -> Config {
        self.config
    }

    fn fast_open(&self) -> u32 {
        self.fast_open
    }

    fn fast_open_keys(&self) -> Option<FastOpenKeys> {
        Some(self.keys)
    }

    fn descriptor(&mut self) -> Result<Descriptor, Errno> {
        let next = self.next.checked_add(1).ok_or(Errno::EMFILE)?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}

impl Stack {
    pub fn new(config: Config) -> Self {
        Self {
            config,
            fast_open: FAST_OPEN,
            keys: FastOpenKeys::new([0; 16]),
            next: FIRST,
        }
    }

    /// Applies a shell command.
    pub fn command(&mut self, text: &str) -> Result<Effect, String> {
        if let SettingOutcome::Unsupported(what) = settings::command(text, &mut self.config) {
            return Err(what);
        }
        let is_suites = text.contains("defaults.sh");
        if is_suites {
            self.fast_open = SUITES_BITS;
            self.set_keys(SUITES_KEY);
        }
        for word in text.split_whitespace() {
            let Some((name, value)) = word.split_once('=') else {
                continue;
            };
            let name = name.rsplit(['/', '.']).next().unwrap_or(name);
            match name {
                "tcp_fastopen" => {
                    let bits = number(value).and_then(|bits| u32::try_from(bits).ok());
                    self.fast_open = bits.unwrap_or(self.fast_open);
                }
                "tcp_fastopen_key" => self.set_keys(value),
                _ => {}
            }
        }
        Ok(if is_suites || text.contains("tcp_metrics flush") {
            Effect::Forgets
        } else {
            Effect::None
        })
    }

    /// The main key, and the backup behind a comma.
    fn set_keys(&mut self, text: &str) {
        let mut keys = text.split(',').map(key_of_words);
        if let Some(Some(main)) = keys.next() {
            self.keys = match keys.next().flatten() {
                Some(backup) => FastOpenKeys::with_backup(main, backup),
                None => FastOpenKeys::new(main),
            };
        }
    }
}
