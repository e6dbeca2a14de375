//! What a person can choose to try, and what was chosen.

use baler_host::Strategy;
use baler_host::project::{Project, Trust};

use crate::sources::{self, Source};
use crate::ui::Trial;
use crate::ui::tries::Tried;

/// The value of the choice that is the chain of the proxy.
pub(super) const CHAIN: &str = "chain";

/// Strategies that ask a model, and are offered only with one.
const WITH_MODEL: [&str; 4] = ["native:summarize", "tiered-model", "summarize", "anchored"];

/// A strategy that can be chosen.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) value: String,
    pub(super) name: String,
    pub(super) about: String,
}

/// Returns the strategies that can be tried: the chain of the proxy, and those that `baler strategies` lists.
pub(super) fn offers(trial: &Trial) -> Vec<Offer> {
    let chain: Vec<&str> = trial.chain.iter().map(Source::named).collect();
    let chain = (!chain.is_empty()).then(|| Offer {
        value: CHAIN.to_owned(),
        name: "This proxy’s".to_owned(),
        about: chain.join(", then "),
    });
    let offer = |name: &str, about: &str| Offer {
        value: name.to_owned(),
        name: name.to_owned(),
        about: about.to_owned(),
    };
    let bundled = baler_strategies::ALL.iter();
    let bundled = bundled.map(|bundled| offer(bundled.name, ""));
    let native = Strategy::NATIVE.iter();
    let native = native.map(|name| offer(name, &sources::about_native(name).replace('`', "")));
    let trusted = trial.project.as_ref();
    let trusted = trusted.filter(|project| project.trust() == Trust::Trusted);
    let listed = trusted.into_iter().flat_map(Project::strategies);
    let listed = listed.map(|listed| offer(listed.name(), "of baler.toml"));
    let is_usable =
        |offer: &Offer| trial.grant.is_some() || !WITH_MODEL.contains(&offer.name.as_str());
    let named = bundled.chain(native).chain(listed).filter(is_usable);
    chain.into_iter().chain(named).collect()
}

/// What was chosen in the form.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) tried: Option<Tried>,
    /// What was pasted.
    pub(super) text: String,
    /// The id of an earlier try, of which the file is used again.
    pub(super) kept: String,
    pub(super) strategies: Vec<String>,
    pub(super) budgets: String,
}

impl Chosen {
    /// Returns what is chosen before a person chooses.
    pub(super) fn first(offers: &[Offer]) -> Self {
        let first = offers.first().map(|offer| offer.value.clone());
        Self {
            strategies: first.into_iter().collect(),
            budgets: "50%".to_owned(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn strategies_that_ask_a_model_are_known() {
        let host = baler_host::Host::builder()
            .without_archive()
            .build()
            .expect("a host");
        for bundled in baler_strategies::ALL {
            let strategy = host.load(bundled.name, bundled.wasm).await.expect("loads");
            let is_known = WITH_MODEL.contains(&bundled.name);
            assert_eq!(strategy.lacks_model(), is_known, "{}", bundled.name);
        }
        for name in Strategy::NATIVE {
            let strategy = Strategy::native(name).expect("a strategy");
            assert_eq!(strategy.lacks_model(), WITH_MODEL.contains(name), "{name}");
        }
    }
}
