//! The figures as tables.

use baler_eval::Sent;

use crate::upstream::Counted;
use crate::way::Replayed;

/// The figures of a session.
pub(crate) struct Row {
    pub(crate) name: String,
    /// The request that a window would have refused, had nothing been compacted.
    pub(crate) ended_at: Option<usize>,
    pub(crate) none: Vec<Counted>,
    pub(crate) baler: Replayed,
    pub(crate) cliff: Option<Replayed>,
    /// Through baler, compacted to the size that CliffCompaction compacts to.
    pub(crate) at_its_size: Option<Replayed>,
}

/// What the requests of a way amount to.
#[derive(Default)]
struct Sum {
    compactions: usize,
    /// Tokens of the requests that were compacted anew, and of those before them.
    to: f64,
    from: f64,
    billed: f64,
    refused: usize,
    between: Between,
}

/// Tokens of requests that were not compacted anew.
#[derive(Default)]
struct Between {
    all: f64,
    cached: f64,
    /// Those that no earlier request had.
    new: f64,
}

impl Between {
    fn cached_share(&self) -> f64 {
        self.cached / self.all.max(1.0)
    }

    /// The share that a cache could serve at best.
    fn best_share(&self) -> f64 {
        1.0 - self.new / self.all.max(1.0)
    }
}

impl Sum {
    /// Adds the requests of a session. `came`: the same as its program sent them.
    fn add(&mut self, sent: &[Counted], came: &[Counted]) {
        let mut before = 0;
        let mut sent_before = 0;
        for (index, (sent, came)) in sent.iter().zip(came).enumerate() {
            if sent.is_compacted {
                self.compactions += 1;
                self.from += f64::from(sent_before);
                self.to += f64::from(sent.tokens);
            }
            self.billed += sent.billed();
            // What was broken when it came is not charged to who passes it on.
            self.refused += usize::from(sent.is_broken && !came.is_broken);
            if index > 0 && !sent.is_compacted {
                self.between.all += f64::from(sent.tokens);
                self.between.cached += f64::from(sent.cached);
                self.between.new += f64::from(came.tokens.saturating_sub(before));
            }
            before = came.tokens;
            sent_before = sent.tokens;
        }
    }

    /// Returns the mean sizes before and after a compaction.
    fn sizes(&self) -> String {
        let count = self.compactions.max(1) as f64;
        format!(
            "{} → {}",
            thousands(self.from / count),
            thousands(self.to / count)
        )
    }

    fn of(sent: &[Counted], came: &[Counted]) -> Self {
        let mut sum = Self::default();
        sum.add(sent, came);
        sum
    }
}

/// Returns the mean of some values; `None` without values.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    (count > 0.0).then(|| sum / count)
}

/// Returns the table of what requests cost.
pub(crate) fn costs(rows: &[Row]) -> String {
    let mut text = "| session | requests | tokens of the last | ends at request | compactions baler, Cliff | of mean sizes | billed as it is | baler | Cliff | baler to as it is | baler to Cliff | from the cache between compactions: baler | at best | Cliff | refused baler, Cliff |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n".to_owned();
    let [mut none, mut baler, mut cliff] = [Sum::default(), Sum::default(), Sum::default()];
    let mut requests = 0;
    let has_cliff = rows.iter().all(|row| row.cliff.is_some());
    for row in rows {
        requests += row.none.len();
        none.add(&row.none, &row.none);
        baler.add(&row.baler.counted, &row.none);
        let of_cliff = row.cliff.as_ref().map(|own| {
            cliff.add(&own.counted, &row.none);
            Sum::of(&own.counted, &row.none)
        });
        let last = row.none.last().map_or(0, |last| last.tokens);
        let ended = row
            .ended_at
            .map_or_else(|| "–".to_owned(), |at| (at + 1).to_string());
        let begin = [
            row.name.clone(),
            row.none.len().to_string(),
            thousands(f64::from(last)),
            ended,
        ];
        let sums = [
            &Sum::of(&row.none, &row.none),
            &Sum::of(&row.baler.counted, &row.none),
        ];
        text += &cost(begin, sums, of_cliff.as_ref());
    }
    let begin = [
        "all".to_owned(),
        requests.to_string(),
        String::new(),
        String::new(),
    ];
    let of_cliff = Some(&cliff).filter(|_| has_cliff);
    text + &cost(begin, [&none, &baler], of_cliff)
}

fn cost(begin: [String; 4], [none, baler]: [&Sum; 2], cliff: Option<&Sum>) -> String {
    let of = |value: &dyn Fn(&Sum) -> String| cliff.map_or_else(|| "–".to_owned(), value);
    let mut cells = begin.to_vec();
    cells.extend([
        format!(
            "{}, {}",
            baler.compactions,
            of(&|cliff| cliff.compactions.to_string())
        ),
        format!("{}, {}", baler.sizes(), of(&Sum::sizes)),
        thousands(none.billed),
        thousands(baler.billed),
        of(&|cliff| thousands(cliff.billed)),
        format!("{:.2}", baler.billed / none.billed),
        of(&|cliff| format!("{:.2}", baler.billed / cliff.billed)),
        percent(Some(baler.between.cached_share())),
        percent(Some(baler.between.best_share())),
        of(&|cliff| percent(Some(cliff.between.cached_share()))),
        format!(
            "{}, {}",
            baler.refused,
            of(&|cliff| cliff.refused.to_string())
        ),
    ]);
    line(&cells)
}

/// Returns the table of what is still there, of baler and of CliffCompaction at the same size.
pub(crate) fn kept(rows: &[Row]) -> String {
    let mut text = "| session | compactions baler, Cliff | of mean sizes | tokens when measured | billed | user's words | at the end | user's rules | recall |\n|---|---|---|---|---|---|---|---|---|\n".to_owned();
    let mut all: [Vec<Kept>; 2] = Default::default();
    let (mut of_baler, mut of_cliff) = (Sum::default(), Sum::default());
    for row in rows {
        let baler = row.at_its_size.as_ref().unwrap_or(&row.baler);
        of_baler.add(&baler.counted, &row.none);
        let mut kept = vec![Kept::of(baler)];
        let mut sums = vec![Sum::of(&baler.counted, &row.none)];
        if let Some(cliff) = &row.cliff {
            of_cliff.add(&cliff.counted, &row.none);
            kept.push(Kept::of(cliff));
            sums.push(Sum::of(&cliff.counted, &row.none));
        }
        text += &quality(&row.name, &sums, &kept);
        for (all, own) in all.iter_mut().zip(kept) {
            all.push(own);
        }
    }
    let kept: Vec<Kept> = all
        .iter()
        .filter(|all| !all.is_empty())
        .map(|all| Kept::mean(all))
        .collect();
    text + &quality("all", &[of_baler, of_cliff][..kept.len()], &kept)
}

/// Means of what is still there. Shares are from 0 to 1.
struct Kept {
    tokens: Option<f64>,
    words: Option<f64>,
    /// Of the last request.
    last_words: Option<f64>,
    rules: Option<f64>,
    recall: Option<f64>,
}

impl Kept {
    fn of(replayed: &Replayed) -> Self {
        let share =
            |of: &dyn Fn(&Sent) -> Option<f64>| mean(replayed.measured.values().filter_map(of));
        let counted = replayed.measured.keys();
        let counted = counted.filter_map(|index| replayed.counted.get(*index));
        Self {
            tokens: mean(counted.map(|one| f64::from(one.tokens))),
            words: share(&|sent| sent.words),
            last_words: replayed
                .measured
                .values()
                .last()
                .and_then(|sent| sent.words),
            rules: share(&|sent| sent.rules),
            recall: share(&|sent| sent.recall),
        }
    }

    fn mean(all: &[Self]) -> Self {
        let of = |value: &dyn Fn(&Self) -> Option<f64>| mean(all.iter().filter_map(value));
        Self {
            tokens: of(&|kept| kept.tokens),
            words: of(&|kept| kept.words),
            last_words: of(&|kept| kept.last_words),
            rules: of(&|kept| kept.rules),
            recall: of(&|kept| kept.recall),
        }
    }
}

fn quality(name: &str, sums: &[Sum], kept: &[Kept]) -> String {
    let of_sums = |value: &dyn Fn(&Sum) -> String| {
        let values: Vec<String> = sums.iter().map(value).collect();
        values.join(", ")
    };
    let of_kept = |value: &dyn Fn(&Kept) -> String| {
        let values: Vec<String> = kept.iter().map(value).collect();
        values.join(", ")
    };
    line(&[
        name.to_owned(),
        of_sums(&|sum| sum.compactions.to_string()),
        of_sums(&Sum::sizes),
        of_kept(&|kept| kept.tokens.map_or_else(|| "–".to_owned(), thousands)),
        of_sums(&|sum| thousands(sum.billed)),
        of_kept(&|kept| percent(kept.words)),
        of_kept(&|kept| percent(kept.last_words)),
        of_kept(&|kept| percent(kept.rules)),
        of_kept(&|kept| percent(kept.recall)),
    ])
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

/// Writes a number in thousands.
fn thousands(value: f64) -> String {
    format!("{:.1}k", value / 1_000.0)
}
