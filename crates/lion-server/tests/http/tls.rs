//! Callers by https: what holds for plain connections holds for them too, the handshake included.

use crate::port::{LONG, Port, all, posting};
use crate::service;
use crate::stream::submit;
use lion_server::{HttpConfig, Tls, Tokens};
use rcgen::CertifiedKey;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A certificate for localhost in two files, and the client that trusts it.
pub(crate) struct Certificate {
    folder: tempfile::TempDir,
    client: TlsConnector,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("cert.pem"), cert.pem()).expect("a file");
        std::fs::write(folder.path().join("key.pem"), signing_key.serialize_pem()).expect("a file");
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).expect("a root");
        Self { folder, client: trusting(roots) }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tls(&self) -> Tls {
        Tls::read(&self.file("cert.pem"), &self.file("key.pem")).expect("both can be read")
    }

    pub(crate) async fn port(&self, change: impl FnOnce(&mut HttpConfig)) -> Port {
        Port::open(service(), |config| {
            config.tls = Some(self.tls());
            change(config);
        })
        .await
    }

    async fn secure(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        let name = "localhost".try_into().expect("a name");
        timeout(LONG, self.client.connect(name, stream)).await.expect("a handshake in time")
    }

    /// A connection on which a request was sent.
    async fn send(&self, port: &Port, request: &str) -> TlsStream<TcpStream> {
        let mut stream = self.secure(port.connect().await).await.expect("a handshake");
        stream.write_all(request.as_bytes()).await.expect("it takes the request");
        stream
    }
}

fn trusting(roots: RootCertStore) -> TlsConnector {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

const HEALTH: &str = "GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// The first bytes of a handshake that does not go on.
const HALF: &[u8] = &[0x16, 3, 1, 2, 0, 1];

#[tokio::test(flavor = "multi_thread")]
async fn who_trusts_the_certificate_is_served() {
    let certificate = Certificate::new();
    let port = certificate.port(|_| ()).await;
    let text = all(certificate.send(&port, HEALTH).await).await;
    assert!(text.starts_with("HTTP/1.1 200 OK") && text.contains("\"points\":0"), "{text}");
    let text = all(certificate.send(&port, &posting(r#"{"id":"a","x":[1,2]}"#)).await).await;
    assert!(text.starts_with("HTTP/1.1 200 OK") && text.contains("\"event\":1"), "{text}");
    // Names are looked at as ever.
    let text = all(certificate.send(&port, &HEALTH.replace("localhost", "evil.example")).await).await;
    assert!(text.starts_with("HTTP/1.1 403 Forbidden"), "{text}");
    // Who does not trust it does not speak to it.
    let stranger = Certificate::new();
    assert!(stranger.secure(port.connect().await).await.is_err());
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cookie_of_a_token_goes_by_https_only() {
    let certificate = Certificate::new();
    let token = "0123456789abcdef";
    let port = certificate.port(|config| config.tokens = Tokens::new(token).ok()).await;
    let request = format!("GET /?token={token} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let text = all(certificate.send(&port, &request).await).await;
    assert!(text.contains("SameSite=Strict; Max-Age=31536000; Secure\r\n"), "{text}");
    assert!(all(certificate.send(&port, HEALTH).await).await.starts_with("HTTP/1.1 401"));
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_is_told_to_come_by_https() {
    let certificate = Certificate::new();
    let port = certificate.port(|_| ()).await;
    let begin = Instant::now();
    let text = all(port.send(HEALTH).await).await;
    assert!(text.starts_with("HTTP/1.1 400 Bad Request") && text.contains("by https, not http"), "{text}");
    // What is no TLS after all is closed, too.
    let mut stream = port.connect().await;
    stream.write_all(&[0x16; 2000]).await.expect("it takes it");
    assert!(!all(stream).await.contains("200 OK"));
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_has_a_limit_in_time() {
    let certificate = Certificate::new();
    let port = certificate.port(|config| config.header_time = Duration::from_millis(300)).await;
    let begin = Instant::now();
    for begun in [&b""[..], HALF] {
        let mut stream = port.connect().await;
        stream.write_all(begun).await.expect("it takes it");
        assert_eq!(all(stream).await, "");
    }
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_done_handshakes_keep_nobody_out() {
    let certificate = Certificate::new();
    let port = certificate.port(|config| config.connections = 8).await;
    let mut held = Vec::new();
    for _ in 0..8 {
        let mut stream = port.connect().await;
        stream.write_all(HALF).await.expect("it takes it");
        held.push(stream);
    }
    sleep(Duration::from_millis(1200)).await;
    for _ in 0..3 {
        let text = all(certificate.send(&port, HEALTH).await).await;
        assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    }
    drop(held);
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_are_told_so_over_tls() {
    let certificate = Certificate::new();
    let port = certificate.port(|config| config.connections = 2).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = certificate.send(&port, &HEALTH.replace("Connection: close\r\n", "")).await;
        let mut head = [0; 15];
        stream.read_exact(&mut head).await.expect("an answer");
        held.push(stream);
    }
    let text = all(certificate.send(&port, HEALTH).await).await;
    assert!(text.starts_with("HTTP/1.1 503") && text.contains("too many connections"), "{text}");
    drop(held);
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_arrives_though_the_body_still_comes() {
    let certificate = Certificate::new();
    let port = certificate.port(|config| config.max_body = 1 << 20).await;
    let head = posting("").replace("Content-Length: 0", &format!("Content-Length: {}", 20 << 20));
    let (mut read, mut write) = tokio::io::split(certificate.send(&port, &head).await);
    let sending = tokio::spawn(async move {
        for _ in 0..20 {
            if write.write_all(&vec![b' '; 1 << 20]).await.is_err() {
                return;
            }
        }
    });
    let mut text = Vec::new();
    let _ = timeout(LONG, read.read_to_end(&mut text)).await.expect("an answer");
    let text = String::from_utf8_lossy(&text);
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
    sending.abort();
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_is_sent_away() {
    let certificate = Certificate::new();
    let port = certificate.port(|config| config.write_time = Duration::from_millis(500)).await;
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("a small buffer");
    let mut deaf = certificate.secure(socket.connect(port.address).await.expect("a connection")).await;
    let deaf = deaf.as_mut().expect("a handshake");
    deaf.write_all(b"GET /api/events HTTP/1.0\r\nHost: localhost\r\n\r\n").await.expect("it takes it");
    let mut head = [0; 12];
    deaf.read_exact(&mut head).await.expect("an answer");
    assert_eq!(&head[9..], b"200");
    // More than all buffers on the way can hold.
    for i in 0..20 {
        submit(&port.service, i * 2000, 2000).await;
    }
    let request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
    let begin = Instant::now();
    while !all(certificate.send(&port, request).await).await.contains("\nlion_listeners 0\n") {
        assert!(begin.elapsed() < LONG, "the deaf one is still there");
        sleep(Duration::from_millis(50)).await;
    }
    port.close().await;
}

#[test]
fn files_that_are_no_certificate_are_refused_in_a_sentence() {
    let (certificate, other) = (Certificate::new(), Certificate::new());
    let refused = |cert: PathBuf, key: PathBuf| Tls::read(&cert, &key).expect_err("it is refused");
    let (cert, key) = (certificate.file("cert.pem"), certificate.file("key.pem"));
    let said = refused(certificate.file("none.pem"), key.clone());
    assert!(said.contains("none.pem: No such file"), "{said}");
    let said = refused(key.clone(), key.clone());
    assert!(said.contains("key.pem: it holds no certificate; a PEM file has"), "{said}");
    let said = refused(cert.clone(), cert.clone());
    assert!(said.contains("cert.pem: it holds no private key without a password"), "{said}");
    let said = refused(cert.clone(), other.file("key.pem"));
    assert!(
        said.contains("this is not the key of the certificate in") && said.contains("cert.pem"),
        "{said}"
    );
    // A certificate that is cut off, and one that is none.
    let whole = std::fs::read_to_string(&cert).expect("a file");
    std::fs::write(certificate.file("cut.pem"), &whole[..whole.len() / 2]).expect("a file");
    let said = refused(certificate.file("cut.pem"), key.clone());
    assert!(said.contains("cut.pem: it is no whole PEM file"), "{said}");
    let none = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    std::fs::write(certificate.file("wrong.pem"), none).expect("a file");
    let said = refused(certificate.file("wrong.pem"), key);
    assert!(said.contains("wrong.pem: what it holds is no certificate"), "{said}");
    assert!(!said.contains('\n'), "{said}");
}
