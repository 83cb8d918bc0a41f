//! `lion serve` and `lion export`: what can be chosen.

use super::{PlacingArgs, WatchArgs, value};
use clap::{ArgGroup, Args};
use lion_server::{LogFormat, Retain, Rules, UpdateWhen, Webhook};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// The port unless another is given.
pub(crate) const PORT: u16 = 7878;

/// Serve a live map: a dashboard to look at, and an HTTP API to put points and hear of events
///
/// Points put by POST /api/points appear in the dashboard as they come; what was acknowledged is on disk. GET
/// /openapi.json describes the API, GET /metrics is for Prometheus. Only this machine can call it unless --host says
/// otherwise, which needs a token. Ctrl-C finishes what is under way and ends.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion serve m.lion --store points.db         then open http://127.0.0.1:7878
  curl -d '{\"id\":\"a\",\"x\":[1.5,2,0.3]}' -H 'content-type: application/json' localhost:7878/api/points
  curl -N localhost:7878/api/events?after=0   every event, as it happens
  lion serve m.lion --store points.db --retain 30d --webhook https://example.org/hook --alert-new-cluster
  lion serve m.lion --host 0.0.0.0 --token-file token.txt --allow-host map.example.org
  lion serve m.lion --host 0.0.0.0 --token-file token.txt --tls-cert cert.pem --tls-key key.pem
  lion serve --map oaks=oaks.lion --map firs=firs.lion --store stores   then open http://127.0.0.1:7878/m/oaks/
  lion serve m.lion --unix-socket lion.sock   then curl --unix-socket lion.sock http://localhost/api/health")]
pub(crate) struct ServeArgs {
    /// A map file written by lion fit or lion update, or a folder: all maps in it, each under /m/NAME/
    #[arg(value_name = "MAP", required_unless_present = "maps")]
    pub(crate) map: Option<PathBuf>,
    /// One of several maps, under /m/NAME/; give it again for each
    #[arg(long = "map", value_name = "NAME=FILE", value_parser = named_map, conflicts_with = "map")]
    pub(crate) maps: Vec<(String, PathBuf)>,
    /// The file that keeps points and events, made if it is not there; without it they are gone at the end. With several maps,
    /// the folder for such files, NAME.db
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// How much of the history the store keeps: a time such as 30d, 12h, 90m or 45s, or a number of events; all of it unless
    /// given. Points are always kept
    #[arg(long, value_name = "TIME|N", requires = "store")]
    pub(crate) retain: Option<Retain>,
    /// When points are taken into the map by themselves: never, stale (the map is stale: all points), forming (a new cluster of 10
    /// or more outliers: these), or "every 1d". POST /api/map/update does it at any time
    #[arg(long, value_name = "WHEN", default_value = "never")]
    pub(crate) update_when: UpdateWhen,
    /// The most memory that an update of the map may take; what is free unless given
    #[arg(long, value_name = "BYTES", value_parser = value::bytes)]
    pub(crate) update_memory: Option<usize>,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    #[command(flatten)]
    pub(crate) alerts: AlertArgs,
    #[command(flatten)]
    pub(crate) watching: WatchArgs,
    #[command(flatten)]
    pub(crate) placing: PlacingArgs,
}

fn named_map(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.into(), file.into())),
        _ => Err("it must be a name and a file, such as oaks=oaks.lion".into()),
    }
}

/// Who may call, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(crate) struct NetworkArgs {
    /// The address to listen at: any but this machine's own (127.0.0.1, ::1) needs --token-file
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_parser = value::address)]
    pub(crate) host: IpAddr,
    /// The port to listen at; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = PORT)]
    pub(crate) port: u16,
    /// A certificate in PEM, followed by those that signed it: callers then come by https, and only so
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM and without a password
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// A socket file to listen at in place of an address. One that a crash left behind is replaced
    #[cfg(unix)]
    #[arg(long, value_name = "PATH", conflicts_with_all = ["host", "port", "tls_cert"])]
    pub(crate) unix_socket: Option<PathBuf>,
    /// Who may call at the socket file, as chmod takes it: 600 is its owner alone, 660 its group too
    #[cfg(unix)]
    #[arg(long, value_name = "MODE", requires = "unix_socket", default_value = "600", value_parser = value::socket_mode)]
    pub(crate) socket_mode: u32,
    /// A file with the token that callers must send: at least 16 letters, digits or -._~. Or a line for each of several tokens:
    /// its role (read, write or admin), the token, and the maps that it is for, all if none is named
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Another name that this service is called by, such as that of a proxy before it
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// The most bytes that a request may send
    #[arg(long, value_name = "BYTES", default_value = "64MB", value_parser = value::bytes)]
    pub(crate) max_body: usize,
    /// How lines of the log look
    #[arg(long, value_parser = value::named::<LogFormat>(), default_value_t)]
    pub(crate) log: LogFormat,
}

/// Whom to tell.
#[derive(Debug, Args)]
#[command(next_help_heading = "Alerts")]
pub(crate) struct AlertArgs {
    /// Where alerts are posted to, as JSON
    #[arg(long, value_name = "URL", value_parser = Webhook::new)]
    pub(crate) webhook: Option<Webhook>,
    /// Where people open the dashboard, if that is not the service's own address, as behind a proxy: alerts link to it
    #[arg(long, value_name = "URL", requires = "webhook", value_parser = value::web_address)]
    pub(crate) page: Option<String>,
    /// When more of the window's arrivals than this are outliers, such as 10%, and that is more than chance explains
    #[arg(long, value_name = "SHARE", value_parser = value::share, requires = "webhook", allow_negative_numbers = true)]
    pub(crate) alert_outlier_rate: Option<f64>,
    /// When the map is stale, and staler than this, from 0 to 1
    #[arg(long, value_name = "S", value_parser = value::share, requires = "webhook", allow_negative_numbers = true)]
    pub(crate) alert_staleness: Option<f64>,
    /// When outliers gather into a new cluster
    #[arg(long, requires = "webhook")]
    pub(crate) alert_new_cluster: bool,
}

impl NetworkArgs {
    /// The address to listen at.
    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::new(self.host, self.port)
    }

    /// Whether somebody could call who is neither on this machine nor let in by the mode of the socket file.
    pub(crate) fn is_open(&self) -> bool {
        #[cfg(unix)]
        if self.unix_socket.is_some() {
            return self.socket_mode & 0o002 != 0;
        }
        !self.host.is_loopback()
    }
}

impl AlertArgs {
    /// What to tell of.
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            outlier_rate: self.alert_outlier_rate,
            staleness: self.alert_staleness,
            new_cluster: self.alert_new_cluster,
        }
    }
}

/// Write the events or the points of a store, or the rows of a map, to a table
///
/// Events, one row for each, in order: number, time, kind, and all that the kind tells; .jsonl holds the events as lion
/// stream and GET /api/events tell them. Points, one row for each that is there: its id, its label, the columns of its row as the
/// table of the map has them, and what is said of it; lion fit, lion place and lion update take this table as it is. A service may be running on the
/// store meanwhile. A map: one row for each of its own, in its order: id, position, label and shown columns.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("tables").args(["output", "points"]).required(true).multiple(true), after_help = "\
Examples:
  lion export points.db -o events.parquet
  lion export points.db -o events.jsonl
  lion export points.db --points rows.parquet
  lion fit rows.parquet -o new.lion                      a new map of the live points
  lion export m.lion -o places.csv                       the rows of a map: id, x, y, label, shown columns")]
pub(crate) struct ExportArgs {
    /// A store written by lion serve, or a map
    #[arg(value_name = "STORE|MAP")]
    pub(crate) source: PathBuf,
    /// Where to write the events, or the rows of a map: .parquet, .arrow, .csv or .jsonl; an old file is replaced once the new
    /// one is whole
    #[arg(short, long, value_name = "FILE", value_parser = value::events)]
    pub(crate) output: Option<PathBuf>,
    /// Where to write the points: .parquet, .arrow, .csv or .jsonl
    #[arg(long, value_name = "FILE", value_parser = value::events)]
    pub(crate) points: Option<PathBuf>,
    /// With --points: the map that the points are in, where its file does not lie in the store's folder
    #[arg(long, value_name = "MAP", requires = "points")]
    pub(crate) map: Option<PathBuf>,
}
