//! The copy of the sources in which mutants are made.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::shell;

/// Makes the copy what the sources are now. A file that is the same already keeps its time, so that cargo compiles nothing anew
/// for it.
pub(super) fn renew(tree: &Path) -> Result<()> {
    let mut files = HashSet::new();
    for file in sources()? {
        let (from, to) = (shell::root().join(&file), tree.join(&file));
        // A file that was deleted and not committed yet is still listed.
        let Ok(bytes) = fs::read(&from) else { continue };
        if fs::read(&to).ok().as_deref() != Some(&bytes) {
            fs::create_dir_all(to.parent().unwrap_or(tree))
                .and_then(|()| fs::write(&to, bytes))
                .with_context(|| format!("cannot write {}", to.display()))?;
        }
        files.insert(to);
    }
    remove_others(tree, &files)
}

/// What git has, and what it would take.
fn sources() -> Result<Vec<PathBuf>> {
    let list = shell::output(&mut shell::program("git", "ls-files -z --cached --others --exclude-standard"))?;
    Ok(list.split_terminator('\0').map(PathBuf::from).collect())
}

fn remove_others(folder: &Path, files: &HashSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, files)?;
        } else if !files.contains(&path) {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}
