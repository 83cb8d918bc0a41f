//! A socket file in place of a port.

use crate::port::{LONG, all, posting, spawn};
use crate::{app, config, service};
use lion_server::{Listener, Service, Stop, UnixSocket, serve};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// A service at a socket file of its own.
struct Served {
    path: PathBuf,
    stop: Stop,
    serving: JoinHandle<std::io::Result<()>>,
    _folder: tempfile::TempDir,
}

impl Served {
    fn open(service: &Service) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lion.sock");
        let listener = Listener::from(UnixSocket::bind(&path, 0o600).expect("a socket"));
        let config = lion_server::HttpConfig { hosts: listener.hosts().expect("names"), ..config() };
        let stop = config.stop.clone();
        let serving = spawn(service, listener, config);
        Self { path, stop, serving, _folder: folder }
    }

    async fn call(&self, request: &str) -> String {
        let mut stream = UnixStream::connect(&self.path).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("it takes the request");
        all(stream).await
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_called_at_a_socket_file() {
    let service = service();
    let served = Served::open(&service);
    assert_eq!(mode(&served.path), 0o600);
    let text = served.call(&posting(r#"{"id":"a","x":[1,2]}"#)).await;
    assert!(text.starts_with("HTTP/1.1 200 OK") && text.contains("\"event\":1"), "{text}");
    // What a proxy passes on from a browser is looked at as ever.
    let foreign = posting(r#"{"id":"b","x":[1,2]}"#).replace("Host: localhost", "Host: evil.example");
    assert!(served.call(&foreign).await.starts_with("HTTP/1.1 403"));
    // Another service does not take it away.
    let said = UnixSocket::bind(&served.path, 0o600).expect_err("it is in use").to_string();
    assert!(said.contains("another service listens at this socket"), "{said}");
    served.stop.stop();
    timeout(LONG, served.serving).await.expect("it ends").expect("no panic").expect("it ends well");
    assert!(!served.path.exists());
    service.stop().await;
}

#[test]
fn what_a_crash_left_behind_is_replaced_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lion.sock");
    // A listener of the standard library does not remove its file.
    drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
    assert!(path.exists());
    let socket = UnixSocket::bind(&path, 0o660).expect("it is stale");
    assert_eq!(mode(&path), 0o660);
    // A file that took its place stays.
    std::fs::remove_file(&path).expect("it is there");
    std::fs::write(&path, "mine").expect("a file");
    drop(socket);
    assert_eq!(std::fs::read_to_string(&path).expect("it stays"), "mine");
    let said = UnixSocket::bind(&path, 0o600).expect_err("it is no socket").to_string();
    assert!(said.contains("a file that is no socket"), "{said}");
    assert_eq!(std::fs::read_to_string(&path).expect("it stays"), "mine");
    assert!(UnixSocket::bind(&folder.path().join("none/lion.sock"), 0o600).is_err());
    assert!(UnixSocket::bind(&folder.path().join("long".repeat(100)), 0o600).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_for_all_users_needs_a_token() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = UnixSocket::bind(&folder.path().join("lion.sock"), 0o666).expect("a socket");
    let refused = serve(socket, app(service(), config()), config(), std::future::pending()).await;
    assert!(refused.expect_err("it has no token").to_string().contains("--token-file"));
}
