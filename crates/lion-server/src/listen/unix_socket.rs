//! A socket file: who may call is who may write to it.

use socket2::{Domain, SockAddr, Type};
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Connections that may wait to be accepted, as many as a port of the standard library has.
const BACKLOG: i32 = 128;

/// A socket file. It is removed when this is dropped.
#[derive(Debug)]
pub struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    mode: u32,
    /// Device and inode: another service may have put its own file there since.
    identity: (u64, u64),
}

impl UnixSocket {
    /// Makes the file with permissions such as 0o600. One that a service left behind when it crashed is replaced; one at
    /// which somebody listens is not.
    pub fn bind(path: &Path, mode: u32) -> io::Result<Self> {
        remove_stale(path)?;
        let socket = socket2::Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&SockAddr::unix(path)?)?;
        // Nobody can call before it listens, so that nobody finds it with permissions that are too wide.
        let prepared = fs::set_permissions(path, Permissions::from_mode(mode))
            .and_then(|()| socket.listen(BACKLOG))
            .and_then(|()| fs::symlink_metadata(path));
        match prepared {
            Ok(file) => {
                let identity = (file.dev(), file.ino());
                Ok(Self { listener: socket.into(), path: path.to_owned(), mode, identity })
            }
            Err(error) => {
                let _ = fs::remove_file(path);
                Err(error)
            }
        }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether users may call that are neither its owner nor in its group.
    pub(super) fn is_open(&self) -> bool {
        self.mode & 0o002 != 0
    }

    pub(super) fn listen(&self) -> io::Result<tokio::net::UnixListener> {
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        tokio::net::UnixListener::from_std(listener)
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        let is_ours = |file: fs::Metadata| (file.dev(), file.ino()) == self.identity;
        if fs::symlink_metadata(&self.path).is_ok_and(is_ours) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes a socket file at which nobody listens.
fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = match fs::symlink_metadata(path) {
        Ok(file) => file.file_type().is_socket(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !is_socket {
        let problem = "there is a file that is no socket: remove it, or choose another path";
        return Err(io::Error::new(ErrorKind::AlreadyExists, problem));
    }
    match UnixStream::connect(path) {
        Ok(_) => {
            let problem = "another service listens at this socket: stop it, or choose another path";
            Err(io::Error::new(ErrorKind::AddrInUse, problem))
        }
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
        Err(error) => Err(error),
    }
}
