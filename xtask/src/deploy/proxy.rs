//! deploy/nginx.conf before a real service: pages, changes and events pass through it, and a foreign name does not.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::service::{Running, call, fit, free_port, post, serve};
use super::{is_installed, read};
use crate::shell;

pub(super) fn check() -> Result<()> {
    if !is_installed("nginx", "the service behind a proxy") {
        return Ok(());
    }
    let folder = shell::scratch("deploy/proxy")?;
    fit(&folder)?;
    let (_service, behind) = serve(&folder, "--allow-host map.example.org")?;
    let port = free_port()?;
    fs::write(folder.join("nginx.conf"), configuration(&folder, port, behind)?)?;
    let mut nginx = shell::program("nginx", "");
    let _nginx = Running::start(nginx.arg("-c").arg(folder.join("nginx.conf")).arg("-p").arg(&folder))?;
    let host = format!("Host: map.example.org:{port}\r\n");
    let get = |path: &str, host: &str| format!("GET {path} HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
    call(port, &get("/lion?x=1", &host), "/lion/?x=1")?;
    call(port, &get("/lion/", &host), "src=\"./app.js\"")?;
    call(port, &get("/lion/app.js", &host), "200 OK")?;
    // A browser says which page asks.
    let origin = format!("{host}Origin: http://map.example.org:{port}\r\n");
    call(port, &post("/lion/api/points", &origin), "\"event\":1")?;
    call(port, &get("/lion/api/events?after=0", &host), "\"id\":\"new\"")?;
    let foreign = call(port, &get("/lion/api/health", "Host: evil.example\r\n"), "403 Forbidden")?;
    ensure!(!foreign.contains("200 OK"), "a foreign name is let through");
    println!("the service answers behind nginx");
    Ok(())
}

/// The configuration at a port of its own, without TLS, in a folder of its own.
fn configuration(folder: &Path, port: u16, behind: u16) -> Result<String> {
    let server: String = read("deploy/nginx.conf")?
        .replace("listen 443 ssl", &format!("listen 127.0.0.1:{port}"))
        .replace("127.0.0.1:7878", &format!("127.0.0.1:{behind}"))
        .lines()
        .filter(|line| !line.trim().starts_with("ssl_"))
        .map(|line| format!("{line}\n"))
        .collect();
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {folder}/{name};\n"))
        .concat();
    // One process: it ends with the test.
    Ok(format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nevents {{}}\n\
         http {{\naccess_log off;\n{temporary}{server}}}\n"
    ))
}
