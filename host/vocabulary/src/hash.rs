//! Where a token stands in the hash table. The build script writes the table by it.

/// Slots of the table, three quarters of them used.
pub(crate) const SLOTS: usize = 1 << 18;

/// Bits of a slot for the rank of its token plus one, so that 0 is an empty slot. The others hold the tag, which tells most
/// tokens apart without a look at their bytes.
pub(crate) const RANK_BITS: u32 = 18;

/// Returns the first slot for these bytes, and their tag.
#[inline]
pub(crate) fn place(bytes: &[u8]) -> (usize, u32) {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let chunk = chunk
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte));
        hash = (hash.rotate_left(5) ^ chunk).wrapping_mul(MULTIPLIER);
    }
    let rest = chunks.remainder();
    let rest = rest
        .iter()
        .rev()
        .fold(0, |all, byte| all << 8 | u64::from(*byte));
    hash = (hash.rotate_left(5) ^ rest).wrapping_mul(MULTIPLIER);
    hash ^= hash >> 32;
    let slot = (hash as usize) % SLOTS;
    (slot, (hash >> 40) as u32 & ((1 << (32 - RANK_BITS)) - 1))
}
