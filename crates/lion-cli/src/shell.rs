//! `lion completions` and `lion man`: what a shell and `man` know of the command line, from the same definitions that
//! `--help` is made of.

use crate::args::{Cli, Common, CompletionsArgs, ManArgs};
use crate::output;
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use serde::Serialize;
use std::fs;

/// The JSON object.
#[derive(Serialize)]
struct ManSummary {
    folder: String,
    pages: Vec<String>,
}

/// Prints the completions.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lion", &mut script);
    output::print(&String::from_utf8(script)?)
}

/// Writes the pages.
pub(crate) fn man(args: &ManArgs, common: &Common) -> Result<()> {
    let folder = &args.output;
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let mut command = Cli::command();
    // Options that every verb understands are on its page too.
    command.build();
    let mut summary = ManSummary { folder: folder.display().to_string(), pages: Vec::new() };
    write(&command, "lion", &mut summary, args)?;
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        write(verb, &format!("lion-{}", verb.get_name()), &mut summary, args)?;
    }
    output::present(common, &summary, || {
        format!("{}: {} pages, lion.1 first\n", summary.folder, summary.pages.len())
    })
}

fn write(command: &Command, name: &str, summary: &mut ManSummary, args: &ManArgs) -> Result<()> {
    let mut page = Vec::new();
    let command = command.clone().display_name(name.to_owned());
    clap_mangen::Man::new(command).render(&mut page)?;
    let file = format!("{name}.1");
    output::replace(&args.output.join(&file), &page)?;
    summary.pages.push(file);
    Ok(())
}
