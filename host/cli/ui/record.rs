//! The recorded sessions, of which what lists show is remembered: they are read again only when they change.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use baler_proxy::{Action, Exchange, Sessions, Total};

use super::when;

/// What lists show of a session.
#[derive(Debug)]
pub(super) struct Summary {
    pub(super) name: String,
    pub(super) program: String,
    pub(super) model: String,
    /// The run of `baler run` that it is of.
    run: Option<String>,
    pub(super) last: u64,
    pub(super) total: Total,
    /// Whether a request was due, or passed untouched for another reason.
    has_reasons: bool,
    /// Tokens of the largest request as it came.
    pub(super) peak: u32,
    /// Tokens of all requests that were counted, as they came and as they went on.
    pub(super) sizes: Vec<[u32; 2]>,
    /// Under which the archive holds what was removed.
    references: HashSet<String>,
}

impl Summary {
    fn of(name: String, exchanges: &[Exchange]) -> Option<Self> {
        let last = exchanges.last()?;
        let mut total = Total::default();
        exchanges.iter().for_each(|exchange| total.add(exchange));
        let counted = exchanges.iter().map(|exchange| exchange.tokens);
        let sizes: Vec<[u32; 2]> = counted.filter(|[came, _]| *came > 0).collect();
        let references = exchanges.iter().flat_map(Exchange::references);
        Some(Self {
            name,
            program: last.program.clone(),
            model: main_model(exchanges),
            run: last.run.clone(),
            last: last.time,
            has_reasons: exchanges.iter().any(|exchange| exchange.why.is_some()),
            total,
            peak: sizes.iter().map(|[came, _]| *came).max().unwrap_or(0),
            sizes,
            references: references.map(str::to_owned).collect(),
        })
    }

    /// Decides whether baler had anything to do in the session.
    fn is_touched(&self) -> bool {
        self.has_reasons || self.total.compactions + self.total.shown > 0
    }

    /// Decides whether it goes on.
    pub(super) fn is_live(&self) -> bool {
        when::now().saturating_sub(self.last) < LIVE
    }
}

/// Seconds after the last request for which a session counts as one that goes on.
const LIVE: u64 = 120;

/// Requests of a session that is more than a program's question on the side: a title, a check of a key.
const ASIDE: usize = 2;

/// Returns the model of most tokens: programs ask smaller ones on the side.
pub(super) fn main_model(exchanges: &[Exchange]) -> String {
    let mut models: BTreeMap<&str, u64> = BTreeMap::new();
    for exchange in exchanges {
        *models.entry(&exchange.model).or_default() += u64::from(exchange.tokens[0]) + 1;
    }
    let most = models.into_iter().max_by_key(|(_, tokens)| *tokens);
    most.map_or_else(String::new, |(model, _)| model.to_owned())
}

/// Sessions in two lists, both with the newest first.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Those in which something was or should have been compacted, those that go on, and the largest of each run.
    pub(super) main: Vec<Arc<Summary>>,
    /// The others: what programs ask on the side.
    pub(super) aside: Vec<Arc<Summary>>,
}

impl Listed {
    fn of(sessions: Vec<Arc<Summary>>) -> Self {
        let mut largest: HashMap<&str, u32> = HashMap::new();
        for session in &sessions {
            if let Some(run) = &session.run {
                let known = largest.entry(run).or_default();
                *known = session.peak.max(*known);
            }
        }
        let is_main = |session: &Arc<Summary>| {
            let run = session.run.as_deref();
            let is_largest = run.is_some_and(|run| largest.get(run) == Some(&session.peak));
            let goes_on = session.is_live() && session.total.requests > ASIDE;
            session.is_touched() || is_largest || goes_on
        };
        let (main, aside) = sessions.iter().cloned().partition(is_main);
        Self { main, aside }
    }
}

/// What was read of a session, when its record had this size and time.
type Remembered = ((u64, SystemTime), Option<Arc<Summary>>);

/// The folder of session records.
pub(super) struct Record {
    folder: Option<PathBuf>,
    remembered: Mutex<HashMap<String, Remembered>>,
}

impl Record {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            remembered: Mutex::default(),
        }
    }

    /// Opens the folder; `None` before the first session.
    fn sessions(&self) -> io::Result<Option<Sessions>> {
        let folder = self.folder.as_ref().filter(|folder| folder.exists());
        folder
            .map(|folder| Sessions::open(folder).map_err(io::Error::other))
            .transpose()
    }

    /// Returns the exchanges of a session; `None` if it does not exist.
    pub(super) fn exchanges(&self, name: &str) -> Option<Vec<Exchange>> {
        let exchanges = self.sessions().ok()??.exchanges(name).ok()?;
        (!exchanges.is_empty()).then_some(exchanges)
    }

    /// Returns all sessions, in their lists.
    pub(super) fn listed(&self) -> io::Result<Listed> {
        Ok(Listed::of(self.all()?))
    }

    /// Returns those of the words that are references which a receipt of a recorded session names.
    pub(super) fn named<'w>(&self, words: &HashSet<&'w str>) -> io::Result<HashSet<&'w str>> {
        let all = self.all()?;
        let is_named = |word: &&str| all.iter().any(|session| session.references.contains(*word));
        Ok(words.iter().copied().filter(is_named).collect())
    }

    fn all(&self) -> io::Result<Vec<Arc<Summary>>> {
        let Some(sessions) = self.sessions()? else {
            return Ok(Vec::new());
        };
        let mut remembered = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut known = std::mem::take(&mut *remembered);
        let mut all = Vec::new();
        for name in sessions.names() {
            let Some(stamp) = sessions.stamp(&name) else {
                continue;
            };
            let summary = match known.remove(&name) {
                Some((before, summary)) if before == stamp => summary,
                _ => {
                    let exchanges = sessions.exchanges(&name).unwrap_or_default();
                    Summary::of(name.clone(), &exchanges).map(Arc::new)
                }
            };
            all.extend(summary.clone());
            remembered.insert(name, (stamp, summary));
        }
        Ok(all)
    }
}

/// Returns the compactions of a session, with their numbers from 1.
pub(super) fn compactions(exchanges: &[Exchange]) -> impl Iterator<Item = (usize, &Exchange)> {
    let compacted = exchanges
        .iter()
        .filter(|exchange| exchange.action == Action::Compacted);
    (1..).zip(compacted)
}
