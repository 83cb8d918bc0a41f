//! What the service says of itself, on standard error.

use tracing::level_filters::LevelFilter;

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for programs.
    Json,
}

lion_tsne::named!(LogFormat, "log": Text = "text", Json = "json");

/// Starts to log to standard error; does nothing if somebody else in the program does already.
pub fn start_log(format: LogFormat, level: LevelFilter) {
    // A line that cannot be written is lost; to complain of it on standard error again would end the thread.
    let log = tracing_subscriber::fmt().with_max_level(level).with_target(false).log_internal_errors(false);
    let log = log.with_writer(std::io::stderr);
    let _ = match format {
        LogFormat::Text => log.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
}
