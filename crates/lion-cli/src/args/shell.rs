//! `lion completions` and `lion man`: what can be chosen.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print the completions of a shell, so that Tab knows verbs and options
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion completions bash > ~/.local/share/bash-completion/completions/lion
  lion completions zsh > ~/.zfunc/_lion                          with ~/.zfunc in fpath
  lion completions fish > ~/.config/fish/completions/lion.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Write the man pages: lion.1, and one for each verb
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion man -o ~/.local/share/man/man1
  man lion-fit")]
pub(crate) struct ManArgs {
    /// The folder for the pages; made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
}
