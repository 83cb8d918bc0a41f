//! A store whose bytes were altered is read, goes on, or is refused: never a panic.
//!
//! Parser: lion-server/src/store.rs, lion-server/src/store/reader.rs, lion-server/src/store/rows.rs, lion-server/src/store/schema.rs, lion-server/src/store/versions.rs, lion-server/src/export.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_fuzz::maps::{OFTEN, SQUARES, gathering};
use lion_server::{Service, Settings, StoreError, StoredEvents, Stretch, Titled, Work};
use lion_tsne::live::{Arrival, Change};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// A store as it lies on the disk.
struct Files {
    store: Vec<u8>,
    log: Vec<u8>,
}

struct Bench {
    runtime: Runtime,
    folder: TempDir,
    /// After the service ended, and while it runs.
    bases: [Files; 2],
}

static BENCH: LazyLock<Bench> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() }.expect("a folder");
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let path = folder.path().join("base.db");
    let service = Service::start(Arc::clone(&SQUARES), &settings(&path)).expect("a service");
    let running = runtime.block_on(async {
        // A few commits: every one of them makes the log longer, which is written anew for each input.
        let arrivals: Vec<Change> = gathering().1.into_iter().map(|(id, row)| arrival(id, row)).collect();
        for some in arrivals.chunks(8) {
            service.submit(Work::Changes(some.to_vec())).await.expect("rows of the map");
        }
        let title = Some("the left".to_owned());
        service.rename(Titled::Cluster("left".into()), title, None).await.expect("it is there");
        let running = files(&path);
        service.stop().await;
        running
    });
    Bench { runtime, bases: [files(&path), running], folder }
});

fn settings(path: &Path) -> Settings {
    Settings { store: Some(path.into()), live: OFTEN, ..Settings::default() }
}

fn arrival(id: String, row: Vec<f32>) -> Change {
    Change::Upsert(Arrival { id, row, label: Some("a".into()), t: None })
}

fn log_of(path: &Path) -> PathBuf {
    path.with_extension("db-wal")
}

fn files(path: &Path) -> Files {
    Files { store: fs::read(path).expect("a store"), log: fs::read(log_of(path)).unwrap_or_default() }
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the store, and which of its files is altered.
    let Some((&choice, edits)) = bytes.split_first() else { return };
    let Bench { runtime, folder, bases } = &*BENCH;
    let base = &bases[usize::from(choice & 1)];
    let (mut store, mut log) = (base.store.clone(), base.log.clone());
    alter(if choice & 2 != 0 && !log.is_empty() { &mut log } else { &mut store }, edits);
    let path = folder.path().join("altered.db");
    fs::write(&path, store).expect("room");
    if !log.is_empty() {
        fs::write(log_of(&path), log).expect("room");
    }
    let _ = read(&path);
    runtime.block_on(go_on(&path));
    for ending in ["db", "db-wal", "db-shm", "db-lock"] {
        // Some are not there.
        let _ = fs::remove_file(path.with_extension(ending));
    }
});

/// Edits of three bytes for where and one for how many, and then the bytes that are written there. None cuts the file off there.
fn alter(file: &mut Vec<u8>, mut edits: &[u8]) {
    while let Some((&[a, b, c, count], rest)) = edits.split_first_chunk::<4>() {
        if file.is_empty() {
            return;
        }
        let at = u32::from_le_bytes([a, b, c, 0]) as usize % file.len();
        let (new, rest) = rest.split_at(usize::from(count).min(rest.len()));
        edits = rest;
        if count == 0 {
            file.truncate(at);
        }
        let room = file.len() - at;
        file[at..at + new.len().min(room)].copy_from_slice(&new[..new.len().min(room)]);
    }
}

/// Reads all that can be read of a store while it is served.
fn read(path: &Path) -> Result<(), StoreError> {
    let store = StoredEvents::open(path)?;
    let _moment = store.moment()?;
    let _ = (store.versions(), store.current(), store.times(), store.has_labels());
    for event in store.events().take(200) {
        serde_json::from_str::<serde_json::Value>(&event?.json).expect("an event is JSON");
    }
    let _ = store.compare(Stretch { from: 0.0, to: 20.0 }, Stretch { from: 20.0, to: 1e12 });
    let live = store.live(Arc::clone(&SQUARES), OFTEN);
    store.each_point(|point, _row| -> Result<(), StoreError> {
        assert!(point.first <= point.last || live.is_err());
        Ok(())
    })
}

/// Serves the store, unless it is refused.
async fn go_on(path: &Path) {
    let Ok(service) = Service::start(Arc::clone(&SQUARES), &settings(path)) else { return };
    let _ = service.history(0, 200).await;
    let _ = service.point("p3").await;
    let _ = service.versions().await;
    let _ = service.submit(Work::Changes(vec![arrival("new".into(), vec![61.0, -30.0])])).await;
    let _ = service.submit(Work::Changes(vec![Change::Delete { id: "p3".into(), t: None }])).await;
    service.stop().await;
}
