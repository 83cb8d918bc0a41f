//! What connections come from: a port, or a socket file.

#[cfg(unix)]
use super::unix_socket::UnixSocket;
use crate::http::Hosts;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// Where a service is called.
#[derive(Debug)]
pub enum Listener {
    /// A port.
    Tcp(std::net::TcpListener),
    /// A socket file.
    #[cfg(unix)]
    Unix(UnixSocket),
}

impl From<std::net::TcpListener> for Listener {
    fn from(listener: std::net::TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

#[cfg(unix)]
impl From<UnixSocket> for Listener {
    fn from(socket: UnixSocket) -> Self {
        Self::Unix(socket)
    }
}

impl Listener {
    /// The names by which a service is called there.
    pub fn hosts(&self) -> io::Result<Hosts> {
        match self {
            Self::Tcp(listener) => Ok(Hosts::new(listener.local_addr()?)),
            #[cfg(unix)]
            Self::Unix(socket) => Ok(Hosts::at_socket(socket.path())),
        }
    }

    /// The address, if it is a port.
    pub fn address(&self) -> io::Result<Option<SocketAddr>> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Some),
            #[cfg(unix)]
            Self::Unix(_) => Ok(None),
        }
    }

    /// Says who could call without being asked for a token, if that is anybody else.
    pub(super) fn is_open_to(&self) -> io::Result<Option<String>> {
        match self {
            Self::Tcp(listener) => {
                let address = listener.local_addr()?;
                let is_open = !address.ip().is_loopback();
                Ok(is_open.then(|| format!("{address} can be reached from other machines")))
            }
            #[cfg(unix)]
            Self::Unix(socket) if socket.is_open() => {
                Ok(Some(format!("{} is open to every user of this machine", socket.path().display())))
            }
            #[cfg(unix)]
            Self::Unix(_) => Ok(None),
        }
    }

    /// Begins to take connections.
    pub(super) fn listen(self) -> io::Result<Accepting> {
        match self {
            Self::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                Ok(Accepting::Tcp(TcpListener::from_std(listener)?))
            }
            #[cfg(unix)]
            Self::Unix(socket) => Ok(Accepting::Unix(socket.listen()?, socket)),
        }
    }
}

/// A listener that takes connections.
pub(super) enum Accepting {
    Tcp(TcpListener),
    /// The second removes the file at the end.
    #[cfg(unix)]
    Unix(UnixListener, #[expect(dead_code, reason = "it is dropped")] UnixSocket),
}

impl Accepting {
    /// The next connection, and where it is from. Those of a socket file are all from this machine.
    pub(super) async fn accept(&self) -> io::Result<(Socket, IpAddr)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Ok((Socket::Tcp(stream), address.ip()))
            }
            #[cfg(unix)]
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), Ipv4Addr::LOCALHOST.into()))
            }
        }
    }
}

/// A connection that was accepted.
pub(super) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// What bytes of HTTP come and go by: one type for all, so that all of it is compiled once.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

impl Socket {
    pub(super) fn into_wire(self) -> Box<dyn Wire> {
        match self {
            Self::Tcp(stream) => Box::new(stream),
            #[cfg(unix)]
            Self::Unix(stream) => Box::new(stream),
        }
    }

    /// Whether the caller begins with this byte. Bytes of a socket file cannot be looked at beforehand: they are believed to.
    pub(super) async fn begins_with(&self, byte: u8) -> io::Result<bool> {
        match self {
            Self::Tcp(stream) => {
                let mut first = [0];
                match stream.peek(&mut first).await? {
                    0 => Err(io::ErrorKind::UnexpectedEof.into()),
                    _ => Ok(first[0] == byte),
                }
            }
            #[cfg(unix)]
            Self::Unix(_) => Ok(true),
        }
    }
}
