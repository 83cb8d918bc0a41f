//! The command `lion`: t-SNE maps that stay alive, from the command line. A library because two programs are made of it: the
//! binary `lion` and the script of that name that the Python package installs.

mod args;
mod calibrate;
mod columns;
mod compare;
mod demo;
mod diff;
mod evaluate;
mod explain;
mod export;
mod files;
mod fit;
mod groups;
mod info;
mod interrupt;
mod memory;
mod mnist;
mod noise;
mod output;
mod place;
mod plot;
mod points_table;
mod prepare;
mod progress;
mod quality;
mod replay;
mod serve;
mod shell;
mod shown;
mod stream;
mod summary;
mod update;

use args::{Cli, Verb};
use clap::{Command, CommandFactory};
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, Write};

/// The work is done.
const DONE: u8 = 0;
/// The work failed.
const FAILED: u8 = 1;

/// Does what the arguments ask for, the first of which is the program's own name, and returns the exit code: 0, 1 where the
/// work failed, 2 where the arguments are wrong. All that is printed has left the process by then. Ctrl-C may end the process.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::of(args) {
        Ok(cli) => cli,
        Err(problem) => {
            // Also the way of --help and --version, which are no mistakes. Whoever closed the output has seen enough.
            let _ = problem.print().and_then(|()| io::stdout().flush());
            return u8::try_from(problem.exit_code()).unwrap_or(FAILED);
        }
    };
    // Where this is no program of its own, nobody else would do it.
    let flush = |()| io::stdout().flush().map_err(anyhow::Error::from);
    match run(&cli).and_then(flush) {
        Ok(()) => DONE,
        // Who reads our output has seen enough of it, as `head` does.
        Err(error) if output::nobody_listens(&error) => DONE,
        Err(error) => {
            // Nowhere is left to complain if this fails.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            FAILED
        }
    }
}

/// Reads the arguments as [`main`] does, and does nothing that they ask for. Where they are wrong, this is the text that says so;
/// `--help` and `--version` give theirs.
pub fn check(args: impl IntoIterator<Item = OsString>) -> Result<(), String> {
    thread_local! {
        // Making it takes longer than reading arguments, and those who only check them do so again and again.
        static COMMAND: RefCell<Command> = RefCell::new(Cli::command());
    }
    COMMAND.with_borrow_mut(|command| Cli::by(command, args)).map(drop).map_err(|problem| problem.to_string())
}

fn run(Cli { verb, common }: &Cli) -> anyhow::Result<()> {
    #[cfg(unix)]
    interrupt::prepare()?;
    match verb {
        Verb::Fit(args) => fit::run(args, common),
        Verb::Place(args) => place::run(args, common),
        Verb::Update(args) => update::run(args, common),
        Verb::Calibrate(args) => calibrate::run(args, common),
        Verb::Info(args) => info::run(args, common),
        Verb::Quality(args) => quality::run(args, common),
        Verb::Columns(args) => columns::run(args, common),
        Verb::Plot(args) => plot::run(args, common),
        Verb::Explain(args) => explain::run(args, common),
        Verb::Diff(args) => diff::run(args, common),
        Verb::Evaluate(args) => evaluate::run(args, common),
        Verb::Stream(args) => stream::run(args, common),
        Verb::Serve(args) => serve::run(args, common),
        Verb::Compare(args) => compare::run(args, common),
        Verb::Export(args) => export::run(args, common),
        Verb::Replay(args) => replay::run(args, common),
        Verb::Demo(args) => demo::run(args, common),
        Verb::Completions(args) => shell::completions(args),
        Verb::Man(args) => shell::man(args, common),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_checked_and_nothing_is_done() {
        let check = |line: &str| check(line.split(' ').map(OsString::from));
        // None of these files is there.
        assert_eq!(check("lion fit none.csv -o none.lion --radius 99%"), Ok(()));
        let said = check("lion fit none.csv -o none.lion --radius 101%").unwrap_err();
        assert!(said.contains("--radius") && said.contains("101%"), "{said}");
        let said = check("lion plot none.lion -o none.svg --width 100").unwrap_err();
        assert!(said.contains("--width is for .png"), "{said}");
        assert!(check("lion --version").unwrap_err().starts_with("lion "));
    }

    /// The tree of commands is used again and again, and must not remember what it read.
    #[test]
    fn arguments_that_were_checked_before_change_nothing() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let lines = [
            "lion",
            "lion fit none.csv -o none.lion --radius 99% --quiet",
            "lion fit none.csv",
            "lion fit --help",
            "lion --json plot none.lion -o none.svg --width 100",
            "lion help plot",
            "lion plat none.lion",
            "lion serve none.lion --host 0.0.0.0",
            "lion fit none.csv -o none.lion --radius 101%",
            "lion fit none.csv -o none.lion --quiet --verbose",
            "lion --version",
        ];
        for line in lines.iter().chain(lines.iter().rev()) {
            let fresh = Cli::of(words(line)).map(drop).map_err(|problem| problem.to_string());
            assert_eq!(check(words(line)), fresh, "{line}");
        }
    }
}
