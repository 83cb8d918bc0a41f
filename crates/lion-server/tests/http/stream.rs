//! Server-sent events: none is missed, none comes twice, and a slow listener holds up nobody.

use crate::port::{LONG, Port};
use crate::{call, config, get, grid, plain, post, request, service};
use axum::body::Body;
use lion_server::{HttpConfig, Retain, Service, Settings, Work};
use lion_tsne::live::{Arrival, Change};
use lion_tsne::{Lion, LionOptions};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// Some points that move about.
pub(crate) async fn submit(service: &Service, from: usize, count: usize) {
    let change = |i: usize| {
        let row = vec![(i % 9) as f32 + 0.3, (i % 7) as f32 + 0.6];
        Change::Upsert(Arrival { id: format!("point-{}", i % 50), row, label: None, t: Some(0.0) })
    };
    service.submit(Work::Changes((from..from + count).map(change).collect())).await.expect("they are placed");
}

/// One who listens, by the bytes that come.
struct Ear {
    stream: TcpStream,
    text: String,
}

impl Ear {
    async fn open(port: &Port, query: &str, header: &str) -> Self {
        // Of this old version, so that the body comes as it is.
        let request = format!("GET /api/events{query} HTTP/1.0\r\nHost: localhost\r\n{header}\r\n");
        Self { stream: port.send(&request).await, text: String::new() }
    }

    /// The numbers of the next events, and whether there may be more.
    async fn hear(&mut self) -> (Vec<u64>, bool) {
        let mut bytes = vec![0; 64 << 10];
        let read = timeout(LONG, self.stream.read(&mut bytes)).await.expect("it speaks").unwrap_or(0);
        self.text.push_str(std::str::from_utf8(&bytes[..read]).expect("plain text"));
        let whole = self.text.rfind("\n\n").map_or(0, |at| at + 2);
        let rest = self.text.split_off(whole);
        let text = std::mem::replace(&mut self.text, rest);
        let events = text.split("\n\n").filter_map(|event| {
            let (number, data) =
                event.rsplit("\r\n\r\n").next()?.strip_prefix("id: ")?.split_once("\ndata: ")?;
            let number: u64 = number.parse().expect("a number");
            assert!(data.starts_with(&format!("{{\"n\":{number},")), "{data}");
            Some(number)
        });
        (events.collect(), read > 0)
    }

    /// All numbers up to `last`.
    async fn hear_until(&mut self, last: u64) -> Vec<u64> {
        let (begin, mut heard) = (Instant::now(), Vec::new());
        while heard.last().is_none_or(|&number| number < last) && begin.elapsed() < LONG {
            let (numbers, more) = self.hear().await;
            heard.extend(numbers);
            assert!(more || heard.last() == Some(&last), "it ended after {:?}", heard.last());
        }
        heard
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reconnects_misses_nothing() {
    // So little is kept in memory that most has to come from the store.
    let lion = Lion::new(grid(), &LionOptions::default()).unwrap();
    let service = Service::start(Arc::new(lion), &Settings { ring: 20_000, ..Settings::default() }).unwrap();
    let port = Port::open(service, |_| ()).await;
    let writer = tokio::spawn({
        let service = port.service.clone();
        async move {
            for i in 0..400 {
                submit(&service, i * 5, 5).await;
            }
        }
    });
    let (begin, mut heard, mut connections) = (Instant::now(), Vec::new(), 0);
    while heard.last() != Some(&2000) && begin.elapsed() < LONG {
        let last = heard.last().copied().unwrap_or(0);
        // The number in the address is the one a browser began with.
        let mut ear = Ear::open(&port, "?after=0", &format!("Last-Event-ID: {last}\r\n")).await;
        connections += 1;
        for _ in 0..3 {
            heard.extend(ear.hear().await.0);
        }
    }
    writer.await.unwrap();
    assert_eq!(heard, (1..=2000).collect::<Vec<_>>());
    assert!(connections > 1);
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_hear_everything() {
    let port = Port::open(service(), |_| ()).await;
    let mut ears = Vec::new();
    for _ in 0..200 {
        ears.push(Ear::open(&port, "?after=0", "").await);
    }
    let hearing: Vec<_> =
        ears.into_iter().map(|mut ear| tokio::spawn(async move { ear.hear_until(300).await })).collect();
    for i in 0..100 {
        submit(&port.service, i * 3, 3).await;
    }
    for heard in hearing {
        assert_eq!(heard.await.unwrap(), (1..=300).collect::<Vec<_>>());
    }
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_holds_up_nobody_and_is_sent_away() {
    let port = Port::open(service(), |config| config.write_time = Duration::from_millis(500)).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut deaf = socket.connect(port.address).await.unwrap();
    deaf.write_all(b"GET /api/events HTTP/1.0\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut head = [0; 12];
    deaf.read_exact(&mut head).await.unwrap();
    assert_eq!(&head[9..], b"200");
    // More than all buffers on the way can hold.
    let mut ear = Ear::open(&port, "?after=0", "").await;
    let hearing = tokio::spawn(async move { ear.hear_until(40_000).await.len() });
    for i in 0..20 {
        submit(&port.service, i * 2000, 2000).await;
    }
    assert_eq!(hearing.await.unwrap(), 40_000);
    let listeners = async || {
        let request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
        let text = crate::port::all(port.send(request).await).await;
        text.lines().find_map(|line| line.strip_prefix("lion_listeners ")?.parse::<u32>().ok()).unwrap()
    };
    let begin = Instant::now();
    while listeners().await > 0 {
        assert!(begin.elapsed() < LONG, "the deaf one is still there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(deaf);
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listening_begins_at_the_end_unless_said_otherwise() {
    let port = Port::open(service(), |_| ()).await;
    submit(&port.service, 0, 10).await;
    let mut ear = Ear::open(&port, "", "").await;
    // What comes first is how to reconnect and how the map is doing.
    let mut begun = String::new();
    while !begun.contains("event: health") {
        assert!(ear.hear().await.0.is_empty());
        begun.push_str(&ear.text);
        let mut bytes = [0; 1 << 14];
        let read = timeout(LONG, ear.stream.read(&mut bytes)).await.unwrap().unwrap();
        begun.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    submit(&port.service, 10, 2).await;
    assert_eq!(ear.hear_until(12).await, [11, 12]);
    let mut later = Ear::open(&port, "?after=7", "").await;
    assert_eq!(later.hear_until(12).await, [8, 9, 10, 11, 12]);
    port.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_longer_kept_is_gone() {
    let lion = Lion::new(grid(), &LionOptions::default()).unwrap();
    let settings = Settings { retain: Some(Retain::Events(10)), ring: 1000, ..Settings::default() };
    let service = Service::start(Arc::new(lion), &settings).unwrap();
    let app = lion_server::app(service.clone(), config());
    for i in 0..100 {
        submit(&service, i * 100, 100).await;
    }
    assert!(service.first() > 1, "{}", service.first());
    for address in ["/api/events?after=0", "/api/history?after=0"] {
        let (status, word, detail) = get(&app, address).await.refusal();
        assert_eq!((status, word.as_str()), (410, "gone"), "{detail}");
        assert!(detail.contains("no longer kept"), "{detail}");
    }
    let (status, _, detail) = get(&app, "/api/events?after=10001").await.refusal();
    assert!(status == 410 && detail.contains("the last has number 10000"), "{detail}");
    assert_eq!(get(&app, "/api/events?after=-1").await.refusal().0, 400);
    let mut odd = request("GET", "/api/events", "", Body::empty());
    odd.headers_mut().insert("last-event-id", "x".parse().unwrap());
    assert_eq!(call(&app, odd).await.refusal().0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn half_of_the_connections_may_listen() {
    let (service, _) = plain();
    let app = lion_server::app(service, HttpConfig { connections: 4, ..config() });
    let listen = || tower::ServiceExt::oneshot(app.clone(), request("GET", "/api/events", "", Body::empty()));
    let held = [listen().await.unwrap(), listen().await.unwrap()];
    assert_eq!(get(&app, "/api/events").await.refusal().0, 429);
    let metrics = get(&app, "/metrics").await.body;
    assert!(std::str::from_utf8(&metrics).unwrap().contains("\nlion_listeners 2\n"));
    drop(held);
    assert_eq!(listen().await.unwrap().status(), 200);
    assert_eq!(post(&app, r#"{"id":"a","x":[1,2]}"#).await.status, 200);
}
