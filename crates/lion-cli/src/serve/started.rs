//! What is said once a service is up.

use crate::args::{Common, NetworkArgs};
use crate::output;
use crate::progress::Screen;
use crate::summary::counted;
use anyhow::Result;
use lion_server::{HttpConfig, Listener, Service};
use serde::Serialize;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The JSON object, printed once the service is up.
#[derive(Serialize)]
pub(crate) struct Started {
    /// Null at a socket file.
    url: Option<String>,
    port: Option<u16>,
    /// The socket file; null at a port.
    socket: Option<PathBuf>,
    map: String,
    rows: usize,
    checksum: String,
    /// Null if it is gone at the end.
    store: Option<String>,
    /// Points that were in the store.
    points: usize,
    /// The latest event in the store.
    last: u64,
    /// The version of the map that the store is on.
    version: u64,
}

impl Started {
    pub(crate) fn new(
        service: &Service,
        listener: &Listener,
        config: &HttpConfig,
        map: &Path,
    ) -> Result<Self> {
        let address = listener.address()?;
        let view = service.view();
        let version = view.map();
        Ok(Self {
            url: address.map(|address| url(address, config.tls.is_some())),
            port: address.map(|address| address.port()),
            socket: socket_file(listener),
            map: map.display().to_string(),
            rows: version.lion.map().rows(),
            checksum: version.record.checksum.clone(),
            store: (!service.is_temporary()).then(|| service.store().display().to_string()),
            points: view.len(),
            last: view.last(),
            version: version.number(),
        })
    }

    /// The same as one of several maps, under a path of the server.
    pub(super) fn under(mut self, path: &str) -> Self {
        self.url.iter_mut().for_each(|url| url.push_str(path));
        self
    }

    /// Says to people that it is up.
    pub(super) fn tell(&self, network: &NetworkArgs, screen: &Screen) {
        let Self { map, rows, points, last, .. } = self;
        screen.say(&format!("{map}, {}, is live at {}", counted(*rows, "row"), self.place()));
        if let Some(file) = &network.token_file {
            let file = file.display();
            screen.say(&format!("the token is in {file}: in a browser, add ?token=… to the address once"));
        }
        if self.version > 1 {
            screen.say(&format!(
                "its points are in version {} of the map, which lies beside the store",
                self.version
            ));
        }
        match &self.store {
            Some(store) if *last > 0 => {
                screen.say(&format!("{store} keeps {}, up to event {last}", counted(*points, "point")));
            }
            Some(store) => screen.say(&format!("{store} keeps points and events")),
            None => screen.say("points and events are gone at the end: --store FILE keeps them"),
        }
    }

    /// Prints the object, if that was asked for.
    pub(crate) fn print(&self, common: &Common) -> Result<()> {
        if common.json { output::print(&(serde_json::to_string(self)? + "\n")) } else { Ok(()) }
    }

    /// Where a browser finds it; none at a socket file.
    pub(crate) fn url(&self) -> Option<&str> {
        self.url.as_deref()
    }

    /// Where it is called.
    pub(crate) fn place(&self) -> String {
        match (&self.url, &self.socket) {
            (Some(url), _) => url.clone(),
            (None, Some(socket)) => format!("the socket {}", socket.display()),
            (None, None) => String::new(),
        }
    }
}

fn socket_file(listener: &Listener) -> Option<PathBuf> {
    match listener {
        Listener::Tcp(_) => None,
        #[cfg(unix)]
        Listener::Unix(socket) => Some(socket.path().to_owned()),
    }
}

/// The address as a browser takes it: all addresses of a machine are none that one could open.
pub(super) fn url(address: SocketAddr, tls: bool) -> String {
    let (scheme, port) = (if tls { "https" } else { "http" }, address.port());
    match address.ip() {
        ip if ip.is_unspecified() => format!("{scheme}://localhost:{port}/"),
        _ => format!("{scheme}://{address}/"),
    }
}
