//! The port: takes connections, bounds how many there are and how slow they may be, and ends them in good order.

mod seats;
mod socket;
mod tls;
#[cfg(unix)]
mod unix_socket;
mod write_timeout;

pub(crate) use seats::{Seat, SeatedBody};
pub use socket::Listener;
pub use tls::Tls;
#[cfg(unix)]
pub use unix_socket::UnixSocket;

use crate::http::{HttpConfig, PROTECTION};
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use seats::{Seated, Seats};
use socket::{Socket, Wire};
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use write_timeout::WriteTimeout;

/// Connections that are being told at a time that there are too many; those beyond are closed without a word.
const TURNED_AWAY: usize = 128;

/// How long that may take.
const TELLING: Duration = Duration::from_millis(500);

/// How long a newcomer waits for the connection of somebody who has to go.
const MAKING_ROOM: Duration = Duration::from_millis(500);

/// Files that are open beside the connections: the store, the log, those being turned away.
const OTHER_FILES: usize = 64 + TURNED_AWAY;

/// The most bytes in the head of a request.
const MOST_HEAD: usize = 64 << 10;

/// Who comes when there are too many.
fn too_many() -> Vec<u8> {
    let detail = "there are too many connections: try again in a moment";
    refusal("503 Service Unavailable\r\nRetry-After: 1", "unavailable", detail)
}

/// An answer to somebody with whom HTTP is not spoken: no router makes it, and it looks as those of the router do.
fn refusal(status: &str, word: &str, detail: &str) -> Vec<u8> {
    let body = serde_json::json!({ "error": word, "detail": detail }).to_string();
    let told: String = PROTECTION.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\
         cache-control: no-store\r\n{told}\r\n"
    );
    (head + &body).into_bytes()
}

/// Answers requests at a port or a socket file until `shutdown`. Then those under way are finished, for a while, and those
/// who listen are sent away. A port that other machines can reach needs a token, and so does a file that all may write to.
pub async fn serve(
    listener: impl Into<Listener>,
    app: Router,
    config: HttpConfig,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let listener = listener.into();
    if let Some(open) = listener.is_open_to()?.filter(|_| config.tokens.is_none()) {
        let problem = format!("{open}, which needs a token: give a --token-file");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    let listener = listener.listen()?;
    let most = allowed(config.connections);
    let room = Arc::new(Semaphore::new(most));
    let away = Arc::new(Semaphore::new(TURNED_AWAY));
    let seats = Arc::new(Seats::default());
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            () = config.stop.stopped() => break,
            accepted = listener.accept() => accepted,
        };
        let (socket, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // No more files, or the caller is gone already. Neither ends the service; the first needs a pause.
                tracing::warn!(%error, "a connection could not be taken");
                sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        if let Ok(permit) = Arc::clone(&room).try_acquire_owned() {
            tokio::spawn(converse(socket, app.clone(), config.clone(), seats.take(address), permit));
        } else if seats.make_room() {
            let (room, seats, app, config) = (room.clone(), seats.clone(), app.clone(), config.clone());
            tokio::spawn(async move {
                if let Ok(Ok(permit)) = timeout(MAKING_ROOM, room.acquire_owned()).await {
                    converse(socket, app, config, seats.take(address), permit).await;
                }
            });
        } else if let Ok(permit) = Arc::clone(&away).try_acquire_owned() {
            tokio::spawn(turn_away(socket, config.clone(), permit));
        }
    }
    drop(listener);
    config.stop.stop();
    // All permits are back when all connections are closed.
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    let closed = timeout(config.grace + Duration::from_secs(1), room.acquire_many(all)).await;
    if closed.is_err() {
        tracing::warn!("some requests did not end in time and were cut off");
    }
    Ok(())
}

/// How many connections the system allows, up to `wanted`.
fn allowed(wanted: usize) -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let needed = (wanted + OTHER_FILES) as u64;
        let Some(current) = limit.current.filter(|&current| current < needed) else { return wanted };
        let raised = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
        let raised =
            match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }) {
                Ok(()) => raised,
                Err(_) => current,
            };
        let most = usize::try_from(raised).unwrap_or(wanted).saturating_sub(OTHER_FILES).clamp(1, wanted);
        if most < wanted {
            tracing::warn!(most, wanted, "the system allows fewer open files than connections are wanted");
        }
        most
    }
    #[cfg(not(unix))]
    wanted
}

/// A connection over which HTTP can be spoken: after the handshake, where TLS is asked for.
async fn open(socket: Socket, config: &HttpConfig) -> io::Result<Box<dyn Wire>> {
    match &config.tls {
        Some(tls) => timeout(config.header_time, tls.accept(socket, config.write_time)).await?,
        None => Ok(Box::new(WriteTimeout::new(socket.into_wire(), config.write_time))),
    }
}

/// Answers the requests of one connection.
async fn converse(
    socket: Socket,
    app: Router,
    config: HttpConfig,
    seated: Seated,
    _permit: OwnedSemaphorePermit,
) {
    let opened = tokio::select! {
        biased;
        opened = open(socket, &config) => opened,
        () = seated.seat.left() => return tracing::debug!("a handshake was given up for somebody else"),
        () = config.stop.stopped() => return,
    };
    let stream = match opened {
        Ok(stream) => TokioIo::new(stream),
        Err(error) => return tracing::debug!(%error, "a handshake failed"),
    };
    let (app, seat) = (TowerToHyperService::new(app), seated.seat.clone());
    let app = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(seat.clone());
        app.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(config.header_time)
        .max_buf_size(MOST_HEAD)
        .serve_connection(stream, app);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = seated.seat.left() => return tracing::debug!("a connection was given to somebody else"),
        () = config.stop.stopped() => {
            connection.as_mut().graceful_shutdown();
            match timeout(config.grace, connection).await {
                Ok(ended) => ended,
                Err(_) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Says that there are too many.
async fn turn_away(socket: Socket, config: HttpConfig, _permit: OwnedSemaphorePermit) {
    let tell = async {
        let mut stream = open(socket, &config).await?;
        stream.write_all(&too_many()).await?;
        // To close while something unread waits would take the answer back.
        stream.shutdown().await
    };
    let _ = timeout(TELLING, tell).await;
}
