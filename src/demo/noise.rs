/// Returns a number in [-1, 1) that depends only on `key`: the finalizer of `SplitMix64`, used as a hash.
///
/// Unlike a sequence of random numbers, it gives both neighbours of a border the same border, and it stays the same
/// with every version of every library.
pub(super) fn noise(key: [u64; 3]) -> f64 {
    let mixed = key.into_iter().fold(0, |state: u64, part| {
        let mut z = state.wrapping_add(part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    });
    // The upper 32 bits, which a double holds exactly.
    f64::from((mixed >> 32) as u32) / f64::from(1u32 << 31) - 1.0
}
