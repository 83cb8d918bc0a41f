//! The container: built, run as it is meant to be, and stopped; what was acknowledged is there when it runs again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::is_installed;
use super::service::{call, fit, port_of, post};
use crate::shell;

const IMAGE: &str = "localhost/lion-test";

pub(super) fn check() -> Result<()> {
    if !is_installed("podman", "the container") {
        return Ok(());
    }
    for base in bases(&super::read("Containerfile")?) {
        let is_there = shell::succeeds(&mut podman(&["image", "exists", &base]));
        if !is_there && !shell::succeeds(&mut podman(&["pull", &base])) {
            println!("skipped: the container ({base} cannot be fetched)");
            return Ok(());
        }
    }
    shell::run(&mut podman(&["build", "--format", "docker", "--tag", IMAGE, "."]))?;
    let folder = shell::scratch("deploy/container")?;
    fit(&folder)?;
    let container = Container::new()?;
    container.fill(&folder)?;
    let user =
        shell::output(&mut podman(&["run", "--rm", "--network", "none", "--entrypoint", "id", IMAGE, "-u"]))?;
    ensure!(user.trim() == "10001", "it runs as user {user}");
    for event in 1..=2 {
        let port = container.start()?;
        let answer = call(port, &post("/api/points", "Host: localhost\r\n"), "\"event\":")?;
        ensure!(answer.contains(&format!("\"event\":{event}")), "it lost what it had: {answer}");
        shell::run(&mut podman(&["stop", "--time", "20", &container.name]))?;
        shell::run(&mut podman(&["rm", &container.name]))?;
    }
    println!("the container serves, stops, and keeps what it was sent");
    Ok(())
}

fn podman(args: &[&str]) -> Command {
    let mut command = shell::program("podman", "");
    command.args(args);
    command
}

/// The images that a Containerfile begins from.
fn bases(containerfile: &str) -> Vec<String> {
    let lines = containerfile.lines().filter_map(|line| line.strip_prefix("FROM "));
    lines.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

/// A container and its volume, both removed at the end.
struct Container {
    name: String,
    volume: String,
}

impl Container {
    fn new() -> Result<Self> {
        let name = format!("lion-test-{}", std::process::id());
        let volume = format!("{name}-data");
        shell::quietly(&mut podman(&["volume", "create", &volume]))?;
        Ok(Self { name, volume })
    }

    fn data(&self) -> String {
        format!("{}:/data", self.volume)
    }

    /// Brings the map and a token into the volume, as docs/operations.md says.
    fn fill(&self, folder: &Path) -> Result<()> {
        fs::write(folder.join("token"), "0123456789abcdef")?;
        let data = self.data();
        let fill = format!(
            "tar c map.lion token | podman run --rm -i --network none -v {data} --entrypoint tar {IMAGE} x"
        );
        shell::run(Command::new("sh").args(["-e", "-c", &fill]).current_dir(folder))
    }

    /// Starts the service on the network of this machine; the port that it took.
    fn start(&self) -> Result<u16> {
        let run = ["run", "-d", "--name", &self.name, "--network", "host", "-v", &self.data(), IMAGE];
        let serve = ["serve", "map.lion", "--store", "points.db", "--port", "0", "--json"];
        shell::quietly(podman(&run).args(serve))?;
        let begun = Instant::now();
        loop {
            let told = shell::output(&mut podman(&["logs", &self.name]))?;
            if let Some(port) = port_of(&told) {
                return Ok(port);
            }
            ensure!(begun.elapsed() < Duration::from_secs(60), "it does not start: {told}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = shell::succeeds(&mut podman(&["rm", "--force", "--ignore", &self.name]));
        let _ = shell::succeeds(&mut podman(&["volume", "rm", "--force", &self.volume]));
    }
}
