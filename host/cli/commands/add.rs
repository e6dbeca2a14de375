use std::fmt::Write as _;
use std::path::Path;

use anyhow::anyhow;
use baler_host::project::{Project, Trust, check_name};
use baler_registry::semver::Version;
use baler_registry::{Digest, Held, Place, Reference, Requirement, project::publisher};
use clap::Args;

use crate::arguments::SandboxArguments;
use crate::exit::{Exit, Failure};
use crate::figures::{self, cleaned};
use crate::output::{self, Messages};
use crate::registry::{self, Component, FORMS, List, RegistryArguments};
use crate::{files, project};

/// Add a strategy to the list of strategies (`baler.toml`), and lock it
///
/// The strategy is a .wasm file, or is in an OCI registry, or in a folder with the layout of one. From a registry it is
/// pulled, its signature is checked, and what was found is written to `baler.lock`, which fixes its digests. From then on
/// its name works wherever a strategy is named, also without a network.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct AddCommand {
    /// A .wasm file, `oci://HOST/REPOSITORY`, or `oci-layout:FOLDER`, both with `:TAG` or `@sha256:…` behind them or not
    #[arg(value_name = "STRATEGY")]
    strategy: String,

    /// Name in the list [default: that of the file, or the last part of the repository or folder]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Version requirement, such as ^0.1 [default: what the tag or the digest says, else compatible with the newest]
    #[arg(long, value_name = "VERSIONS")]
    requirement: Option<String>,

    /// Name of the publisher, one of whose keys must have signed. The list has the keys, or --key adds one
    #[arg(long, value_name = "NAME")]
    publisher: Option<String>,

    /// Public key of the publisher: a file in PEM, or base64
    #[arg(long, value_name = "KEY", requires = "publisher")]
    key: Option<String>,

    /// Let the strategy ask the model of a run that has one
    #[arg(long)]
    grant_model: bool,

    #[command(flatten)]
    registry: RegistryArguments,

    #[command(flatten)]
    sandbox: SandboxArguments,
}

const AFTER: &str = "\
Examples:
  baler add oci://registry.example/acme/keep-newest --publisher acme --key acme.pem
  baler add oci-layout:shelf:0.1.0 --name keep-newest --publisher acme
  baler add keep-newest.wasm

A strategy that nobody signed is refused unless the list says `[policy] unsigned = \"locked\"`.

Exit codes: 0 added; 1 baler failed; 2 invalid usage; 5 refused: not signed as wanted, not what
was promised, no strategy, or it cannot be fetched. If it is not 0, the list was not changed";

impl AddCommand {
    pub(crate) async fn exec(self) -> Result<Exit, Failure> {
        if registry::is_reference(&self.strategy) {
            return self.add_reference().await;
        }
        let file = Path::new(&self.strategy);
        if !(self.strategy.ends_with(".wasm") || file.is_file()) {
            return Err(Failure::wrong_use(anyhow!(
                "expected a .wasm file, {FORMS}, found `{}`",
                cleaned(&self.strategy)
            )));
        }
        self.add_file(file).await
    }

    async fn add_file(&self, file: &Path) -> Result<Exit, Failure> {
        if let Some(option) = [
            ("--requirement", self.requirement.is_some()),
            ("--publisher", self.publisher.is_some()),
        ]
        .into_iter()
        .find_map(|(option, is_set)| is_set.then_some(option))
        {
            return Err(Failure::wrong_use(anyhow!(
                "`{option}` is about a registry, and `{}` is a file, which is listed with its digest; leave it out",
                cleaned(&self.strategy)
            )));
        }
        let component = Component::read(file, &self.sandbox).await?;
        let _only_one = registry::hold(&self.sandbox)?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = self.name_or(&stem);
        let digest = Digest::of(&component.wasm);
        let changed = registry::change(&self.sandbox, |list| {
            check_new(list, &name)?;
            let path = path_from(file, folder_of(list))?;
            let mut table = format!(
                "[strategies.{}]\nsource = {{ path = {} }}\n",
                toml_key(&name),
                quoted(&path)
            );
            // Writing to a string cannot fail.
            let _ = writeln!(table, "digest = \"{digest}\"");
            self.push_grant(&mut table);
            Ok(table)
        })?;
        let list = changed.project.file().to_owned();
        changed.write(&self.sandbox, || Ok(()))?;
        self.tell(&name, &component, None, &list)?;
        Ok(Exit::Done)
    }

    async fn add_reference(&self) -> Result<Exit, Failure> {
        let reference = registry::reference(&self.strategy)?;
        let name = self.name_or(&last_part(&reference.place));
        let asked = self.requirement(&reference)?;
        // What is asked, to find what there is; what is listed may be wider.
        let wanted_by = |requirement: &str| {
            let requirement = requirement.to_owned();
            registry::change(&self.sandbox, |list| {
                check_new(list, &name)?;
                self.tables(list, &name, &reference.place, &requirement)
            })
        };
        let mut list = List::of(wanted_by(&asked)?.project, &self.sandbox)?;
        let wanted = list.wanted()?;
        let mut wanted = wanted.into_iter();
        let wanted = wanted.find(|wanted| wanted.name == name);
        let wanted =
            wanted.ok_or_else(|| anyhow!("the list does not hold what was added to it"))?;
        let (mut entry, component) = list
            .pull(&wanted, Held::ToBeLocked, &self.registry, &self.sandbox)
            .await?;
        let listed = match (&entry.version, asked.as_str()) {
            (Some(version), "*") => format!("^{version}"),
            _ => asked,
        };
        entry.requirement = listed.parse().map_err(Failure::wrong_use)?;
        let changed = wanted_by(&listed)?;
        let signed = match (&entry.publisher, &entry.key) {
            (Some(publisher), Some(key)) => format!("signed by `{publisher}` with the key {key}"),
            _ => "not signed".to_owned(),
        };
        let file = changed.project.file().to_owned();
        list.lock.insert(entry);
        // An entry of the lock that the list does not hold yet does no harm, but the reverse would.
        changed.write(&self.sandbox, || list.write_lock())?;
        self.tell(&name, &component, Some(&signed), &file)?;
        Ok(Exit::Done)
    }

    fn name_or(&self, found: &str) -> String {
        self.name.clone().unwrap_or_else(|| found.to_owned())
    }

    /// What is wanted: as typed, else what the reference says.
    fn requirement(&self, reference: &Reference) -> Result<String, Failure> {
        let named = match (&self.requirement, &reference.tag, &reference.digest) {
            (Some(version), None, None) => version.clone(),
            (Some(_), ..) => {
                return Err(Failure::wrong_use(anyhow!(
                    "`--requirement` and the tag or digest of `{}` both say which version; give one of them",
                    cleaned(&self.strategy)
                )));
            }
            (None, _, Some(digest)) => digest.to_string(),
            (None, Some(tag), None) if Version::parse(tag).is_err() => {
                return Err(Failure::wrong_use(anyhow!(
                    "expected a tag that is a version, such as 0.1.0, found `{}`, which may mean something else tomorrow; name the digest of its manifest (`@sha256:…`), or no tag",
                    cleaned(tag)
                )));
            }
            (None, Some(tag), None) => format!("={tag}"),
            (None, None, None) => "*".to_owned(),
        };
        let parsed = named.parse::<Requirement>();
        parsed.map_err(Failure::wrong_use)?;
        Ok(named)
    }

    /// The tables for a strategy in a registry, and for its publisher if the list does not have it.
    fn tables(
        &self,
        list: Option<&Project>,
        name: &str,
        place: &Place,
        requirement: &str,
    ) -> Result<String, Failure> {
        let place = match place {
            Place::Layout(folder) => layout(folder, folder_of(list))?,
            place => place.to_string(),
        };
        let mut text = format!(
            "[strategies.{}]\nsource = {}\nversion = {}\n",
            toml_key(name),
            quoted(&place),
            quoted(requirement)
        );
        let Some(publisher_name) = &self.publisher else {
            self.push_grant(&mut text);
            return Ok(text);
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "publisher = {}", quoted(publisher_name));
        self.push_grant(&mut text);
        let known = list.and_then(|list| list.publisher(publisher_name));
        match (known, &self.key) {
            (Some(_), None) => {
                let list = list.filter(|list| list.trust() == Trust::Untrusted);
                if let Some(list) = list {
                    return Err(Failure::wrong_use(anyhow!(
                        "the keys of `{}` come from `{}`, which you do not trust: give their public key by --key, or run `baler trust` first",
                        cleaned(publisher_name),
                        list.file().display()
                    )));
                }
            }
            (Some(keys), Some(typed)) => {
                let key = registry::public_key(typed)?;
                let known = publisher(publisher_name, keys).map_err(Failure::wrong_use)?;
                if !known.keys.contains(&key) {
                    return Err(Failure::wrong_use(anyhow!(
                        "the list already has other keys of `{publisher_name}`, and not {}; if both are theirs, add it to `[publishers.{publisher_name}]` by hand: \"{}\"",
                        key.id(),
                        key.to_base64()
                    )));
                }
            }
            (None, Some(typed)) => {
                let key = registry::public_key(typed)?;
                let _ = writeln!(
                    text,
                    "\n[publishers.{}]\nkeys = [\"{}\"]",
                    toml_key(publisher_name),
                    key.to_base64()
                );
            }
            (None, None) => {
                return Err(Failure::wrong_use(anyhow!(
                    "the list has no publisher `{}`: give their public key by --key",
                    cleaned(publisher_name)
                )));
            }
        }
        Ok(text)
    }

    fn push_grant(&self, table: &mut String) {
        if self.grant_model {
            table.push_str("grant = [\"model\"]\n");
        }
    }

    /// Says what was added, before it is.
    fn tell(
        &self,
        name: &str,
        component: &Component,
        signed: Option<&str>,
        list: &Path,
    ) -> Result<(), Failure> {
        let mut text = format!(
            "`{name}` {} {} ({}){}\n",
            cleaned(&component.said.name),
            cleaned(&component.said.version),
            figures::bytes(component.wasm.len() as u64),
            signed.map_or_else(String::new, |signed| format!(", {signed}"))
        );
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {}",
            figures::shortened(&component.said.description)
        );
        let _ = writeln!(text, "  listed in `{}`", cleaned(&list.to_string_lossy()));
        output::words(&text)?;
        let asks = component.permissions();
        if !asks.is_empty() && !self.grant_model {
            Messages { quiet: false }.say(&format!(
                "it imports {}, which is not granted; --grant-model grants a model\n",
                asks.join(", ")
            ));
        }
        Ok(())
    }
}

/// Checks that the list has no such strategy, and that the name is not one of baler's.
fn check_new(list: Option<&Project>, name: &str) -> Result<(), Failure> {
    check_name(name).map_err(|wrong| {
        Failure::wrong_use(anyhow!("{}; choose another by --name", cleaned(&wrong)))
    })?;
    if project::is_reserved(name) {
        return Err(Failure::wrong_use(anyhow!(
            "`{}` is the name of a strategy that ships with baler; choose another by --name",
            cleaned(name)
        )));
    }
    match list.filter(|list| list.strategy(name).is_some()) {
        None => Ok(()),
        Some(list) => Err(Failure::wrong_use(anyhow!(
            "`{}` already lists a strategy `{}`; choose another name by --name, or remove that table (`baler update {}` only fetches a newer version)",
            list.file().display(),
            cleaned(name),
            cleaned(name)
        ))),
    }
}

/// The last part of the repository or folder.
fn last_part(place: &Place) -> String {
    match place {
        Place::Registry { repository, .. } => {
            repository.rsplit('/').next().unwrap_or_default().to_owned()
        }
        Place::Layout(folder) => {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            let name = folder.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        }
    }
}

/// Returns a path as it is written into a list in `folder`: relative if it is below that.
fn path_from(path: &Path, folder: &Path) -> Result<String, Failure> {
    let absolute = |path: &Path| {
        let there = path.canonicalize().or_else(|_| std::path::absolute(path));
        there.map_err(anyhow::Error::from)
    };
    let (path, folder) = (absolute(path)?, absolute(folder)?);
    let relative = path.strip_prefix(&folder).unwrap_or(&path);
    relative.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::wrong_use(anyhow!(
            "the path `{}` is not UTF-8, which a list cannot hold",
            path.display()
        ))
    })
}

/// The folder of a list; of a new one, the working folder.
fn folder_of(list: Option<&Project>) -> &Path {
    list.map_or(Path::new("."), |list| files::folder_of(list.file()))
}

/// A layout folder as it is written into a list in `base`.
fn layout(folder: &Path, base: &Path) -> Result<String, Failure> {
    let path = path_from(folder, base)?;
    let text = format!("oci-layout:{}", if path.is_empty() { "." } else { &path });
    match Place::try_from(text.clone()) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::wrong_use(error).with_more("\n\nRename the folder.")),
    }
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A key of TOML.
fn toml_key(text: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !text.is_empty() && text.chars().all(is_bare) {
        true => text.to_owned(),
        false => quoted(text),
    }
}
