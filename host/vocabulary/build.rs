//! Writes the tables of the vocabulary: its tokens, a hash table over them, and the class of each character.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

#[path = "src/hash.rs"]
mod hash;

/// The classes of `src/split.rs`: what each holds, and its number. A later one takes characters from an earlier one.
const CLASSES: [(&str, u8); 7] = [
    (r"\p{M}", 4),
    (r"[\p{Lu}\p{Lt}]", 1),
    (r"\p{Ll}", 2),
    (r"[\p{Lm}\p{Lo}]", 3),
    (r"\p{N}", 5),
    (r"\s", 6),
    (r"[\r\n]", 7),
];

/// Characters whose classes stand together.
const BLOCK: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/hash.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let tokens = tokens()?;
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    for token in &tokens {
        bytes.extend_from_slice(token);
        ends.push(u32::try_from(bytes.len())?);
    }
    fs::write(folder.join("tokens.bin"), bytes)?;
    fs::write(folder.join("ends.bin"), little_endian(&ends))?;
    fs::write(folder.join("slots.bin"), little_endian(&slots(&tokens)?))?;
    fs::write(folder.join("pairs.bin"), little_endian(&pairs(&tokens)?))?;
    let (blocks, classes) = classes()?;
    fs::write(folder.join("blocks.bin"), blocks)?;
    fs::write(folder.join("classes.bin"), classes)?;
    Ok(())
}

/// Returns the bytes of each token, by rank.
fn tokens() -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let vocabulary = tiktoken::get_encoding("o200k_base").ok_or("tiktoken has o200k_base")?;
    let ranks = 0..u32::try_from(vocabulary.vocab_size())?;
    let tokens: Vec<Vec<u8>> = ranks.map(|rank| vocabulary.decode(&[rank])).collect();
    // A rank without a token would give an empty one. The merge relies on every rank having a token.
    if tokens.iter().any(Vec::is_empty) || tokens.len() >> hash::RANK_BITS != 0 {
        return Err("the ranks of o200k_base have gaps, or are too many for a slot".into());
    }
    Ok(tokens)
}

/// Returns the hash table: open addressing with linear probing, 0 for an empty slot.
fn slots(tokens: &[Vec<u8>]) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut slots = vec![0; hash::SLOTS];
    for (rank, token) in tokens.iter().enumerate() {
        let (mut slot, tag) = hash::place(token);
        while slots[slot] != 0 {
            slot = (slot + 1) % hash::SLOTS;
        }
        slots[slot] = tag << hash::RANK_BITS | (u32::try_from(rank)? + 1);
    }
    Ok(slots)
}

/// Returns the rank of each pair of bytes, `u32::MAX` for a pair that is not a token.
fn pairs(tokens: &[Vec<u8>]) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut pairs = vec![u32::MAX; 1 << 16];
    for (rank, token) in tokens.iter().enumerate() {
        if let [first, second] = **token {
            pairs[usize::from(first) << 8 | usize::from(second)] = u32::try_from(rank)?;
        }
    }
    Ok(pairs)
}

/// Returns the number of the block of each 256 characters, and the blocks.
fn classes() -> Result<(Vec<u8>, Vec<u8>), Box<dyn Error>> {
    let mut of_all = vec![0; char::MAX as usize + 1];
    for (pattern, class) in CLASSES {
        let hir = regex_syntax::parse(pattern)?;
        let regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(set)) = hir.kind()
        else {
            return Err("a class has characters".into());
        };
        for range in set.ranges() {
            of_all[range.start() as usize..=range.end() as usize].fill(class);
        }
    }
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut numbers = Vec::new();
    for block in of_all.chunks(BLOCK) {
        let known = blocks.iter().position(|known| *known == block);
        let number = known.unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        numbers.push(u8::try_from(number)?);
    }
    Ok((numbers, blocks.concat()))
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}
