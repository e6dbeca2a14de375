//! Runs a loaded component as a strategy.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::OnceCell;

use super::{Guest, Sandbox};
use crate::content_hash::ContentHash;
use crate::limits::Limits;
use crate::receipt::ComponentInfo;
use crate::report::{Decision, Introspection, Report};
use crate::runner::{Call, CallFailure, Runner, Terms};
use crate::situation::Situation;

/// Maximum time of an introspection that the host itself needs. It runs once, so that a component that hangs
/// there delays only one call, and only for a moment.
const DECLARATION_TIME: Duration = Duration::from_millis(200);

/// A component and its sandbox.
pub(crate) struct GuestRunner {
    sandbox: Arc<Sandbox>,
    guest: Guest,
    /// Its first introspection; `None` inside if that failed.
    declared: OnceCell<Option<Introspection>>,
}

impl GuestRunner {
    pub(crate) fn new(sandbox: Arc<Sandbox>, guest: Guest) -> Self {
        Self {
            sandbox,
            guest,
            declared: OnceCell::new(),
        }
    }

    /// Returns the component's introspection, made at the first call; `None` if it failed.
    async fn declared(&self, limits: &Limits) -> Option<&Introspection> {
        let limits = Limits {
            time: limits.time.min(DECLARATION_TIME),
            ..*limits
        };
        let declared = self.declared.get_or_init(async || {
            let call = self.sandbox.introspect(&self.guest, None, limits).await;
            call.result.ok()
        });
        declared.await.as_ref()
    }

    /// Returns the limits of a call: those of the strategy, with the time that the component declares if that
    /// is less.
    async fn limits(&self, terms: Terms<'_>) -> Limits {
        let limits = *terms.limits;
        let may_ask = terms.model.is_some() && self.guest.may_ask();
        let most = if may_ask {
            limits.model_time
        } else {
            limits.time
        };
        let declared = self
            .declared(&limits)
            .await
            .and_then(|declared| declared.timeout_ms)
            .map(|ms| Duration::from_millis(ms.into()))
            .filter(|time| !time.is_zero());
        Limits {
            time: declared.unwrap_or(limits.undeclared_time).min(most),
            ..limits
        }
    }
}

#[async_trait]
impl Runner for GuestRunner {
    fn fault_key(&self) -> Option<&ContentHash> {
        Some(&self.guest.hash)
    }

    fn component(&self) -> Option<ComponentInfo> {
        Some(ComponentInfo {
            content_hash: self.guest.hash,
            contract: self.guest.contract.clone(),
            permissions: self.guest.permissions.clone(),
            bytes: self.guest.bytes,
        })
    }

    fn wants_model(&self) -> bool {
        self.guest.may_ask()
    }

    async fn compact(&self, terms: Terms<'_>, situation: &Arc<Situation>) -> Call<Report> {
        let limits = self.limits(terms).await;
        self.sandbox
            .compact(&self.guest, situation, terms, limits)
            .await
    }

    async fn should_compact(&self, terms: Terms<'_>, situation: &Arc<Situation>) -> Call<Decision> {
        self.sandbox
            .should_compact(&self.guest, situation, terms)
            .await
    }

    async fn introspect(
        &self,
        config: Option<&str>,
        limits: Limits,
    ) -> Option<Result<Introspection, CallFailure>> {
        let call = self.sandbox.introspect(&self.guest, config, limits).await;
        Some(call.result)
    }

    async fn declared(&self, limits: Limits) -> Option<Introspection> {
        Self::declared(self, &limits).await.cloned()
    }
}
