//! How fast rows become durable: `ingest MAP.lion STORE.db [SECONDS]`.
//!
//! First batches of 1000 rows by two submitters, then single rows by 32, each for some seconds. Rows are the map's own
//! with a little noise, so the map must have been fitted without PCA or by PCA of as many columns as it has components.

use lion_server::{Service, Settings, Work};
use lion_tsne::live::{Arrival, Change};
use lion_tsne::{Lion, LionOptions, Map};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn scrambled(mut k: u64) -> u64 {
    k = (k ^ (k >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    k = (k ^ (k >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    k ^ (k >> 31)
}

/// A row of the map that is a little off.
fn change(map: &Map, k: u64) -> Change {
    let at = (scrambled(k) % map.x().rows() as u64) as usize;
    let noise = |column: u64| (scrambled(k ^ (column << 40)) % 1000) as f32 / 1000.0 - 0.5;
    let row =
        (0..).zip(map.x().row(at)).map(|(column, v)| v + 0.02 * v.abs().max(0.1) * noise(column)).collect();
    Change::Upsert(Arrival { id: format!("point-{}", k % 100_000), row, label: None, t: None })
}

/// Lets submitters send works of so many rows; tells how many rows a second, and how long an answer takes.
async fn measure(service: &Service, submitters: u64, rows: u64, seconds: f64) {
    let (began, mut tasks) = (Instant::now(), tokio::task::JoinSet::new());
    for submitter in 0..submitters {
        let (service, lion) = (service.clone(), service.lion());
        tasks.spawn(async move {
            let (mut took, mut k) = (Vec::new(), submitter << 32);
            while began.elapsed() < Duration::from_secs_f64(seconds) {
                let work = Work::Changes((k..k + rows).map(|k| change(lion.map(), k)).collect());
                k += rows;
                let sent = Instant::now();
                service.submit(work).await.expect("it is done");
                took.push(sent.elapsed().as_secs_f64() * 1e3);
            }
            took
        });
    }
    let mut took = tasks.join_all().await.concat();
    took.sort_by(f64::total_cmp);
    let per_second = took.len() as f64 * rows as f64 / began.elapsed().as_secs_f64();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    println!(
        "{submitters} submitters of {rows} rows: {per_second:.0} rows/s, answers {:.1} ms (median), {:.1} (99 %), {:.1} (most)",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [map, store, seconds @ ..] = arguments.as_slice() else {
        return Err("ingest MAP.lion STORE.db [SECONDS]".into());
    };
    let seconds = seconds.first().map_or(Ok(5.0), |seconds| seconds.parse())?;
    let lion = Arc::new(Lion::new(Map::load(map)?, &LionOptions::default())?);
    let settings = Settings { store: Some(store.into()), ..Settings::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let service = Service::start(lion, &settings)?;
    runtime.block_on(async {
        measure(&service, 2, 1000, seconds).await;
        measure(&service, 32, 1, seconds).await;
        let stats = service.stats();
        let commits: u64 = stats.commits.iter().sum();
        println!("{commits} commits, {:.1} ms each", 1e3 * stats.commit_seconds / commits as f64);
        service.stop().await;
    });
    Ok(())
}
