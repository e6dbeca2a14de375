//! What a run measures, so that figures of different runs are not mixed.

use baler_host::Strategy;
use serde::{Deserialize, Serialize};

use crate::options::Options;

/// What a run measures. Figures of runs with different fingerprints must not be mixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFingerprint {
    /// The budgets, in thousandths, or `recorded`.
    pub at: String,
    /// Whether constraints are measured as well.
    #[serde(default)]
    pub constraints: bool,
    /// What strategies must keep.
    pub pins: String,
    /// The strategies: components with their content hashes, remote strategies with their addresses.
    pub strategies: Vec<String>,
    /// The limits of calls to strategies, each set of limits once.
    pub limits: Vec<String>,
    /// The version of this crate.
    pub version: String,
}

impl RunFingerprint {
    /// Describes what a run measures.
    #[must_use]
    pub fn of(strategies: &[Strategy], options: &Options) -> Self {
        let mut budgets: Vec<u32> = options.budgets.iter().copied().map(thousandths).collect();
        budgets.sort_unstable();
        let budgets: Vec<String> = budgets.iter().map(u32::to_string).collect();
        let named = |strategy: &Strategy| match (strategy.component(), strategy.address()) {
            (Some(component), _) => format!("{} {}", strategy.name(), component.content_hash),
            (None, Some(address)) => format!("{} {address}", strategy.name()),
            (None, None) => strategy.name().to_owned(),
        };
        let limited = |strategy: &Strategy| {
            let limits = strategy.limits();
            format!(
                "fuel {}, {:?}, {} bytes of memory",
                limits.fuel, limits.time, limits.memory
            )
        };
        let mut limits: Vec<String> = strategies.iter().map(limited).collect();
        limits.sort_unstable();
        limits.dedup();
        let mut strategies: Vec<String> = strategies.iter().map(named).collect();
        strategies.sort_unstable();
        Self {
            at: match options.at_recorded_compactions {
                true => "recorded".to_owned(),
                false => budgets.join(" "),
            },
            constraints: options.constraints,
            pins: format!("{:?}", options.pins),
            strategies,
            limits,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Describes, for people, how an earlier run differs from this one.
    pub(crate) fn difference(&self, earlier: &Self) -> String {
        let pairs = earlier.named().into_iter().zip(self.named());
        let differing = pairs.filter(|((_, earlier), (_, now))| earlier != now);
        let described: Vec<String> = differing
            .map(|((what, earlier), (_, now))| format!("{what}: {earlier} there, {now} now"))
            .collect();
        described.join("; ")
    }

    /// Returns all of it in words, with what each is.
    fn named(&self) -> [(&'static str, String); 6] {
        [
            ("budgets", self.at.clone()),
            ("constraints", self.constraints.to_string()),
            ("pins", self.pins.clone()),
            ("strategies", self.strategies.join(", ")),
            ("limits", self.limits.join("; ")),
            ("version", self.version.clone()),
        ]
    }
}

/// Converts a share to thousandths.
pub(crate) fn thousandths(share: f64) -> u32 {
    (share * 1_000.0).round() as u32
}
