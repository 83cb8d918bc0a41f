//! The files that a service is run by (deploy/, Containerfile): each is used by the program that it is written for. What is
//! not installed is left out, and said to be.

mod container;
mod proxy;
mod service;

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::shell;

pub(crate) fn check() -> Result<()> {
    rules()?;
    unit()?;
    proxy::check()?;
    container::check()
}

/// Whether a program is installed; says so if not.
fn is_installed(program: &str, what: &str) -> bool {
    let found = shell::find(&[program]).is_some();
    if !found {
        println!("skipped: {what} ({program} is not installed)");
    }
    found
}

fn read(name: &str) -> Result<String> {
    let path = shell::root().join(name);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// Alert rules, what they do with numbers, and the queries of the dashboard.
fn rules() -> Result<()> {
    if !is_installed("promtool", "alert rules and queries of the dashboard") {
        return Ok(());
    }
    shell::run(&mut shell::program("promtool", "check rules deploy/alerts.yml"))?;
    shell::run(&mut shell::program("promtool", "test rules deploy/alerts.test.yml"))?;
    let queries = queries(&read("deploy/grafana.json")?);
    ensure!(!queries.is_empty(), "deploy/grafana.json has no queries");
    let mut rules = "groups:\n- name: dashboard\n  rules:\n".to_owned();
    for (number, query) in queries.iter().enumerate() {
        rules += &format!("  - {{ record: \"query:{number}\", expr: {query} }}\n");
    }
    let file = shell::scratch("deploy/queries")?.join("queries.yml");
    fs::write(&file, rules)?;
    shell::run(shell::program("promtool", "check rules").arg(&file))
}

/// The queries of a dashboard as texts of JSON, which are texts of YAML, too.
fn queries(dashboard: &str) -> Vec<String> {
    let texts = dashboard.lines().filter_map(|line| line.trim().strip_prefix("\"expr\": "));
    texts.map(|text| text.trim_end_matches(',').replace("$__rate_interval", "5m")).collect()
}

/// The unit of systemd, with the program that was built.
fn unit() -> Result<()> {
    if !is_installed("systemd-analyze", "the unit of systemd") {
        return Ok(());
    }
    let lion = shell::built("lion")?.display().to_string();
    let unit = read("deploy/lion.service")?.replace("/usr/local/bin/lion", &lion);
    let file = shell::scratch("deploy/unit")?.join("lion.service");
    fs::write(&file, unit)?;
    shell::run(shell::program("systemd-analyze", "verify").arg(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Podman, where it is installed, runs it and asks.
    #[test]
    fn the_container_ends_as_a_user_without_rights() {
        let file = read("Containerfile").unwrap();
        let last = file.rsplit("\nFROM ").next().unwrap();
        let users: Vec<&str> = last.lines().filter_map(|line| line.strip_prefix("USER ")).collect();
        assert_eq!(users, ["10001:10001"]);
        let after = last.split("\nUSER ").nth(1).unwrap();
        assert!(after.contains("\nENTRYPOINT ") && !after.contains("\nRUN "), "{after}");
        let unit = read("deploy/lion.service").unwrap();
        assert!(unit.lines().any(|line| line == "DynamicUser=yes"), "{unit}");
    }

    #[test]
    fn queries_of_a_dashboard_are_found_as_they_are_written() {
        let dashboard = "{\n \"expr\": \"rate(a{b=\\\"c\\\"}[$__rate_interval])\",\n \"title\": \"x\"\n}";
        assert_eq!(queries(dashboard), ["\"rate(a{b=\\\"c\\\"}[5m])\""]);
    }
}
