//! Alerts: told once, tried again, and a webhook that hangs holds up nobody.

use crate::port::LONG;
use crate::service;
use lion_server::{Rules, Service, Stop, Webhook, Work, watch};
use lion_tsne::live::{Arrival, Change};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

/// A webhook that answers with these statuses, then with 200 for ever; 0 is never. Gives what it was told.
async fn hook(statuses: Vec<u16>) -> (Webhook, UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/alert", listener.local_addr().expect("an address"));
    let (told, hears) = unbounded_channel();
    tokio::spawn(async move {
        let mut statuses = statuses.into_iter();
        let mut held = Vec::new();
        loop {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let mut bytes = Vec::new();
            let body = loop {
                let mut part = [0; 4096];
                let Ok(read @ 1..) = stream.read(&mut part).await else { break None };
                bytes.extend_from_slice(&part[..read]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                assert!(
                    head.starts_with("POST /alert HTTP/1.1") && head.contains("application/json"),
                    "{head}"
                );
                if let Ok(body) = serde_json::from_str::<Value>(body) {
                    break Some(body);
                }
            };
            let _ = body.map(|body| told.send(body));
            match statuses.next().unwrap_or(200) {
                0 => held.push(stream),
                status => {
                    let answer =
                        format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                    let _ = stream.write_all(answer.as_bytes()).await;
                }
            }
        }
    });
    let (webhook, page) = (Webhook::new(&url).expect("an address"), Some("http://map.example/".into()));
    (
        Webhook { time_out: Duration::from_millis(300), pause: Duration::from_millis(20), page, ..webhook },
        hears,
    )
}

/// Points at one place, the first of them with this number.
async fn submit(service: &Service, ids: std::ops::Range<usize>, row: [f32; 2]) -> Duration {
    let begin = Instant::now();
    let change = |i| Change::Upsert(Arrival { id: format!("p{i}"), row: row.to_vec(), label: None, t: None });
    service.submit(Work::Changes(ids.map(change).collect())).await.expect("they are placed");
    begin.elapsed()
}

async fn next(hears: &mut UnboundedReceiver<Value>) -> Value {
    timeout(LONG, hears.recv()).await.expect("it is told").expect("it is there")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_rule_is_told_once_and_tried_again() {
    let service = service();
    let (webhook, mut hears) = hook(vec![500, 0, 503]).await;
    let rules = Rules { outlier_rate: Some(0.1), ..Rules::default() };
    let stop = Stop::default();
    watch(service.clone(), "grid", rules, webhook, stop.clone()).expect("a thread");
    submit(&service, 0..60, [3.5, 4.5]).await;
    submit(&service, 60..90, [50.0, 50.0]).await;
    let first = next(&mut hears).await;
    assert_eq!(
        (&first["alert"], &first["limit"], &first["map"]),
        (&json!("outlier-rate"), &json!(0.1), &json!("grid"))
    );
    assert_eq!((&first["state"], &first["page"]), (&json!("firing"), &json!("http://map.example/")));
    assert!((first["value"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-9, "{first}");
    assert!(first["t"].is_number() && first["event"].is_number());
    // Refused, then not answered, then refused: the fourth time it was taken.
    for _ in 0..3 {
        assert_eq!(next(&mut hears).await, first);
    }
    assert!(service.stats().webhook_failures >= 3);
    // It is broken still, so that there is nothing new to tell.
    submit(&service, 90..95, [50.0, 50.0]).await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(hears.try_recv().is_err());
    stop.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_cluster_is_told_and_a_hanging_webhook_holds_up_nobody() {
    let service = service();
    let (webhook, mut hears) = hook(vec![0; 100]).await;
    let webhook = Webhook { time_out: Duration::from_secs(5), ..webhook };
    let rules = Rules { new_cluster: true, ..Rules::default() };
    let stop = Stop::default();
    watch(service.clone(), "grid", rules, webhook, stop.clone()).expect("a thread");
    submit(&service, 100..160, [3.5, 4.5]).await;
    submit(&service, 160..200, [50.0, 50.0]).await;
    let alert = next(&mut hears).await;
    assert_eq!((&alert["alert"], &alert["limit"]), (&json!("new-cluster"), &json!(null)));
    assert!(alert["group"].is_number() && alert["value"].as_f64().unwrap() >= 5.0, "{alert}");
    // The webhook has it and does not answer; the writer does.
    let mut slowest = Duration::ZERO;
    for i in 0..50 {
        slowest = slowest.max(submit(&service, 10 + i..11 + i, [80.0, 80.0]).await);
    }
    assert!(slowest < Duration::from_secs(4), "{slowest:?}");
    stop.stop();
    timeout(LONG, service.stop()).await.expect("it stops");
}

#[test]
fn a_webhook_is_an_address() {
    assert!(Webhook::new("ftp://x").unwrap_err().contains("http://"));
    assert!(Webhook::new("https://hooks.example/x").is_ok());
}
