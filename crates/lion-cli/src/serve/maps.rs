//! Which maps to serve, and where each keeps its points.

use crate::args::ServeArgs;
use anyhow::{Context, Error, Result, bail};
use lion_server::{check_map_names, is_version_file};
use std::path::{Path, PathBuf};

/// The maps to serve.
pub(super) struct MapFiles {
    pub(super) named: Vec<(String, PathBuf)>,
    /// Whether each has addresses of its own.
    pub(super) several: bool,
}

pub(super) fn maps(args: &ServeArgs) -> Result<MapFiles> {
    let Some(map) = &args.map else { return several(args.maps.clone()) };
    if !map.is_dir() {
        return Ok(MapFiles { named: vec![(name(map), map.clone())], several: false });
    }
    let shown = map.display();
    let entries = std::fs::read_dir(map).with_context(|| shown.to_string())?;
    let files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
    let is_map = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "lion") && file.is_file();
    // Stores may lie in the same folder, with the versions that they keep.
    let is_map = |file: &PathBuf| is_map(file) && !is_version_file(file);
    let mut named: Vec<_> = files.into_iter().filter(is_map).map(|file| (name(&file), file)).collect();
    named.sort();
    if named.is_empty() {
        bail!("{shown} is a folder without maps: name one with files that end in .lion");
    }
    several(named)
}

fn several(named: Vec<(String, PathBuf)>) -> Result<MapFiles> {
    check_map_names(named.iter().map(|(name, _)| name.as_str())).map_err(Error::msg)?;
    Ok(MapFiles { named, several: true })
}

impl MapFiles {
    /// The store of a map.
    pub(super) fn store(&self, given: Option<&Path>, name: &str) -> Result<Option<PathBuf>> {
        let Some(given) = given.filter(|_| self.several) else { return Ok(given.map(Path::to_owned)) };
        if given.is_file() {
            bail!(
                "{} is a file: with several maps --store takes a folder, for a file for each",
                given.display()
            );
        }
        std::fs::create_dir_all(given).with_context(|| format!("{} cannot be made", given.display()))?;
        Ok(Some(given.join(format!("{name}.db"))))
    }
}

/// What a map is called: its file without the ending.
fn name(map: &Path) -> String {
    map.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
