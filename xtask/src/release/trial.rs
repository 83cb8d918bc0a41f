//! `cargo xtask release --try`: what is published, used on a machine that has nothing else. The machine is a root folder that
//! debootstrap makes anew: Debian's (or Ubuntu's) base system and Python, no Rust, no compiler, nothing of this repository but the
//! files of the release and README.md, which has the example.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::Release;
use crate::{install, shell};

/// What is done there. Each step prints its name and its seconds.
const SCRIPT: &str = r#"
step() { begun=$(date +%s.%N); name=$1; shift; "$@"; ended=$(date +%s.%N)
    echo "$name: ok, $(awk "BEGIN {printf \"%.1f\", $ended - $begun}") s"; }
bare() { for program in cargo rustc cc gcc clang; do
    if command -v $program; then echo "there is a $program"; return 1; fi; done; }
unpack() { sha256sum --quiet -c SHA256SUMS && tar xzf lion-*.tar.gz && mv lion-*/ lion; }
belongings() { for file in completions/lion.bash completions/_lion completions/lion.fish man/man1/lion-fit.1 README.md \
    CHANGELOG.md docs/start.md docs/digits.png LICENSE-MIT LICENSE-APACHE THIRD-PARTY-LICENSES.txt sbom.cdx.json; do
    if ! [ -s lion/$file ]; then echo "$file is missing"; return 1; fi; done; }
demo() { mkdir demo && cd demo && ../lion/lion demo && for file in map.lion placements.parquet map.html; do
    if ! [ -s lion-demo/$file ]; then echo "$file is missing"; return 1; fi; done && cd ..; }
wheel() { python3 -m venv env && env/bin/pip install --quiet "$(echo /try/liontsne-*.whl)[plot]"; }
example() { env/bin/python example.py && ls -l digits.png && env/bin/lion info digits.lion; }
cd /try
step "no Rust and no compiler" bare
step "the archive has the bytes that it should have, and unpacks" unpack
step "completions, man pages, licences" belongings
step "lion demo from the archive" demo
step "the wheel in a fresh environment" wheel
step "the example of README.md" example
"#;

pub(super) fn run(release: &Release) -> Result<()> {
    install::programs(&["debootstrap"])?;
    let root = shell::scratch("release-try")?;
    let begun = Instant::now();
    bootstrap(&root)?;
    println!("a root folder of {}: ok, {:.1} s", suite()?, begun.elapsed().as_secs_f64());
    let folder = root.join("try");
    fs::create_dir(&folder)?;
    for file in release.files()? {
        fs::copy(&file, folder.join(super::name_of(&file)))?;
    }
    let readme = fs::read_to_string(shell::root().join("README.md"))?;
    fs::write(folder.join("example.py"), example(&readme).context("README.md has no example in Python")?)?;
    connect(&root)?;
    // Everything that it mounts is gone with it.
    let mut inside = Command::new("unshare");
    inside.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--root"]).arg(&root);
    inside.args(["sh", "-e", "-c", SCRIPT]).env_clear().envs(passed_on());
    inside.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/root");
    shell::run(&mut inside)?;
    fs::remove_dir_all(&root)?;
    println!("the release works on a machine without Rust");
    Ok(())
}

/// The version of the system here: what was linked on it needs a C library that is as new.
fn suite() -> Result<String> {
    let about = fs::read_to_string("/etc/os-release").context("only on Debian and Ubuntu")?;
    let name = about.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    Ok(name.context("/etc/os-release has no VERSION_CODENAME")?.trim_matches('"').to_owned())
}

fn bootstrap(root: &Path) -> Result<()> {
    let is_root = shell::output(&mut shell::program("id", "-u"))?.trim() == "0";
    ensure!(
        is_root,
        "only root can make and enter a root folder: run `cargo xtask release`, then this as root"
    );
    let args = "--variant=minbase --include=ca-certificates,python3,python3-venv";
    shell::quietly(shell::program("debootstrap", args).arg(suite()?).arg(root))
}

/// Settings of pip and the network that this machine needs: they go to the new one, too.
const NETWORK: [&str; 4] =
    ["/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt"];

/// Whether a variable says how the network is reached.
fn is_passed_on(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with("pip_") || name.ends_with("_proxy")
}

fn passed_on() -> impl Iterator<Item = (String, String)> {
    std::env::vars().filter(|(name, _)| is_passed_on(name))
}

fn connect(root: &Path) -> Result<()> {
    for file in NETWORK.map(PathBuf::from).iter().filter(|file| file.is_file()) {
        let there = root.join(file.strip_prefix("/")?);
        if let Some(folder) = there.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(file, &there).with_context(|| format!("cannot write {}", there.display()))?;
    }
    Ok(())
}

/// The first block of Python in a document.
fn example(readme: &str) -> Option<&str> {
    let (_, block) = readme.split_once("\n```python\n")?;
    Some(block.split_once("\n```")?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_the_first_block_of_python() {
        let readme = "a\n```sh\nb\n```\n```python\nimport c\nd()\n```\n```python\ne\n```\n";
        assert_eq!(example(readme), Some("import c\nd()"));
        assert_eq!(example("none"), None);
        let readme = fs::read_to_string(shell::root().join("README.md")).unwrap();
        assert!(example(&readme).is_some_and(|code| code.contains("from liontsne import LionTSNE")));
    }

    #[test]
    fn only_what_the_network_needs_is_passed_on() {
        assert!(is_passed_on("PIP_CERT") && is_passed_on("https_proxy") && is_passed_on("HTTP_PROXY"));
        assert!(!is_passed_on("HOME") && !is_passed_on("CARGO_REGISTRY_TOKEN"));
    }
}
