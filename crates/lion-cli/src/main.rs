//! The binary `lion`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(lion_cli::main(std::env::args_os()))
}
