//! What a linear piece of work costs at the same size, in the same process: the caches of a machine
//! end somewhere, and where they do, all work costs more for each of its pieces.

use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

/// The quickest of so many runs counts.
const RUNS: usize = 3;

/// The seconds that a table takes which holds a document in this many pieces, each under a name of its
/// own: making it, finding every piece, from the last to the first, and giving the memory back.
pub(crate) fn seconds(document: &str, pieces: usize) -> f64 {
    let bytes = document.len().div_ceil(pieces.max(1)).max(1);
    let run = || {
        let start = Instant::now();
        let name = |piece: usize| format!("piece_{piece:08}");
        let mut table = HashMap::new();
        for (piece, content) in document.as_bytes().chunks(bytes).enumerate() {
            table.insert(name(piece), content.to_vec());
        }
        for piece in (0..pieces).rev() {
            black_box(table.get(&name(piece)));
        }
        drop(table);
        start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}
