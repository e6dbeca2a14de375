//! Writes the seed corpus into `tests/fuzz/corpus`.

use std::fs;
use std::path::Path;

use baler_fuzz_inputs::log;
use baler_generated::{Choices, Kind, conversation};

const SEEDS: u64 = 60;

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for target in ["read", "logs", "cuts", "grow", "remote"] {
        fs::create_dir_all(corpus.join(target))?;
    }
    for seed in 0..SEEDS {
        for kind in Kind::ALL {
            let messages = 1 + usize::try_from(seed % 20).unwrap_or_default();
            let made = conversation(kind, messages, &mut Choices::from_seed(seed));
            let name = format!("{}-{seed}", kind.name());
            fs::write(corpus.join("read").join(name), made.document())?;
        }
        let text = log(&mut Choices::from_seed(seed));
        fs::write(corpus.join("read").join(format!("log-{seed}")), text)?;
        for target in ["logs", "cuts", "grow", "remote"] {
            let mut random = Choices::from_seed(seed);
            let length = 32 << (seed % 8);
            let bytes: Vec<u8> = (0..length)
                .map(|_| u8::try_from(random.below(256)).unwrap_or_default())
                .collect();
            fs::write(corpus.join(target).join(format!("seed-{seed}")), bytes)?;
        }
    }
    Ok(())
}
