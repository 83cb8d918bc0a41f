//! `lion serve`: a map, its live points, and a port.

mod maps;
mod started;

pub(crate) use started::Started;

use crate::args::{Common, NetworkArgs, ServeArgs};
use crate::output;
use crate::progress::Screen;
use anyhow::{Context, Result, anyhow, bail};
use lion_server::{
    HttpConfig, Listener, Router, Service, Settings, Tls, Tokens, Webhook, app, maps_app, start_log,
};
use lion_tsne::{Lion, Map};
use maps::maps;
use started::url;
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
    let maps = maps(args)?;
    let (listener, config) = open(args)?;
    let unknown = |map: &&str| !maps.named.iter().any(|(name, _)| name == map);
    if let Some(map) = config.tokens.iter().flat_map(Tokens::maps).find(unknown) {
        bail!("a token is for the map {map}, and there is none of this name");
    }
    let loaded = maps.named.iter().map(|(_, file)| load(file, args, common)).collect::<Result<Vec<_>>>()?;
    start_log(args.network.log, level(common));
    runtime()?.block_on(async {
        let mut services = Vec::new();
        for ((name, file), lion) in maps.named.iter().zip(loaded) {
            let store = maps.store(args.store.as_deref(), name)?;
            let service = Service::start(Arc::new(lion), &settings(args, common, store))?;
            services.push((service, HttpConfig { name: name.clone(), ..config.clone() }, file.as_path()));
        }
        let served: Vec<(Service, HttpConfig)> =
            services.iter().map(|(service, config, _)| (service.clone(), config.clone())).collect();
        let app = match (&served[..], maps.several) {
            ([(service, config)], false) => app(service.clone(), config.clone()),
            _ => maps_app(served.clone(), config.clone()).map_err(|problem| anyhow!(problem))?,
        };
        screen.close();
        tell(&services, &listener, args, common, &screen, maps.several)?;
        let ended = offer(app, listener, config, stopped(&screen)).await;
        for (service, _) in served {
            service.stop().await;
        }
        ended
    })
}

fn load(file: &Path, args: &ServeArgs, common: &Common) -> Result<Lion> {
    // All of it: the file may be written anew while this runs.
    let map = Map::load_whole(file)?;
    Lion::new(map, &args.placing.options(common)).with_context(|| file.display().to_string())
}

fn settings(args: &ServeArgs, common: &Common, store: Option<PathBuf>) -> Settings {
    Settings {
        store,
        retain: args.retain,
        live: args.watching.options(),
        placing: args.placing.options(common),
        update_memory: args.update_memory.map(|bytes| bytes as u64),
        ..Settings::default()
    }
}

/// Says that all are up, and lets what goes on by itself begin.
fn tell(
    services: &[(Service, HttpConfig, &Path)],
    listener: &Listener,
    args: &ServeArgs,
    common: &Common,
    screen: &Screen,
    several: bool,
) -> Result<()> {
    let mut all = Vec::new();
    for (service, config, file) in services {
        let path = if several { format!("m/{}/", config.name) } else { String::new() };
        let started = Started::new(service, listener, config, file)?.under(&path);
        started.tell(&args.network, screen);
        lion_server::update_when(service.clone(), args.update_when, config.stop.clone());
        if let Some(webhook) = args.alerts.webhook.clone() {
            let page = args.alerts.page.as_ref().map(|page| format!("{page}{path}"));
            let page = page.or_else(|| started.url().map(str::to_owned));
            let (webhook, stop) = (Webhook { page, ..webhook }, config.stop.clone());
            lion_server::watch(service.clone(), &config.name, args.alerts.rules(), webhook, stop)?;
        }
        all.push(started);
    }
    match (&all[..], several) {
        ([started], false) => started.print(common),
        _ if common.json => {
            let address = listener.address()?;
            let url = address.map(|address| url(address, args.network.tls_cert.is_some()));
            let port = address.map(|address| address.port());
            output::print(&(serde_json::json!({ "url": url, "port": port, "maps": all }).to_string() + "\n"))
        }
        _ => Ok(()),
    }
}

/// Offers a service until `shutdown`.
pub(crate) async fn serve(
    service: &Service,
    listener: Listener,
    config: HttpConfig,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    offer(app(service.clone(), config.clone()), listener, config, shutdown).await
}

async fn offer(
    app: Router,
    listener: Listener,
    config: HttpConfig,
    shutdown: impl Future<Output = ()>,
) -> Result<()> {
    lion_server::serve(listener, app, config, shutdown)
        .await
        .context("the port cannot be listened at any more")
}

/// Takes the port or the socket and reads token and certificate: what is wrong with them should not come out after a large
/// map was loaded.
fn open(args: &ServeArgs) -> Result<(Listener, HttpConfig)> {
    let network = &args.network;
    let tokens = network.token_file.as_deref().map(read_tokens).transpose()?;
    let tls = network.tls_cert.as_deref().zip(network.tls_key.as_deref());
    let tls = tls.map(|(certificate, key)| Tls::read(certificate, key).map_err(|problem| anyhow!(problem)));
    let tls = tls.transpose()?;
    let listener = listener(network)?;
    let mut config = HttpConfig::new("", listener.hosts()?);
    (config.tokens, config.tls) = (tokens, tls);
    config.alerts = args.alerts.rules();
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

fn read_tokens(file: &Path) -> Result<Tokens> {
    let text = lion_table::read_text(file)?;
    Tokens::new(&text).map_err(|problem| anyhow!("{}: {problem}", file.display()))
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
