//! `baler`: compacts an agent's conversation so that it fits the model's context window.
//!
//! Documents go to standard output, messages for people to standard error. The work is done by
//! `baler-host`; this crate has the arguments, the messages and the files.

mod commands;
mod arguments;
mod settings;
mod archive;
mod input;
mod language;
mod contract;
mod files;
mod file_size;
mod resource_limits;
mod arenas;
mod sources;
mod model;
mod project;
mod remote;
mod output;
mod stdout;
mod descriptor;
mod visible;
mod whole_file;
mod access;
mod links;
mod progress;
#[cfg(feature = "http")]
mod agents;
#[cfg(feature = "http")]
mod doctor;
#[cfg(feature = "http")]
mod proxied;
#[cfg(feature = "http")]
mod retrieval;
#[cfg(feature = "http")]
mod service;
#[cfg(feature = "http")]
mod signals;
#[cfg(feature = "http")]
mod threads;
#[cfg(feature = "http")]
mod token;
#[cfg(feature = "http")]
mod ui;
#[cfg(feature = "registry")]
mod registry;
mod unit_listing;
mod receipt;
mod report;
mod figures;
mod exit;
#[cfg(test)]
mod hint_tests;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::Styles;
use clap::{CommandFactory as _, Parser, Subcommand};

#[cfg(feature = "registry")]
use commands::{
    AddCommand, LockCommand, PullCommand, PushCommand, SignCommand, UpdateCommand, VerifyCommand,
};
use commands::{
    ArchiveCommand, BuildCommand, COMPOSE_TASK, CacheCommand, CompactCommand, ComposeCommand,
    ExpandCommand, IntrospectCommand, NewCommand, ReportCommand, ShouldCompactCommand,
    StrategiesCommand, TrustCommand, UndoCommand, ValidateCommand, WRAP_TASK, WrapCommand,
};
#[cfg(feature = "eval")]
use commands::{BenchCommand, EvalCommand, TestCommand, TuneCommand};
#[cfg(feature = "http")]
use commands::{
    DoctorCommand, McpCommand, ProxyCommand, RunCommand, ServeCommand, SessionsCommand, UiCommand,
};
use exit::{Exit, Failure};

/// Compacts the conversation of an AI agent so that it fits the model's context window.
///
/// A strategy decides what to keep: a WebAssembly component in a sandbox, a server, or a native strategy of
/// baler. Whatever the strategy does, baler returns a conversation that its provider accepts, or the same
/// conversation with the reason why it is unchanged.
#[derive(Debug, Parser)]
#[command(name = "baler", version = version(), propagate_version = true, after_help = EXAMPLES)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Compact(Box<CompactCommand>),
    Undo(UndoCommand),
    Expand(ExpandCommand),
    Archive(ArchiveCommand),
    ShouldCompact(Box<ShouldCompactCommand>),
    Introspect(IntrospectCommand),
    Strategies(StrategiesCommand),
    Trust(TrustCommand),
    New(NewCommand),
    Build(BuildCommand),
    Wrap(WrapCommand),
    Compose(ComposeCommand),
    #[cfg(feature = "registry")]
    Add(AddCommand),
    #[cfg(feature = "registry")]
    Lock(LockCommand),
    #[cfg(feature = "registry")]
    Update(UpdateCommand),
    #[cfg(feature = "registry")]
    Pull(PullCommand),
    #[cfg(feature = "registry")]
    Push(PushCommand),
    #[cfg(feature = "registry")]
    Sign(SignCommand),
    #[cfg(feature = "registry")]
    Verify(VerifyCommand),
    Cache(CacheCommand),
    Validate(ValidateCommand),
    Report(ReportCommand),
    #[cfg(feature = "eval")]
    Test(TestCommand),
    #[cfg(feature = "eval")]
    Bench(BenchCommand),
    #[cfg(feature = "eval")]
    Eval(EvalCommand),
    #[cfg(feature = "eval")]
    Tune(TuneCommand),
    #[cfg(feature = "http")]
    Run(RunCommand),
    #[cfg(feature = "http")]
    Proxy(ProxyCommand),
    #[cfg(feature = "http")]
    Sessions(SessionsCommand),
    #[cfg(feature = "http")]
    Ui(UiCommand),
    #[cfg(feature = "http")]
    Mcp(McpCommand),
    #[cfg(feature = "http")]
    Doctor(DoctorCommand),
    #[cfg(feature = "http")]
    Serve(ServeCommand),
}

const EXAMPLES: &str = "\
Examples:
  baler compact request.json > smaller.json
  baler compact request.json --budget 8000 --strategy sliding-window --dry-run
  baler strategies
  baler validate request.json

`baler COMMAND --help` shows all options, examples and exit codes.";

fn version() -> String {
    format!(
        "{} (contract {})",
        env!("CARGO_PKG_VERSION"),
        baler_host::strategy::contracts().join(", ")
    )
}

fn main() -> ExitCode {
    let tasks = || WRAP_TASK.serve().or_else(|| COMPOSE_TASK.serve());
    if let Some(done) = baler_host::serve_as_compiler().or_else(tasks) {
        return done;
    }
    arenas::few();
    if let Err(error) =
        resource_limits::check_descriptors().and_then(|()| resource_limits::check_memory())
    {
        let failure = Failure::from(error);
        output::error(&failure.message());
        return failure.exit.into();
    }
    file_size::make_excess_an_error();
    let done = match Program::try_parse() {
        Ok(program) => run(program.command),
        Err(error) if error.use_stderr() => {
            print_usage_error(&error);
            Ok(Exit::WrongUse)
        }
        Err(help) => output::help(&help.render().ansi().to_string())
            .map(|()| Exit::Done)
            .map_err(Failure::from),
    };
    let done = done.unwrap_or_else(|failure| {
        output::error(&failure.message());
        failure.exit
    });
    done.into()
}

/// Prints what is wrong with the arguments. The message quotes them, so it passes `visible` like all
/// messages, and has no styles of clap's: these could not be distinguished from escape sequences in an
/// argument, nor clap's line breaks from those in an argument.
fn print_usage_error(error: &clap::Error) {
    let command = Program::command().styles(Styles::plain());
    let arguments = env::args_os().map(|argument| {
        let line = visible::line(&argument.to_string_lossy());
        if line == argument.to_string_lossy() {
            argument
        } else {
            OsString::from(line)
        }
    });
    let text = match command.try_get_matches_from(arguments) {
        Err(plain) => plain.render().ansi().to_string(),
        Ok(_) => visible::line(&error.render().to_string()),
    };
    match text.strip_prefix("error: ") {
        Some(what) => output::error(what.trim_end()),
        None => output::Messages { quiet: false }.say(&text),
    }
}

fn run(command: Command) -> Result<Exit, Failure> {
    // These start their own threads.
    #[cfg(feature = "http")]
    match command {
        Command::Run(command) => return command.exec(),
        Command::Proxy(command) => return command.exec(),
        Command::Serve(command) => return command.exec(),
        Command::Ui(command) => return command.exec(),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)?;
    let done = runtime.block_on(async {
        match command {
            Command::Compact(command) => command.exec().await,
            Command::Undo(command) => command.exec().await,
            Command::Expand(command) => command.exec().await,
            Command::Archive(command) => command.exec().await,
            Command::ShouldCompact(command) => command.exec().await,
            Command::Introspect(command) => command.exec().await,
            Command::Strategies(command) => command.exec().await,
            Command::Trust(command) => command.exec(),
            Command::New(command) => command.exec(),
            Command::Build(command) => command.exec().await,
            Command::Wrap(command) => command.exec().await,
            Command::Compose(command) => command.exec().await,
            #[cfg(feature = "registry")]
            Command::Add(command) => command.exec().await,
            #[cfg(feature = "registry")]
            Command::Lock(command) => command.exec().await,
            #[cfg(feature = "registry")]
            Command::Update(command) => command.exec().await,
            #[cfg(feature = "registry")]
            Command::Pull(command) => command.exec().await,
            #[cfg(feature = "registry")]
            Command::Push(command) => command.exec().await,
            #[cfg(feature = "registry")]
            Command::Sign(command) => command.exec().await,
            #[cfg(feature = "registry")]
            Command::Verify(command) => command.exec().await,
            Command::Cache(command) => command.exec(),
            Command::Validate(command) => command.exec(),
            Command::Report(command) => command.exec(),
            #[cfg(feature = "eval")]
            Command::Test(command) => command.exec().await,
            #[cfg(feature = "eval")]
            Command::Bench(command) => command.exec().await,
            #[cfg(feature = "eval")]
            Command::Eval(command) => command.exec().await,
            #[cfg(feature = "eval")]
            Command::Tune(command) => command.exec().await,
            #[cfg(feature = "http")]
            Command::Sessions(command) => command.exec(),
            #[cfg(feature = "http")]
            Command::Mcp(command) => command.exec().await,
            #[cfg(feature = "http")]
            Command::Doctor(command) => command.exec().await,
            // Was run above.
            #[cfg(feature = "http")]
            Command::Run(_) | Command::Proxy(_) | Command::Serve(_) | Command::Ui(_) => {
                Ok(Exit::Done)
            }
        }
    });
    // A host name that is still being looked up must not hold the program.
    runtime.shutdown_background();
    done
}
