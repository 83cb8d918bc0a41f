//! Running other programs, and where things are.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf()
}

/// Cargo's target folder: this program was built into `<target>/release/xtask`.
pub(crate) fn target() -> Result<PathBuf> {
    let me = std::env::current_exe().context("cannot find this program's own file")?;
    let folder = me.parent().and_then(Path::parent).context("xtask must run through `cargo xtask`")?;
    Ok(folder.to_path_buf())
}

/// A program built in release, such as `lion` or `examples/pages`.
pub(crate) fn built(name: &str) -> Result<PathBuf> {
    Ok(target()?.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

/// A folder `<target>/xtask/<name>`, emptied: scratch that can still be looked at after a failure.
pub(crate) fn scratch(name: &str) -> Result<PathBuf> {
    let folder = target()?.join("xtask").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// The cargo that runs us, in the root of the repository, with the words of `args`.
pub(crate) fn cargo(args: &str) -> Command {
    program(PathBuf::from(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())), args)
}

/// A program by name, in the root of the repository, with the words of `args`.
pub(crate) fn program(name: impl AsRef<Path>, args: &str) -> Command {
    let mut command = Command::new(name.as_ref());
    command.args(args.split_whitespace()).current_dir(root());
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_own_package(name)) {
        command.env_remove(name);
    }
    command
}

/// Whether cargo set this variable to tell us of our own package. Build scripts look at the same names: ring, and all that is built
/// upon it, would be compiled anew after each build that does not come from here.
fn is_of_own_package(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// Runs a command to its end, its output going where ours goes; an error unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let words = in_words(command);
    let status = command.status().with_context(|| format!("cannot start `{words}`"))?;
    if !status.success() {
        bail!("`{words}` ended with {status}");
    }
    Ok(())
}

/// Runs a command and returns what it printed on stdout; an error unless it succeeds.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let words = in_words(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{words}`"))?;
    if !output.status.success() {
        bail!("`{words}` ended with {}", output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command to its end; what it prints is shown only if it fails.
pub(crate) fn quietly(command: &mut Command) -> Result<()> {
    let words = in_words(command);
    let output = command.output().with_context(|| format!("cannot start `{words}`"))?;
    if !output.status.success() {
        print!("{}", String::from_utf8_lossy(&output.stdout));
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        bail!("`{words}` ended with {}", output.status);
    }
    Ok(())
}

/// Whether a command can be started and succeeds; what it prints is of no interest.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// The first of `names` that is a file in one of PATH's folders.
pub(crate) fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let spelt = |name: &&str| format!("{name}{}", std::env::consts::EXE_SUFFIX);
    names.iter().find_map(|name| folders.iter().map(|f| f.join(spelt(name))).find(|file| file.is_file()))
}

fn in_words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|w| w.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cargo sets these for tests, too.
    #[test]
    fn commands_are_not_told_of_this_package() {
        assert!(
            std::env::var_os("CARGO_PKG_NAME").is_some() && std::env::var_os("CARGO_MANIFEST_DIR").is_some()
        );
        for command in [cargo("build"), program("npm", "ci")] {
            let without: Vec<_> =
                command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
            for name in ["CARGO_PKG_NAME", "CARGO_PKG_VERSION_MAJOR", "CARGO_MANIFEST_DIR"] {
                assert!(without.contains(&OsStr::new(name)), "{name}");
            }
        }
    }
}
