//! What a list may set: everything if its user trusts it, and otherwise only what forbids something.
//!
//! Every table is taken apart field by field, so a new field does not compile before it is decided here what it is in a
//! list that nobody trusts.

use serde::Serialize;

use super::document::{Document, Entry, Limits, PolicyTable, Unsigned};
use super::{Grant, Permit};
use crate::bounded::bounded;
use crate::limits;
use crate::request::Policy;

/// Maximum bytes of a value in messages.
const VALUE_BYTES: usize = 100;

/// Whether the user trusts a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// The user named the list, or trusted this file with this content ([`TrustedLists`](super::TrustedLists)). All of it
    /// counts.
    Trusted,
    /// It was only found. It may forbid, and nothing that it allows counts.
    Untrusted,
}

/// A setting of a list that differs from its default.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// The tables and the key, such as `policy.plans.summary-role`.
    pub name: String,
    /// The value as JSON, without control characters, limited in length.
    pub value: String,
    /// The name of the strategy that it is about; `None` for the policy, which is about all.
    pub strategy: Option<Box<str>>,
    /// Whether it counts. Otherwise it is withheld, as if the list did not have it.
    pub counts: bool,
}

impl Setting {
    /// Returns whether it is about one of these strategies, or about all.
    pub(super) fn concerns(&self, strategies: &[&str]) -> bool {
        let own = self.strategy.as_deref();
        own.is_none_or(|own| strategies.contains(&own))
    }
}

/// Returns what counts of a list, and all its settings.
pub(super) fn reviewed(list: Document, trust: Trust) -> (Document, Vec<Setting>) {
    let mut review = Review {
        trust,
        strategy: None,
        settings: Vec::new(),
    };
    let Document {
        strategies,
        publishers,
        policy,
    } = list;
    let strategies = strategies.into_iter().map(|(name, entry)| {
        review.strategy = Some(name.0.as_str().into());
        (name, review.entry(entry))
    });
    let strategies = strategies.collect();
    review.strategy = None;
    let policy = review.policy(policy);
    // Keys only say whose signature will do, and nothing is fetched before the user asks for it.
    let reviewed = Document {
        strategies,
        publishers,
        policy,
    };
    (reviewed, review.settings)
}

struct Review {
    trust: Trust,
    /// The strategy whose table is read.
    strategy: Option<Box<str>>,
    settings: Vec<Setting>,
}

impl Review {
    fn entry(&mut self, entry: Entry) -> Entry {
        let Entry {
            source,
            version,
            publisher,
            digest,
            grant,
            config,
            limits,
        } = entry;
        if let Some(config) = &config {
            self.note("config", config.0.clone(), true);
        }
        Entry {
            // A strategy runs in the sandbox, and only where the user names it. One in a registry was pulled before, by a
            // command of the user's that named the list.
            source,
            version,
            publisher,
            // It only forbids other files.
            digest,
            grant: self.decide("grant", grant, Vec::<Grant>::new(), false),
            config,
            limits: self.limits(limits),
        }
    }

    /// Limits may be lower than the defaults.
    fn limits(&mut self, limits: Limits) -> Limits {
        let Limits {
            memory_mib,
            timeout_ms,
            fuel,
        } = limits;
        let default = limits::Limits::default();
        let less_memory = memory_mib.is_some_and(|mib| mib.0 << 20 <= default.memory);
        let less_time = timeout_ms.is_some_and(|ms| u128::from(ms.0) <= default.time.as_millis());
        let less_fuel = fuel.is_some_and(|fuel| fuel.get() <= default.fuel);
        Limits {
            memory_mib: self.decide("limits.memory-mib", memory_mib, None, less_memory),
            timeout_ms: self.decide("limits.timeout-ms", timeout_ms, None, less_time),
            fuel: self.decide("limits.fuel", fuel, None, less_fuel),
        }
    }

    fn policy(&mut self, table: PolicyTable) -> PolicyTable {
        let PolicyTable {
            unlisted,
            digests,
            wasi,
            unsigned,
            plans,
        } = table;
        let default = PolicyTable::default();
        PolicyTable {
            unlisted: self.decide(
                "policy.unlisted",
                unlisted,
                default.unlisted,
                unlisted == Permit::Refuse,
            ),
            digests: self.decide(
                "policy.digests",
                digests,
                default.digests,
                digests.permit() == Permit::Refuse,
            ),
            wasi: self.decide("policy.wasi", wasi, default.wasi, wasi == Permit::Refuse),
            unsigned: self.decide(
                "policy.unsigned",
                unsigned,
                default.unsigned,
                unsigned == Unsigned::Refuse,
            ),
            plans: self.plans(plans),
        }
    }

    /// What strategies may do can be switched off. What is no permission, such as a share of the budget or the treatment
    /// of thinking, is a choice, and not a stricter one in any direction.
    fn plans(&mut self, plans: Policy) -> Policy {
        let Policy {
            rewrite_outputs,
            rewrite_assistant,
            excerpts,
            user_percent,
            remove_media,
            summary_role,
            thinking,
        } = plans;
        let default = Policy::default();
        Policy {
            rewrite_outputs: self.permission(
                "policy.plans.rewrite-outputs",
                rewrite_outputs,
                default.rewrite_outputs,
            ),
            rewrite_assistant: self.permission(
                "policy.plans.rewrite-assistant",
                rewrite_assistant,
                default.rewrite_assistant,
            ),
            excerpts: self.permission("policy.plans.excerpts", excerpts, default.excerpts),
            user_percent: self.decide(
                "policy.plans.user-percent",
                user_percent,
                default.user_percent,
                false,
            ),
            remove_media: self.permission(
                "policy.plans.remove-media",
                remove_media,
                default.remove_media,
            ),
            summary_role: self.decide(
                "policy.plans.summary-role",
                summary_role,
                default.summary_role,
                false,
            ),
            thinking: self.decide("policy.plans.thinking", thinking, default.thinking, false),
        }
    }

    fn permission(&mut self, key: &str, asked: bool, default: bool) -> bool {
        self.decide(key, asked, default, !asked)
    }

    /// Returns the value that counts. `forbids` is whether the asked value only forbids what the default allows.
    fn decide<T: PartialEq + Serialize>(
        &mut self,
        key: &str,
        asked: T,
        default: T,
        forbids: bool,
    ) -> T {
        if asked == default {
            return default;
        }
        let counts = forbids || self.trust == Trust::Trusted;
        let value = serde_json::to_string(&asked).unwrap_or_default();
        self.note(key, value, counts);
        if counts { asked } else { default }
    }

    fn note(&mut self, key: &str, value: String, counts: bool) {
        self.settings.push(Setting {
            name: match &self.strategy {
                Some(strategy) => format!("strategies.{strategy}.{key}"),
                None => key.to_owned(),
            },
            value: bounded(&value, VALUE_BYTES),
            strategy: self.strategy.clone(),
            counts,
        });
    }
}
