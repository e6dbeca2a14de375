use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::agents::Agent;
use crate::doctor::{Check, State, installation, programs};
use crate::exit::{Exit, Failure};
use crate::figures::cleaned;
use crate::output::{self, BAD, CHANGED, GOOD, styled};

/// Check this installation and the agent programs on this machine, and say what to do about what is wrong
///
/// Compacts a small conversation, looks at the settings of the programs, and asks the servers that their requests go to for
/// an answer, without a key. Keys are looked for and never shown.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 nothing is wrong, 1 something is, 2 invalid usage")]
pub(crate) struct DoctorCommand {
    /// Only this program [default: those on $PATH]
    #[arg(value_name = "PROGRAM")]
    program: Option<Agent>,

    /// Ask no servers of providers
    #[arg(long)]
    offline: bool,

    /// Print the results as JSON
    #[arg(long)]
    json: bool,

    /// State folder [default: $BALER_STATE, else $XDG_STATE_HOME/baler, else ~/.local/state/baler]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

impl DoctorCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        let mut checks = installation::checks(self.state.as_deref()).await;
        checks.extend(programs::checks(self.program, self.offline).await);
        match self.json {
            true => output::listing(&format!("{}\n", json!(checks)))?,
            false => output::words(&in_words(&checks))?,
        }
        let is_wrong = |check: &Check| check.state == State::Wrong;
        Ok(match checks.iter().any(is_wrong) {
            true => Exit::HostFailed,
            false => Exit::Done,
        })
    }
}

/// Returns a line for each check, with what to do below it.
fn in_words(checks: &[Check]) -> String {
    let mut text = String::new();
    for check in checks {
        let style = match check.state {
            State::Ok => GOOD,
            State::Warning => CHANGED,
            State::Wrong => BAD,
        };
        let state = styled(style, &format!("{:<7}", check.state.word()));
        let (name, found) = (&check.name, cleaned(&check.found));
        let _ = writeln!(text, "{state}  {name}: {found}");
        if let Some(remedy) = &check.remedy {
            let _ = writeln!(text, "         {remedy}");
        }
    }
    text
}
