//! Tries strategies.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use baler_host::{Archive, Budget, Conversation, Host, Request, Strategy};
use serde_json::json;
use tokio::runtime::Handle;

use super::Wrong;
use super::choices::{CHAIN, Chosen, Offer};
use crate::exit::Failure;
use crate::output::Messages;
use crate::remote::RemoteArguments;
use crate::report::read::Run;
use crate::settings::{HostSettings, Keeping};
use crate::sources::{self, Source};
use crate::ui::Trial;
use crate::{model, project, unit_listing};

/// What came of a strategy with a budget.
pub(super) struct Done {
    pub(super) strategy: String,
    pub(super) budget: String,
    /// The run, or the reason why it failed.
    pub(super) run: Result<Run, String>,
    pub(super) document: Option<Arc<str>>,
}

/// The most tries of a form.
const MOST: usize = 12;

/// The time for each.
const TIME: Duration = Duration::from_secs(60);

/// Tries each strategy with each budget.
pub(super) async fn all(
    trial: &Trial,
    chosen: &Chosen,
    offers: &[Offer],
) -> Result<Vec<Done>, Wrong> {
    let wrong = |what: String| (StatusCode::UNPROCESSABLE_ENTITY, what);
    let budgets = budgets(&chosen.budgets).map_err(wrong)?;
    let strategies: Vec<&Offer> = offers
        .iter()
        .filter(|offer| chosen.strategies.contains(&offer.value))
        .collect();
    match strategies.len() * budgets.len() {
        0 => return Err(wrong("choose at least one strategy".to_owned())),
        many if many > MOST => {
            return Err(wrong(format!(
                "{many} are too many at once; choose strategies and budgets of which at most {MOST} pairs can be made"
            )));
        }
        _ => {}
    }
    let failed = |failure: Failure| (StatusCode::INTERNAL_SERVER_ERROR, failure.message());
    let host = host(trial).map_err(failed)?;
    let conversation = conversation(&host, chosen).await?;
    let work = Work {
        host: Arc::new(host),
        conversation: Arc::new(conversation),
    };
    let mut all = Vec::new();
    for offer in strategies {
        let chain = chain(&work.host, trial, &offer.value).await;
        for (written, budget) in &budgets {
            let policy = project::plan_policy(trial.project.as_ref());
            let request = Request::new(*budget).with_policy(policy);
            let (run, document) = match &chain {
                Ok(chain) => work.one(chain.clone(), request).await,
                Err(failure) => (Err(failure.message()), None),
            };
            all.push(Done {
                strategy: offer.name.clone(),
                budget: written.clone(),
                run,
                document,
            });
        }
    }
    Ok(all)
}

/// Makes a host whose archive ends with it, so that a plan, which holds references, is the same as that of a real run.
fn host(trial: &Trial) -> Result<Host, Failure> {
    let settings = HostSettings {
        archive: Keeping::In(Archive::in_memory()),
        model: trial.grant.clone(),
        never_quarantined: true,
        project: trial.project.clone(),
        ..HostSettings::default()
    };
    trial.sandbox.host(settings, Messages { quiet: true })
}

/// Reads the conversation.
async fn conversation(host: &Host, chosen: &Chosen) -> Result<Conversation, Wrong> {
    let document = chosen.tried.as_ref().map(|tried| tried.document.to_vec());
    let document = document.unwrap_or_default();
    let name = chosen.tried.as_ref().map_or("", |tried| &tried.name);
    let read = tokio::task::block_in_place(|| host.read_bytes(document));
    read.map_err(|error| {
        let what = format!("`{name}` is no conversation that baler reads: {error}");
        (StatusCode::UNPROCESSABLE_ENTITY, what)
    })
}

/// Reads budgets with commas between them.
fn budgets(text: &str) -> Result<Vec<(String, Budget)>, String> {
    let written = text.split(',').map(str::trim).filter(|one| !one.is_empty());
    let read = written.map(|one| match one.parse() {
        Ok(budget) => Ok((one.to_owned(), budget)),
        Err(error) => Err(format!("the budget `{one}` cannot be used: {error}")),
    });
    let budgets: Vec<_> = read.collect::<Result<_, String>>()?;
    match budgets.is_empty() {
        true => Err("name a budget, such as 50%".to_owned()),
        false => Ok(budgets),
    }
}

/// Loads a strategy that was chosen, or the chain of the proxy.
async fn chain(host: &Host, trial: &Trial, chosen: &str) -> Result<Vec<Strategy>, Failure> {
    let found;
    let sources: &[Source] = if chosen == CHAIN {
        &trial.chain
    } else {
        let project = trial.project.as_ref();
        let remote = RemoteArguments::default();
        found = [sources::find(chosen, &remote, project, &trial.sandbox)?];
        &found
    };
    let mut chain = Vec::new();
    for source in sources {
        chain.push(source.load_silently(host, &trial.sandbox).await?);
    }
    model::granted(chain, sources, trial.grant.as_ref())
}

struct Work {
    host: Arc<Host>,
    conversation: Arc<Conversation>,
}

impl Work {
    /// Runs a chain, on a thread of its own: what a strategy does to a thread ends there.
    async fn one(
        &self,
        chain: Vec<Strategy>,
        request: Request,
    ) -> (Result<Run, String>, Option<Arc<str>>) {
        let (host, conversation) = (Arc::clone(&self.host), Arc::clone(&self.conversation));
        let runtime = Handle::current();
        let work = tokio::task::spawn_blocking(move || {
            let compaction = runtime.block_on(tokio::time::timeout(
                TIME,
                host.compact(&conversation, &chain, &request),
            ));
            let compaction = match compaction {
                Ok(Ok(compaction)) => compaction,
                Ok(Err(error)) => return Err(baler_host::with_causes(&error)),
                Err(_) => return Err("it took longer than a minute".to_owned()),
            };
            let units = unit_listing::entries(&conversation, &compaction);
            let run = json!({"receipt": compaction.receipt(), "units": units});
            let run = serde_json::from_value(run).map_err(|error| error.to_string())?;
            Ok((run, Arc::from(compaction.document())))
        });
        match work.await {
            Ok(Ok((run, document))) => (Ok(run), Some(document)),
            Ok(Err(wrong)) => (Err(wrong), None),
            Err(_) => (Err("baler failed".to_owned()), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_one_by_one() {
        let read = budgets(" 50%, 8000 ,").expect("budgets");
        assert_eq!(
            read,
            [
                ("50%".to_owned(), Budget::Share(0.5)),
                ("8000".to_owned(), Budget::Tokens(8000))
            ]
        );
        assert!(budgets("").is_err());
        let wrong = budgets("50%, many").expect_err("is refused");
        assert!(wrong.contains("`many`"), "{wrong}");
    }
}
