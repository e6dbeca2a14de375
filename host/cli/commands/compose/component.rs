//! Makes one component of several. It reads components, which may be hostile, so it runs in a child process.

use anyhow::{Context as _, anyhow, bail};
use baler_host::child::ChildTask;
use baler_strategies::parts;
use serde::{Deserialize, Serialize};
use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, NodeId, PackageId};
use wasmparser::Parser;

/// Composes the [`Job`] of its input.
pub(crate) const TASK: ChildTask = ChildTask::new("baler-compose-components", |input, _| {
    Job::read(input)
        .and_then(|job| job.composed())
        .map_err(|error| format!("{error:#}"))
});

const HISTORY: &str = "baler:compaction/history@0.1.0";
const STRATEGY: &str = "baler:compaction/strategy@0.1.0";
const VIEW: &str = "baler:composition/view@0.1.0";
const OTHERWISE: &str = "baler:composition/otherwise@0.1.0";

/// What a host provides. WASI is one more, if the host allows it.
const OF_THE_HOST: [&str; 4] = [
    HISTORY,
    "baler:compaction/tokenizer@0.1.0",
    "baler:compaction/log@0.1.0",
    "baler:compaction/model@0.1.0",
];

/// The components to compose, in order.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) components: Vec<Named>,
}

/// A component and how messages call it.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) wasm: Vec<u8>,
}

/// The first line of a job: the name and the bytes of each component that follows.
#[derive(Serialize, Deserialize)]
struct Head(Vec<(String, usize)>);

impl Job {
    /// Returns the job as the task reads it.
    pub(super) fn written(&self) -> anyhow::Result<Vec<u8>> {
        let head = self.components.iter();
        let head = Head(head.map(|own| (own.name.clone(), own.wasm.len())).collect());
        let mut written = serde_json::to_vec(&head)?;
        written.push(b'\n');
        for own in &self.components {
            written.extend_from_slice(&own.wasm);
        }
        Ok(written)
    }

    fn read(written: &[u8]) -> anyhow::Result<Self> {
        let line = written.iter().position(|byte| *byte == b'\n');
        let (head, mut rest) = written.split_at(line.map_or(written.len(), |end| end + 1));
        let Head(head) = serde_json::from_slice(head).context("the job is not one of baler's")?;
        let mut components = Vec::with_capacity(head.len());
        for (name, bytes) in head {
            let (wasm, behind) = rest
                .split_at_checked(bytes)
                .context("the job ends too early")?;
            rest = behind;
            components.push(Named {
                name,
                wasm: wasm.to_vec(),
            });
        }
        Ok(Self { components })
    }

    fn composed(&self) -> anyhow::Result<Vec<u8>> {
        let mut composer = Composer::default();
        let mut inputs = Vec::with_capacity(self.components.len());
        for (index, own) in self.components.iter().enumerate() {
            // A name of the file would make the result depend on it.
            let package = composer
                .register(&format!("component-{index}"), &own.wasm)
                .and_then(|package| composer.check(package).map(|()| package))
                .with_context(|| format!("`{}`", own.name))?;
            inputs.push(package);
        }
        if let (Some(last), Some(own)) = (inputs.last(), self.components.last())
            && composer.imports(*last, STRATEGY)
        {
            bail!(
                "`{}`: it is a filter before a strategy, and none follows; name one after it",
                own.name
            );
        }
        let strategy = composer.strategy(&inputs, None)?;
        let graph = &mut composer.graph;
        graph.export(strategy, STRATEGY)?;
        Ok(graph.encode(EncodeOptions::default())?)
    }
}

#[derive(Default)]
struct Composer {
    graph: CompositionGraph,
}

impl Composer {
    fn register(&mut self, name: &str, wasm: &[u8]) -> anyhow::Result<PackageId> {
        if !wasm.starts_with(b"\0asm") {
            bail!("it is not WebAssembly: it does not begin with `\\0asm`");
        }
        if Parser::is_core_wasm(wasm) {
            bail!(
                "it is a core module and not a component; wrap it first: `baler wrap MODULE.wasm -o STRATEGY.wasm`"
            );
        }
        let package = Package::from_bytes(name, None, wasm.to_vec(), self.graph.types_mut())
            .context("it is broken")?;
        Ok(self.graph.register_package(package)?)
    }

    /// Returns a component of baler's own, which is in the result once, however often it is used.
    fn part(&mut self, name: &str, wasm: &[u8]) -> anyhow::Result<PackageId> {
        match self.graph.get_package_by_name(name, None) {
            Some((part, _)) => Ok(part),
            None => self.register(name, wasm),
        }
    }

    /// Checks that a component is a strategy or a filter, and that all it imports will be there.
    fn check(&self, package: PackageId) -> anyhow::Result<()> {
        let world = &self.graph.types()[self.graph[package].ty()];
        if !world.exports.contains_key(STRATEGY) {
            let other = world
                .exports
                .keys()
                .find(|name| name.starts_with("baler:compaction/strategy@"));
            return Err(match other {
                Some(other) => anyhow!(
                    "it exports `{other}`, and baler composes `{STRATEGY}`; rebuild it for that"
                ),
                None => {
                    anyhow!("it exports no `{STRATEGY}`, so it is neither a strategy nor a filter")
                }
            });
        }
        let is_filter = world.imports.contains_key(STRATEGY);
        let is_provided = |name: &&String| {
            OF_THE_HOST.contains(&name.as_str())
                || name.starts_with("wasi:")
                || is_filter && [STRATEGY, VIEW].contains(&name.as_str())
        };
        match world.imports.keys().find(|name| !is_provided(name)) {
            Some(import) => Err(anyhow!(
                "it imports `{import}`, which neither a host nor `baler compose` provides"
            )),
            None => Ok(()),
        }
    }

    fn imports(&self, package: PackageId, name: &str) -> bool {
        self.graph.types()[self.graph[package].ty()]
            .imports
            .contains_key(name)
    }

    /// Returns the strategy that these components are together: a filter is before all that follow it, and another
    /// strategy is tried before them. They read `history`, or the host's if there is none.
    fn strategy(
        &mut self,
        components: &[PackageId],
        history: Option<NodeId>,
    ) -> anyhow::Result<NodeId> {
        let Some((first, rest)) = components.split_first() else {
            bail!("there is no component to compose");
        };
        if self.imports(*first, STRATEGY) {
            let view = self.part("view", parts::VIEW)?;
            let view = self.instance(view, &[(HISTORY, history)])?;
            let seen = self.graph.alias_instance_export(view, HISTORY)?;
            let behind = self.strategy(rest, Some(seen))?;
            let view = self.graph.alias_instance_export(view, VIEW)?;
            return self.instance_of_strategy(
                *first,
                &[
                    (HISTORY, history),
                    (STRATEGY, Some(behind)),
                    (VIEW, Some(view)),
                ],
            );
        }
        let strategy = self.instance_of_strategy(*first, &[(HISTORY, history)])?;
        if rest.is_empty() {
            return Ok(strategy);
        }
        let otherwise = self.strategy(rest, history)?;
        let fallback = self.part("fallback", parts::FALLBACK)?;
        self.instance_of_strategy(
            fallback,
            &[
                (HISTORY, history),
                (STRATEGY, Some(strategy)),
                (OTHERWISE, Some(otherwise)),
            ],
        )
    }

    fn instance_of_strategy(
        &mut self,
        package: PackageId,
        arguments: &[(&str, Option<NodeId>)],
    ) -> anyhow::Result<NodeId> {
        let instance = self.instance(package, arguments)?;
        Ok(self.graph.alias_instance_export(instance, STRATEGY)?)
    }

    /// Instantiates a component with those of `arguments` that it imports. The host provides the others.
    fn instance(
        &mut self,
        package: PackageId,
        arguments: &[(&str, Option<NodeId>)],
    ) -> anyhow::Result<NodeId> {
        let instance = self.graph.instantiate(package);
        for (name, argument) in arguments {
            if let Some(argument) = argument
                && self.imports(package, name)
            {
                self.graph
                    .set_instantiation_argument(instance, name, *argument)
                    .with_context(|| format!("the components do not fit together at `{name}`"))?;
            }
        }
        Ok(instance)
    }
}
