//! The gateway's socket: a file named after its namespace and device.

use std::fs;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use airtcp_host::daemon::status;
use airtcp_host::error::{Result, Tried};

/// The file of the socket, which is removed with this value.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    /// The socket's path until the gateway takes over its final name.
    waiting: PathBuf,
    is_named: bool,
}

/// The socket path of the gateway on a device in a namespace.
pub fn socket_path(state: &Path, cookie: u64, mobile: &str) -> PathBuf {
    state.join(format!("gateway-{cookie}-{mobile}.sock"))
}

impl ControlSocket {
    /// Starts listening. The socket gets its final name only with [`take_name`](Self::take_name).
    ///
    /// # Errors
    ///
    /// The folder is not available.
    pub fn listen(path: PathBuf) -> Result<(Self, UnixListener)> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).tried(|| format!("cannot make {}", folder.display()))?;
        let waiting = path.with_extension(format!("{}.new", std::process::id()));
        let _ = fs::remove_file(&waiting);
        let listener = UnixListener::bind(&waiting)
            .tried(|| format!("cannot listen on {}", waiting.display()))?;
        let socket = Self {
            path,
            waiting,
            is_named: false,
        };
        Ok((socket, listener))
    }

    /// Publishes this gateway under its device's name.
    ///
    /// # Errors
    ///
    /// The folder does not allow it.
    pub fn take_name(&mut self) -> Result<()> {
        fs::rename(&self.waiting, &self.path)
            .tried(|| format!("cannot rename {}", self.waiting.display()))?;
        self.is_named = true;
        Ok(())
    }

    /// Records that a successor has taken the name: it is not removed at the end.
    pub const fn give_name_away(&mut self) {
        self.is_named = false;
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let path = if self.is_named {
            &self.path
        } else {
            &self.waiting
        };
        let _ = fs::remove_file(path);
    }
}

/// Sends a request to the gateway of a socket. `None` if it is gone.
///
/// # Errors
/// It does not answer.
pub fn ask(path: &Path, word: &str) -> Result<Option<String>> {
    let address = SocketAddr::from_pathname(path)
        .tried(|| format!("{} cannot be a socket", path.display()))?;
    status::ask(&address, word)
}
