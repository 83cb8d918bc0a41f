//! What may be linked in: licences, sources and bans as deny.toml has them, and no version that its authors took back.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::tree::{self, Id};
use crate::{install, shell};

/// Licences, sources and bans.
pub(crate) fn check() -> Result<()> {
    let deny = install::cargo_tool("cargo-deny", "0.20.2")?;
    shell::run(&mut shell::program(deny, "--all-features check licenses bans sources"))
}

/// Whether a version in Cargo.lock was yanked since. Cargo itself asks the registry: it chooses no yanked version for a project
/// without a lock file, and this one allows no other than those of ours. A registry that does not answer fails nothing.
pub(crate) fn yanked() -> Result<()> {
    let pins: Vec<Id> = tree::locked()?.into_iter().map(|locked| locked.id).collect();
    ensure!(!pins.is_empty(), "Cargo.lock has no crate of a registry");
    match ask(&pins, &shell::scratch("yanked")?)? {
        Answer::Fine => println!("{} versions, none of them yanked", pins.len()),
        Answer::Unreachable => println!("skipped: yanked versions (the registry cannot be asked)"),
        Answer::Yanked(told) => bail!("Cargo.lock has a version that was yanked: {told}"),
    }
    Ok(())
}

enum Answer {
    Fine,
    Unreachable,
    Yanked(String),
}

fn ask(pins: &[Id], folder: &Path) -> Result<Answer> {
    fs::write(folder.join("Cargo.toml"), manifest(pins))?;
    fs::write(folder.join("lib.rs"), "")?;
    // Out of the workspace, so that nothing but the pins is looked at.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(cargo).args(["generate-lockfile", "--quiet"]).current_dir(folder).output()?;
    let told = String::from_utf8_lossy(&asked.stderr);
    Ok(match asked.status.success() {
        true => Answer::Fine,
        false if told.contains("is yanked") => Answer::Yanked(told.into_owned()),
        false if is_no_answer(&told) => Answer::Unreachable,
        false => bail!("cargo could not look for yanked versions: {told}"),
    })
}

/// Whether cargo says that it could not reach the registry.
fn is_no_answer(told: &str) -> bool {
    ["failed to download", "download of config.json failed", "--offline"]
        .iter()
        .any(|part| told.contains(part))
}

/// A project that needs exactly these.
fn manifest(pins: &[Id]) -> String {
    let mut text =
        "[package]\nname = \"pins\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
                    [workspace]\n[dependencies]\n"
            .to_owned();
    for (number, (name, version)) in pins.iter().enumerate() {
        // What stands after + tells versions apart for people alone.
        let version = version.split('+').next().unwrap_or_default();
        let _ = writeln!(
            text,
            "p{number} = {{ package = \"{name}\", version = \"={version}\", default-features = false }}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_pinned() {
        let manifest = manifest(&[("b".to_owned(), "2.0.1+zstd.1".to_owned())]);
        let pin = "p0 = { package = \"b\", version = \"=2.0.1\", default-features = false }\n";
        assert!(manifest.ends_with(pin), "{manifest}");
    }

    /// A version that is known to be yanked is found, as far as the registry can be asked.
    #[test]
    fn a_yanked_version_is_named() {
        let folder = std::env::temp_dir().join(format!("xtask-yanked-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        match ask(&[("futures-util".to_owned(), "0.3.29".to_owned())], &folder).unwrap() {
            Answer::Yanked(told) => {
                assert!(told.contains("futures-util") && told.contains("0.3.29"), "{told}")
            }
            Answer::Unreachable => {}
            Answer::Fine => panic!("futures-util 0.3.29 was yanked"),
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_registry_that_does_not_answer_is_told_from_a_yanked_version() {
        assert!(is_no_answer("error: failed to get `a`\nCaused by:\n  download of config.json failed"));
        assert!(!is_no_answer("error: failed to select a version for `a`\n  version 1.0.0 is yanked"));
    }
}
