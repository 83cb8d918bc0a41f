//! The binary `lion`: t-SNE maps that stay alive, from the command line.

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
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Cli { verb, common } = Cli::of_process();
    let done = match &verb {
        Verb::Fit(args) => fit::run(args, &common),
        Verb::Place(args) => place::run(args, &common),
        Verb::Update(args) => update::run(args, &common),
        Verb::Calibrate(args) => calibrate::run(args, &common),
        Verb::Info(args) => info::run(args, &common),
        Verb::Quality(args) => quality::run(args, &common),
        Verb::Columns(args) => columns::run(args, &common),
        Verb::Plot(args) => plot::run(args, &common),
        Verb::Explain(args) => explain::run(args, &common),
        Verb::Diff(args) => diff::run(args, &common),
        Verb::Evaluate(args) => evaluate::run(args, &common),
        Verb::Stream(args) => stream::run(args, &common),
        Verb::Serve(args) => serve::run(args, &common),
        Verb::Compare(args) => compare::run(args, &common),
        Verb::Export(args) => export::run(args, &common),
        Verb::Replay(args) => replay::run(args, &common),
        Verb::Demo(args) => demo::run(args, &common),
        Verb::Completions(args) => shell::completions(args),
        Verb::Man(args) => shell::man(args, &common),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Who reads our output has seen enough of it, as `head` does.
        Err(error) if output::nobody_listens(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nowhere is left to complain if this fails.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
