//! At a real port: callers that are slow, many, or send too much, and the end of the service.

use crate::{app, config, service};
use lion_server::Hosts;
use lion_server::{HttpConfig, Listener, Service, Stop, serve};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Longer than anything here takes, even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// A service at a port of its own.
pub(crate) struct Port {
    pub(crate) address: SocketAddr,
    pub(crate) service: Service,
    pub(crate) stop: Stop,
    serving: JoinHandle<std::io::Result<()>>,
}

/// Serves until it is told to stop.
pub(crate) fn spawn(
    service: &Service,
    listener: impl Into<Listener> + Send + 'static,
    config: HttpConfig,
) -> JoinHandle<std::io::Result<()>> {
    let (app, end) = (app(service.clone(), config.clone()), config.stop.clone());
    tokio::spawn(async move { serve(listener, app, config, async move { end.stopped().await }).await })
}

impl Port {
    pub(crate) async fn open(service: Service, change: impl FnOnce(&mut HttpConfig)) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut config = HttpConfig { hosts: Hosts::new(address), ..config() };
        change(&mut config);
        let stop = config.stop.clone();
        let serving = spawn(&service, listener, config);
        Self { address, service, stop, serving }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("a connection")
    }

    /// A connection on which a request was sent.
    pub(crate) async fn send(&self, request: &str) -> TcpStream {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.expect("it takes the request");
        stream
    }

    /// Ends it; says how long that took.
    pub(crate) async fn close(self) -> Duration {
        let begin = Instant::now();
        self.stop.stop();
        timeout(LONG, self.serving)
            .await
            .expect("it ends")
            .expect("it does not panic")
            .expect("it ends well");
        begin.elapsed()
    }
}

/// All that comes until the other side closes.
pub(crate) async fn all(mut stream: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    // A connection that is reset has ended, too.
    let _ = timeout(LONG, stream.read_to_end(&mut bytes)).await.expect("it ends");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A request whose answer ends the connection.
pub(crate) fn posting(body: &str) -> String {
    let length = body.len();
    format!(
        "POST /api/points HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_follow_each_other_on_a_connection() {
    let port = Port::open(service(), |_| ()).await;
    let request = posting(r#"{"id":"a","x":[1,2]}"#);
    let kept = request.replace("Connection: close\r\n", "");
    let text = all(port.send(&format!("{kept}{kept}{request}")).await).await;
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3, "{text}");
    assert!(text.contains("\"event\":3"), "{text}");
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_trickles_is_sent_away() {
    let port = Port::open(service(), |config| {
        config.header_time = Duration::from_millis(300);
        config.request_time = Duration::from_millis(300);
    })
    .await;
    // The head, a letter at a time.
    let begin = Instant::now();
    let (mut read, mut write) = port.connect().await.into_split();
    let trickle = tokio::spawn(async move {
        for letter in "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ".chars().chain(std::iter::repeat('x'))
        {
            if write.write_all(&[letter as u8]).await.is_err() {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    });
    let mut bytes = Vec::new();
    let _ = timeout(LONG, read.read_to_end(&mut bytes)).await.expect("it is closed");
    trickle.abort();
    assert!(!String::from_utf8_lossy(&bytes).contains("200 OK"));
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    // Nothing at all.
    assert_eq!(all(port.connect().await).await, "");
    // A body that does not come.
    let request = posting(&" ".repeat(100));
    let text = all(port.send(&request[..request.len() - 50]).await).await;
    assert!(text.starts_with("HTTP/1.1 408") && text.contains("\"too-slow\""), "{text}");
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_connections_are_told_so_at_once() {
    let port = Port::open(service(), |config| config.connections = 20).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut stream = port.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        let mut head = [0; 15];
        stream.read_exact(&mut head).await.expect("an answer");
        assert_eq!(&head, b"HTTP/1.1 200 OK");
        held.push(stream);
    }
    let begin = Instant::now();
    let calls = (0..400).map(|_| {
        let address = port.address;
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("a connection");
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
            all(stream).await
        })
    });
    let (mut told, mut closed) = (0, 0);
    for call in calls.collect::<Vec<_>>() {
        match call.await.expect("an answer").as_str() {
            "" => closed += 1,
            text => {
                assert!(text.starts_with("HTTP/1.1 503") && text.contains("too many connections"), "{text}");
                told += 1;
            }
        }
    }
    assert!(begin.elapsed() < LONG, "{:?}", begin.elapsed());
    assert!(told >= 100, "{told} were told, {closed} closed");
    // Those who were there first go on, and when they leave there is room.
    held[7].write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("it is open");
    drop(held);
    let mut answered = false;
    for _ in 0..200 {
        let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        answered = all(port.send(request).await).await.contains("200 OK");
        if answered {
            break;
        }
        sleep(Duration::from_millis(20)).await;
    }
    assert!(answered);
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_100_megabytes_is_refused() {
    let port = Port::open(service(), |_| ()).await;
    let head = "POST /api/points HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let part = vec![b' '; 1 << 20];
    // With its length said beforehand, and without.
    for chunked in [false, true] {
        let length = if chunked {
            "Transfer-Encoding: chunked".to_owned()
        } else {
            format!("Content-Length: {}", 100 << 20)
        };
        let stream = port.send(&format!("{head}{length}\r\n\r\n")).await;
        let (mut read, mut write) = stream.into_split();
        let part = part.clone();
        let sending = tokio::spawn(async move {
            for _ in 0..100 {
                let frame = if chunked { [b"100000\r\n", &part[..], b"\r\n"].concat() } else { part.clone() };
                if write.write_all(&frame).await.is_err() {
                    return;
                }
            }
        });
        let mut text = Vec::new();
        let _ = timeout(LONG, read.read_to_end(&mut text)).await.expect("an answer");
        let text = String::from_utf8_lossy(&text);
        assert!(text.starts_with("HTTP/1.1 413") && text.contains("67108864 bytes"), "{chunked}: {text}");
        sending.abort();
    }
    assert!(all(port.send(&posting(r#"{"id":"a","x":[1,2]}"#)).await).await.contains("200 OK"));
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_bodies_than_there_is_room_for() {
    // The room is 16 megabytes: five callers who hold back the end of 4 megabytes each are too many.
    let port = Port::open(service(), |config| config.max_body = 4 << 20).await;
    let head = posting("").replace("Content-Length: 0", &format!("Content-Length: {}", 4 << 20));
    let part = vec![b' '; (4 << 20) - 1];
    let mut waiting = Vec::new();
    for _ in 0..5 {
        let mut stream = port.send(&head).await;
        let _ = stream.write_all(&part).await;
        waiting.push(stream);
    }
    // Whichever asks for room when there is none left is refused: not always the last.
    let mut text = [0; 12];
    let refused = async {
        loop {
            for stream in &waiting {
                let there = timeout(Duration::from_millis(20), stream.peek(&mut text)).await;
                if there.is_ok_and(|bytes| bytes.is_ok_and(|bytes| bytes == 12)) {
                    return;
                }
            }
        }
    };
    timeout(LONG, refused).await.expect("an answer");
    assert_eq!(&text, b"HTTP/1.1 429");
    drop(waiting);
    let begin = Instant::now();
    while !all(port.send(&posting(r#"{"id":"a","x":[1,2]}"#)).await).await.contains("200 OK") {
        assert!(begin.elapsed() < LONG);
    }
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_waits_for_requests_but_not_for_listeners() {
    let port = Port::open(service(), |_| ()).await;
    let listener = port.send("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let idle = port.connect().await;
    let request = posting(r#"{"id":"late","x":[1,2]}"#);
    let (begun, rest) = request.split_at(request.len() - 5);
    let mut under_way = port.send(begun).await;
    sleep(Duration::from_millis(200)).await;
    let (stop, address, service) = (port.stop.clone(), port.address, port.service.clone());
    let closing = tokio::spawn(port.close());
    stop.stopped().await;
    // The listener's stream ends as it should: with a last chunk.
    let text = all(listener).await;
    assert!(text.contains("text/event-stream") && text.ends_with("0\r\n\r\n"), "{text}");
    assert!(!closing.is_finished());
    under_way.write_all(rest.as_bytes()).await.expect("it is still open");
    let text = all(under_way).await;
    assert!(text.starts_with("HTTP/1.1 200 OK") && text.contains("\"late\""), "{text}");
    drop(idle);
    let took = closing.await.expect("it ends");
    assert!(took < Duration::from_secs(8), "{took:?}");
    assert!(TcpStream::connect(address).await.is_err());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_does_not_wait_for_ever() {
    let port = Port::open(service(), |config| config.grace = Duration::from_millis(300)).await;
    let request = posting(&" ".repeat(100));
    let _under_way = port.send(&request[..request.len() - 50]).await;
    sleep(Duration::from_millis(100)).await;
    let took = port.close().await;
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn other_machines_need_a_token() {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a port");
    let refused = serve(listener, app(service(), config()), config(), std::future::pending()).await;
    assert!(refused.expect_err("it has no token").to_string().contains("--token-file"));
}

#[tokio::test(flavor = "multi_thread")]
async fn half_sent_bodies_keep_nobody_out() {
    let port = Port::open(service(), |config| config.connections = 8).await;
    // One from before, that listens.
    let mut listener = port.send("GET /api/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    let mut heard = [0; 15];
    timeout(LONG, listener.read_exact(&mut heard)).await.expect("in time").expect("a status");
    assert_eq!(&heard, b"HTTP/1.1 200 OK");
    let half = posting(r#"{"id":"a","x":[1,2]}"#).replace("[1,2]}", "");
    let mut held = Vec::new();
    for _ in 0..7 {
        held.push(port.send(&half).await);
    }
    sleep(Duration::from_millis(1200)).await;
    for n in 0..3 {
        let text = all(port.send(&posting(&format!(r#"{{"id":"{n}","x":[1,2]}}"#))).await).await;
        assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
    }
    // Who listens was not sent away.
    let mut text = Vec::new();
    while !String::from_utf8_lossy(&text).contains("\"id\":\"2\"") {
        let mut some = [0; 4096];
        let count = timeout(LONG, listener.read(&mut some)).await.expect("in time").expect("it goes on");
        assert!(count > 0, "the listener was sent away");
        text.extend_from_slice(&some[..count]);
    }
    drop((held, listener));
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_may_not_pause_for_long() {
    let port = Port::open(service(), |config| config.body_time = Duration::from_millis(200)).await;
    let begin = Instant::now();
    let text = all(port.send(&posting(r#"{"id":"a","x":[1,2]}"#).replace("[1,2]}", "")).await).await;
    assert!(text.starts_with("HTTP/1.1 408 Request Timeout"), "{text}");
    assert!(begin.elapsed() < Duration::from_secs(30));
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_says_once_which_host_it_is_for() {
    let port = Port::open(service(), |_| ()).await;
    let request =
        "GET /api/map HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    let text = all(port.send(request).await).await;
    assert!(text.starts_with("HTTP/1.1 400 Bad Request"), "{text}");
    port.close().await;
}
