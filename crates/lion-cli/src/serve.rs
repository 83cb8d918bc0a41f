//! `lion serve`: a map, its live points, and a port.

use crate::args::{Common, NetworkArgs, ServeArgs};
use crate::output;
use crate::progress::Screen;
use anyhow::{Context, Result, anyhow};
use lion_server::{HttpConfig, Listener, Service, Settings, Tls, Token, Webhook, app, start_log};
use lion_tsne::{Lion, Map};
use serde::Serialize;
use std::future::Future;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tracing::level_filters::LevelFilter;

/// Serves until Ctrl-C.
pub(crate) fn run(args: &ServeArgs, common: &Common) -> Result<()> {
    let screen = Screen::new(common);
    let (listener, mut config) = open(&args.network, &name(&args.map))?;
    config.alerts = args.alerts.rules();
    // All of it: the file may be written anew while this runs.
    let map = Map::load_whole(&args.map)?;
    let lion =
        Lion::new(map, &args.placing.options(common)).with_context(|| args.map.display().to_string())?;
    let settings = Settings {
        store: args.store.clone(),
        retain: args.retain,
        live: args.watching.options(),
        placing: args.placing.options(common),
        update_memory: args.update_memory.map(|bytes| bytes as u64),
        ..Settings::default()
    };
    start_log(args.network.log, level(common));
    runtime()?.block_on(async {
        let service = Service::start(Arc::new(lion), &settings)?;
        screen.close();
        let started = Started::new(&service, &listener, &config, &args.map)?;
        started.tell(&args.network, common, &screen)?;
        lion_server::update_when(service.clone(), args.update_when, config.stop.clone());
        if let Some(webhook) = args.alerts.webhook.clone() {
            let (stop, page) = (config.stop.clone(), args.alerts.page.as_deref().or(started.url()));
            let webhook = Webhook { page: page.map(str::to_owned), ..webhook };
            lion_server::watch(service.clone(), &config.name, args.alerts.rules(), webhook, stop)?;
        }
        let ended = serve(&service, listener, config, stopped(&screen)).await;
        service.stop().await;
        ended
    })
}

/// Offers a service until `shutdown`.
pub(crate) async fn serve(
    service: &Service,
    listener: Listener,
    config: HttpConfig,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    let app = app(service.clone(), config.clone());
    lion_server::serve(listener, app, config, shutdown)
        .await
        .context("the port cannot be listened at any more")
}

/// Takes the port or the socket and reads token and certificate: what is wrong with them should not come out after a large
/// map was loaded.
fn open(network: &NetworkArgs, name: &str) -> Result<(Listener, HttpConfig)> {
    let token = network.token_file.as_deref().map(read_token).transpose()?;
    let tls = network.tls_cert.as_deref().zip(network.tls_key.as_deref());
    let tls = tls.map(|(certificate, key)| Tls::read(certificate, key).map_err(|problem| anyhow!(problem)));
    let tls = tls.transpose()?;
    let listener = listener(network)?;
    let mut config = HttpConfig::new(name, listener.hosts()?);
    (config.token, config.tls) = (token, tls);
    config.hosts = network.allow_host.iter().fold(config.hosts, |hosts, name| hosts.allow(name));
    config.max_body = network.max_body;
    Ok((listener, config))
}

fn listener(network: &NetworkArgs) -> Result<Listener> {
    #[cfg(unix)]
    if let Some(path) = &network.unix_socket {
        let socket = lion_server::UnixSocket::bind(path, network.socket_mode);
        return Ok(socket.with_context(|| path.display().to_string())?.into());
    }
    bind(network.address())
}

/// Takes a port.
pub(crate) fn bind(address: SocketAddr) -> Result<Listener> {
    TcpListener::bind(address).map(Listener::from).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            anyhow!("{address} is in use: stop what listens there, or take another with --port (0 finds a free one)")
        }
        ErrorKind::AddrNotAvailable => {
            anyhow!("{} is no address of this machine: give --host one that is", address.ip())
        }
        ErrorKind::PermissionDenied => {
            anyhow!("port {} may not be used: choose one above 1023 with --port", address.port())
        }
        _ => anyhow!(error).context(format!("{address} cannot be listened at")),
    })
}

fn read_token(file: &Path) -> Result<Token> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    Token::new(&text).map_err(|problem| anyhow!("{}: {problem}", file.display()))
}

/// What a map is called: its file without the ending.
fn name(map: &Path) -> String {
    map.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What runs the service.
pub(crate) fn runtime() -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_name("lion").build().context("threads cannot be started")
}

/// Ctrl-C or a request to end; a second one ends at once.
pub(crate) async fn stopped(screen: &Screen) {
    asked().await;
    screen.say("stopping: what is under way is finished (Ctrl-C again does not wait)");
    tokio::spawn(async {
        asked().await;
        // As a shell says it of a program ended by Ctrl-C.
        std::process::exit(130);
    });
}

#[cfg(unix)]
async fn asked() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

#[cfg(not(unix))]
async fn asked() {
    let _ = tokio::signal::ctrl_c().await;
}

/// How much the log says.
pub(crate) fn level(common: &Common) -> LevelFilter {
    match (common.quiet, common.verbose) {
        (true, _) => LevelFilter::ERROR,
        (_, true) => LevelFilter::DEBUG,
        _ => LevelFilter::WARN,
    }
}

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

    /// Says that it is up: for people on standard error, for programs on standard output.
    fn tell(&self, network: &NetworkArgs, common: &Common, screen: &Screen) -> Result<()> {
        let Self { map, rows, points, last, .. } = self;
        screen.say(&format!("{map}, {rows} rows, is live at {}", self.place()));
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
                screen.say(&format!("{store} keeps {points} points, up to event {last}"));
            }
            Some(store) => screen.say(&format!("{store} keeps points and events")),
            None => screen.say("points and events are gone at the end: --store FILE keeps them"),
        }
        self.print(common)
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
fn url(address: SocketAddr, tls: bool) -> String {
    let (scheme, port) = (if tls { "https" } else { "http" }, address.port());
    match address.ip() {
        ip if ip.is_unspecified() => format!("{scheme}://localhost:{port}/"),
        _ => format!("{scheme}://{address}/"),
    }
}
