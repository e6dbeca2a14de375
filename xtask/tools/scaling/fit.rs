//! Fits the exponent of a measure's growth.

/// Above this, something grows worse than n log n, which is about 1.1 at these sizes.
pub(crate) const MOST: f64 = 1.3;

/// The least number of sizes for a fit.
pub(crate) const LEAST_SIZES: usize = 3;

/// A shorter time at the largest size is noise: 20 ms.
pub(crate) const LEAST_SECONDS: f64 = 0.020;

/// Seconds below this count as this: 1 ms.
const FLOOR_SECONDS: f64 = 0.001;

/// The same of memory, in MB: below that it is what every process has.
const LEAST_MEGABYTES: f64 = 512.0;
const FLOOR_MEGABYTES: f64 = 64.0;

/// The measurement at one size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) size: usize,
    pub(crate) seconds: f64,
    /// The time of linear work at this size (`reference.rs`).
    pub(crate) reference: f64,
    /// The peak memory of the process until then, if the system reports it.
    pub(crate) megabytes: Option<f64>,
    /// How it ended, in a word or two.
    pub(crate) outcome: String,
}

/// Slopes of the logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fit {
    /// Over all sizes, by least squares.
    pub(crate) all: f64,
    /// Over the largest three: what is quadratic with a small factor shows there alone.
    pub(crate) top: f64,
}

impl Fit {
    fn of(points: &[(f64, f64)], least: f64, floor: f64) -> Option<Self> {
        let (_, largest) = points.last()?;
        if points.len() < LEAST_SIZES || *largest < least {
            return None;
        }
        let logarithms: Vec<(f64, f64)> = points
            .iter()
            .map(|(size, value)| (size.ln(), value.max(floor).ln()))
            .collect();
        Some(Self {
            all: slope(&logarithms),
            top: slope(&logarithms[logarithms.len() - LEAST_SIZES..]),
        })
    }

    /// Without what the machine adds: linear work grew by `reference` there.
    fn beside(self, reference: Self) -> Self {
        let beyond = |own: f64, reference: f64| own - (reference - 1.0).max(0.0);
        Self {
            all: beyond(self.all, reference.all),
            top: beyond(self.top, reference.top),
        }
    }

    pub(crate) fn worst(self) -> f64 {
        self.all.max(self.top)
    }
}

/// The fit of the times, beside linear work of the same sizes. Sizes that ended in another way than their
/// neighbours, such as at a limit, are fitted apart; the worst counts.
pub(crate) fn times(measured: &[Measured]) -> Option<Fit> {
    measured
        .chunk_by(|one, next| one.outcome == next.outcome)
        .filter_map(|alike| {
            let points = |seconds: fn(&Measured) -> f64| -> Vec<(f64, f64)> {
                let point = |one: &Measured| (one.size as f64, seconds(one));
                alike.iter().map(point).collect()
            };
            let own = Fit::of(&points(|one| one.seconds), LEAST_SECONDS, FLOOR_SECONDS)?;
            let reference = Fit::of(&points(|one| one.reference), 0.0, 0.0)?;
            Some(own.beside(reference))
        })
        .max_by(|one, other| one.worst().total_cmp(&other.worst()))
}

/// The fit of the memory.
pub(crate) fn memory(measured: &[Measured]) -> Option<Fit> {
    let points: Vec<(f64, f64)> = measured
        .iter()
        .filter_map(|one| Some((one.size as f64, one.megabytes?)))
        .collect();
    Fit::of(&points, LEAST_MEGABYTES, FLOOR_MEGABYTES)
}

fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let (over, under) = points.iter().fold((0.0, 0.0), |(over, under), point| {
        let (along, up) = (point.0 - x, point.1 - y);
        (over + along * up, under + along * along)
    });
    over / under
}
