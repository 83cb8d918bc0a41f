//! Long work in stages: each is kept in the report's folder once it is finished, so that a run that was stopped goes on
//! where it was.

use super::EvaluationObserver;
use super::error::{EvaluationError, Result};
use super::write::{make_folder, replace};
use lion_tsne::Progress;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Raised whenever what a stage keeps changes its meaning, so that no result of an older program is taken for this one's.
const FORMAT: u32 = 3;

/// The stages of one evaluation.
pub(crate) struct Stages<'a> {
    folder: PathBuf,
    /// What results depend on beside the stage itself: those kept under another key are not used.
    key: String,
    observer: &'a dyn EvaluationObserver,
    /// Rough seconds of all stages, and of those behind us.
    expected: f64,
    behind: f64,
    /// What those behind us took in this run, of the expected.
    taken: f64,
    of_taken: f64,
    /// What all stages took, in whichever run.
    pub(crate) seconds: f64,
    /// How many were taken from an earlier run.
    pub(crate) kept: usize,
}

#[derive(Serialize, Deserialize)]
struct StoredStage<T> {
    key: String,
    seconds: f64,
    value: T,
}

impl<'a> Stages<'a> {
    /// Stages kept in a folder; `expected` is about how many seconds all of them take.
    pub(crate) fn new(
        folder: &Path,
        key: &str,
        expected: f64,
        observer: &'a dyn EvaluationObserver,
    ) -> Result<Self> {
        let folder = folder.join("stages");
        make_folder(&folder)?;
        let key = format!("{} {FORMAT} {key}", env!("CARGO_PKG_VERSION"));
        Ok(Self {
            folder,
            key,
            observer,
            expected,
            behind: 0.0,
            taken: 0.0,
            of_taken: 0.0,
            seconds: 0.0,
            kept: 0,
        })
    }

    /// The result of a stage: kept from an earlier run, or worked out now and kept. `expected` is about how many seconds
    /// it takes. The work is given an observer that shows how far it is.
    pub(crate) fn stage<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        expected: f64,
        work: impl FnOnce(&mut (dyn FnMut(&Progress<'_>) -> ControlFlow<()> + Send)) -> Result<T>,
    ) -> Result<T> {
        self.stage_of(name, "", expected, work)
    }

    /// The same for a stage whose result depends on more than its name says.
    pub(crate) fn stage_of<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        depends_on: &str,
        expected: f64,
        work: impl FnOnce(&mut (dyn FnMut(&Progress<'_>) -> ControlFlow<()> + Send)) -> Result<T>,
    ) -> Result<T> {
        let file = self.folder.join(format!("{}.json", slug(name)));
        let key = format!("{} {depends_on}", self.key);
        if let Some(kept) = self.read::<T>(&file, &key) {
            self.kept += 1;
            self.seconds += kept.seconds;
            self.behind += expected;
            return Ok(kept.value);
        }
        let begun = Instant::now();
        let observer = self.observer;
        observer.begin(name, self.remaining());
        let mut listen = |progress: &Progress<'_>| {
            if progress.total > 1 {
                observer.step(progress.done, progress.total);
            }
            ControlFlow::Continue(())
        };
        let failed = |cause| EvaluationError::Stage { stage: name.to_owned(), cause: Box::new(cause) };
        let value = work(&mut listen).map_err(failed)?;
        let taken = begun.elapsed();
        let seconds = taken.as_secs_f64();
        self.seconds += seconds;
        self.behind += expected;
        self.taken += seconds;
        self.of_taken += expected;
        let kept = StoredStage { key, seconds, value };
        replace(&file, &serde_json::to_vec(&kept)?)?;
        // Said once it is safe.
        observer.end(name, taken);
        Ok(kept.value)
    }

    fn read<T: DeserializeOwned>(&self, file: &Path, key: &str) -> Option<StoredStage<T>> {
        // A file of an older program, of other options or damaged is as good as none.
        let kept: StoredStage<T> = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
        (kept.key == key).then_some(kept)
    }

    /// How long the rest will take, going by how the expected seconds compare with the real ones so far.
    fn remaining(&self) -> Duration {
        let pace = (self.taken + 10.0) / (self.of_taken + 10.0);
        Duration::from_secs_f64((self.expected - self.behind).max(0.0) * pace)
    }
}

/// A name made fit for a file.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            'a'..='z' | '0'..='9' | '.' => slug.push(c),
            'A'..='Z' => slug.push(c.to_ascii_lowercase()),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl EvaluationObserver for Nobody {
        fn say(&self, _: &str) {}
        fn begin(&self, _: &str, _: Duration) {}
        fn step(&self, _: u64, _: u64) {}
        fn end(&self, _: &str, _: Duration) {}
    }

    fn stages(folder: &Path, key: &str) -> Stages<'static> {
        Stages::new(folder, key, 10.0, &Nobody).unwrap()
    }

    fn fails<T>(why: &'static str) -> Result<T> {
        Err(EvaluationError::Missing(why))
    }

    #[test]
    fn finished_stages_are_not_done_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = stages(folder.path(), "a");
        assert_eq!(first.stage("one: 1", 1.0, |_| Ok(vec![0.1f32, 2.0])).unwrap(), [0.1, 2.0]);
        assert!(first.stage("two", 1.0, |_| fails::<u8>("no power")).is_err());

        let mut second = stages(folder.path(), "a");
        let again = second.stage("one: 1", 1.0, |_| fails::<Vec<f32>>("done again"));
        assert_eq!((again.unwrap(), second.kept), (vec![0.1, 2.0], 1));
        assert_eq!(second.stage("two", 1.0, |_| Ok(2)).unwrap(), 2);

        // What it depends on has changed.
        assert_eq!(second.stage_of("one: 1", "more", 1.0, |_| Ok(vec![5.0f32])).unwrap(), [5.0]);

        // Other options: nothing kept is used, and neither is a damaged file.
        let mut other = stages(folder.path(), "b");
        assert_eq!(other.stage("two", 1.0, |_| Ok(3)).unwrap(), 3);
        std::fs::write(folder.path().join("stages/two.json"), b"{\"key\":").unwrap();
        assert_eq!(stages(folder.path(), "b").stage("two", 1.0, |_| Ok(4)).unwrap(), 4);
    }

    #[test]
    fn names_become_files() {
        assert_eq!(slug("idw p=27.9 (on cluster)"), "idw-p-27.9-on-cluster");
    }
}
