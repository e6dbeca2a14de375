//! What was tried, for as long as the program runs: the conversation, so that nothing has to be chosen again, and the results,
//! so that they can be downloaded.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

/// The most bytes that are kept, of all tries together.
const MOST: usize = 256 << 20;

/// Tries that are worked on at once.
const AT_ONCE: usize = 2;

/// A conversation that strategies are tried on.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    /// The name of its file.
    pub(super) name: String,
    pub(super) document: Arc<[u8]>,
}

/// A try that is kept.
struct Kept {
    id: String,
    of: Tried,
    /// The documents that came of it.
    results: Vec<Option<Arc<str>>>,
}

impl Kept {
    fn bytes(&self) -> usize {
        let results = self.results.iter().flatten();
        self.of.document.len() + results.map(|result| result.len()).sum::<usize>()
    }
}

/// The newest tries.
pub(super) struct Tries {
    kept: Mutex<VecDeque<Kept>>,
    pub(super) slots: Semaphore,
    ids: RandomState,
}

impl Default for Tries {
    fn default() -> Self {
        Self {
            kept: Mutex::default(),
            slots: Semaphore::new(AT_ONCE),
            ids: RandomState::new(),
        }
    }
}

impl Tries {
    /// Keeps a try, in place of the oldest ones if there are too many. Returns its id, which nobody can guess.
    pub(super) fn keep(&self, of: Tried, results: Vec<Option<Arc<str>>>) -> String {
        let mut kept = self.lock();
        let place = std::time::Instant::now();
        let id = format!(
            "{:016x}{:016x}",
            self.ids.hash_one((place, 0)),
            self.ids.hash_one((place, 1))
        );
        kept.push_back(Kept {
            id: id.clone(),
            of,
            results,
        });
        while kept.len() > 1 && kept.iter().map(Kept::bytes).sum::<usize>() > MOST {
            kept.pop_front();
        }
        id
    }

    /// Returns the conversation of a try.
    pub(super) fn tried(&self, id: &str) -> Option<Tried> {
        let kept = self.lock();
        Some(kept.iter().find(|kept| kept.id == id)?.of.clone())
    }

    /// Returns a result of a try, with the name of the file that it came of.
    pub(super) fn result(&self, id: &str, number: usize) -> Option<(String, Arc<str>)> {
        let kept = self.lock();
        let kept = kept.iter().find(|kept| kept.id == id)?;
        let result = kept.results.get(number)?.clone()?;
        Some((kept.of.name.clone(), result))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_tries_make_room() {
        let tries = Tries::default();
        let of = |bytes: usize| Tried {
            name: "x.json".to_owned(),
            document: vec![0; bytes].into(),
        };
        let first = tries.keep(of(MOST / 2), vec![Some("a".into()), None]);
        let second = tries.keep(of(1), Vec::new());
        assert_ne!(first, second);
        assert!(tries.tried(&first).is_some() && tries.tried("").is_none());
        assert_eq!(
            tries.result(&first, 0).map(|(_, text)| text),
            Some("a".into())
        );
        assert_eq!(tries.result(&first, 1), None);
        let third = tries.keep(of(MOST / 2), Vec::new());
        assert!(tries.tried(&first).is_none());
        assert!(tries.tried(&second).is_some() && tries.tried(&third).is_some());
    }
}
