//! What the bench of the live map shares: the map, the service as a process of its own, and rows to send.

mod crash;
mod crowd;
mod history;
mod load;
mod soak;
mod updates;

pub use crash::kill;
pub use crowd::crowd;
pub use history::history;
pub use load::{ingest, listeners, memory, singles};
pub use soak::soak;
pub use updates::updates;

use anyhow::{Context, Result};
use lion_tsne::numerics::Random;
use lion_tsne::{Fit, Map, Matrix, PcaChoice, Rows, ignore};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Columns of the rows that are sent.
pub const COLUMNS: usize = 50;

/// A map of rows of 50 columns, and rows that are not in it.
pub struct Setting {
    /// The program.
    pub lion: PathBuf,
    /// The file of the map.
    pub map: PathBuf,
    /// A folder for stores.
    pub folder: PathBuf,
    /// Rows that are not in the map.
    pub rows: Matrix,
}

impl Setting {
    /// Of MNIST's images, reduced to 50 principal components: the first `count` to learn from are the map, those to
    /// test with are sent. The map is fitted once and kept in the folder.
    pub fn of_mnist(mnist: &Path, lion: &Path, folder: &Path, count: usize) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let whole = folder.join(format!("live-{count}x784.lion"));
        let map = folder.join(format!("live-{count}x{COLUMNS}.lion"));
        if !whole.exists() || !map.exists() {
            eprintln!("fitting a map of {count} rows …");
            let images = super::matrix(&mnist.join("train-images-idx3-ubyte.gz"))?;
            let wanted: Vec<u32> = (0..images.rows().min(count) as u32).collect();
            let images = images.select(&wanted);
            let fit = Fit { pca: PcaChoice::Components(COLUMNS), ..Fit::default() };
            let fitted = fit.run(Rows { data: images, ids: None, labels: None }, &mut ignore)?;
            // The same places for the rows as PCA has left them: such rows can be sent.
            let plain = Fit { pca: PcaChoice::None, ..Fit::default() };
            plain.adopt(fitted.x().clone(), fitted.y().clone(), &mut ignore)?.save(&map)?;
            fitted.save(&whole)?;
        }
        let preprocess = Map::load(&whole)?;
        let images = super::matrix(&mnist.join("t10k-images-idx3-ubyte.gz"))?;
        let rows = preprocess.preprocess().apply(&images)?;
        Ok(Self { lion: lion.into(), map, folder: folder.into(), rows })
    }

    /// A file for a store that is not there yet.
    pub fn new_store(&self, name: &str) -> Result<PathBuf> {
        for ending in ["", "-wal", "-shm"] {
            let file = self.folder.join(format!("{name}{ending}"));
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| file.display().to_string());
                }
                _ => {}
            }
        }
        Ok(self.folder.join(name))
    }

    /// The size of a store, with its log.
    fn store_bytes(&self, name: &str) -> Result<u64> {
        let size = |ending: &str| {
            std::fs::metadata(self.folder.join(format!("{name}{ending}"))).map_or(0, |file| file.len())
        };
        Ok(size("") + size("-wal"))
    }

    /// Row `number` of an endless table: one of the rows, moved a little.
    pub fn row(&self, number: u64) -> Vec<f32> {
        let mut random = Random::new(number);
        let row = self.rows.row((number % self.rows.rows() as u64) as usize);
        // Values of MNIST's components go to some thousands.
        row.iter().map(|v| v + 40.0 * (random.unit() - 0.5)).collect()
    }
}

/// A service in a process of its own.
pub struct ServerProcess {
    child: Child,
    /// Where it listens.
    pub port: u16,
    /// The latest event when it started.
    pub last: u64,
}

impl ServerProcess {
    /// Starts it with a store and these further arguments.
    pub fn start(setting: &Setting, map: &Path, store: &Path, args: &[&str]) -> Result<Self> {
        let mut command = Command::new(&setting.lion);
        command
            .arg("serve")
            .arg(map)
            .arg("--store")
            .arg(store)
            .args(["--port", "0", "--json", "-q"])
            .args(args);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it has no output")?).read_line(&mut line)?;
        let started: Value = serde_json::from_str(&line).context("the service did not start")?;
        let number = |name: &str| started[name].as_u64().with_context(|| format!("no {name} in {started}"));
        let (port, last) = (number("port")?, number("last")?);
        Ok(Self { child, port: u16::try_from(port)?, last })
    }

    /// Bytes of memory that it holds.
    pub fn memory(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(1024 * line.trim().trim_end_matches("kB").trim().parse::<u64>()?)
    }

    /// How many entries a folder of it in /proc has: "fd" has its file handles, "task" its threads.
    fn entries(&self, folder: &str) -> Result<usize> {
        Ok(std::fs::read_dir(format!("/proc/{}/{folder}", self.child.id()))?.count())
    }

    /// Ends it as a crash would.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// A number with its thousands apart.
pub fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let bytes = digits.as_bytes();
    let parts = bytes.rchunks(3).rev().map(|part| String::from_utf8_lossy(part).into_owned());
    parts.collect::<Vec<_>>().join(" ")
}
