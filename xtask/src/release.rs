//! `cargo xtask release`: everything that is published of a version, in `<target>/release-VERSION`.
//!
//! The same sources, toolchain and machine give the same archives: files are sorted, and their time is that of the version.

mod archive;
mod notices;
mod sbom;
mod trial;
mod version;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::release::archive::Entry;
use crate::release::version::Version;
use crate::{golden, package, shell, steps, tree};

/// What is made of a version, and where.
struct Release {
    version: Version,
    /// The kind of machine, as rustc calls it.
    target: String,
    folder: PathBuf,
}

/// `cargo xtask release`.
pub(crate) fn build() -> Result<()> {
    make()?.tell()
}

/// `cargo xtask release --try`: the same, used on a machine without Rust.
pub(crate) fn build_and_try() -> Result<()> {
    let release = make()?;
    release.tell()?;
    trial::run(&release)
}

fn make() -> Result<Release> {
    let version = Version::read()?;
    let folder = shell::target()?.join(format!("release-{}", version.number));
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder)?;
    let release = Release { version, target: target()?, folder };
    steps::build()?;
    release.program()?;
    package::into(&release.folder)?;
    release.checksums()?;
    Ok(release)
}

fn target() -> Result<String> {
    let told = shell::output(&mut shell::program("rustc", "-vV"))?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what it compiles for")?.to_owned())
}

impl Release {
    /// `lion-VERSION-TARGET`: the archive, and the folder in it.
    fn name(&self) -> String {
        format!("lion-{}-{}", self.version.number, self.target)
    }

    /// The program with what belongs to it as an archive, and what is linked into it as a list.
    fn program(&self) -> Result<()> {
        let linked = tree::linked("lion-cli")?;
        let sbom = sbom::json(&linked, &self.version)?;
        fs::write(self.folder.join(format!("{}.cdx.json", self.name())), &sbom)?;
        let lion = shell::built("lion")?;
        let mut entries = vec![
            Entry::program("lion", fs::read(&lion)?),
            Entry::file("sbom.cdx.json", sbom.into_bytes()),
            Entry::file("THIRD-PARTY-LICENSES.txt", notices::text(&linked)?.into_bytes()),
        ];
        for name in documents()? {
            let bytes = fs::read(shell::root().join(&name))?;
            entries.push(Entry::file(&name, bytes));
        }
        for (shell, file) in [("bash", "lion.bash"), ("zsh", "_lion"), ("fish", "lion.fish")] {
            let script = shell::output(shell::program(&lion, "completions").arg(shell))?;
            entries.push(Entry::file(&format!("completions/{file}"), script.into_bytes()));
        }
        let pages = shell::scratch("release-man")?;
        shell::quietly(shell::program(&lion, "man -o").arg(&pages))?;
        for page in tree::files(&pages)? {
            let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
            entries.push(Entry::file(&format!("man/man1/{name}"), fs::read(&page)?));
        }
        let archive = archive::tar_gz(&self.name(), entries, self.version.seconds)?;
        fs::write(self.folder.join(format!("{}.tar.gz", self.name())), archive)?;
        Ok(())
    }

    fn files(&self) -> Result<Vec<PathBuf>> {
        tree::files(&self.folder)
    }

    /// SHA256SUMS, as `sha256sum -c` reads it.
    fn checksums(&self) -> Result<()> {
        let mut sums = String::new();
        for file in self.files()? {
            sums += &format!("{}  {}\n", golden::digest(&fs::read(&file)?), name_of(&file));
        }
        Ok(fs::write(self.folder.join("SHA256SUMS"), sums)?)
    }

    fn tell(&self) -> Result<()> {
        println!("\n{}:", self.folder.display());
        for file in self.files()? {
            println!("{:10.2} MB  {}", fs::metadata(&file)?.len() as f64 / 1e6, name_of(&file));
        }
        Ok(())
    }
}

/// README.md, and what it leads to.
fn documents() -> Result<Vec<String>> {
    let mut names: Vec<String> = ["LICENSE-APACHE", "LICENSE-MIT", "CITATION.cff"].map(Into::into).to_vec();
    for (folder, endings) in [("", &[".md"][..]), ("docs/", &[".md", ".png"])] {
        for file in fs::read_dir(shell::root().join(folder))? {
            let name = file?.file_name().to_string_lossy().into_owned();
            if endings.iter().any(|ending| name.ends_with(ending)) {
                names.push(format!("{folder}{name}"));
            }
        }
    }
    Ok(names)
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
