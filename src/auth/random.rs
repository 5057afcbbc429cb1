//! Random texts that cannot be guessed, from the system's source of randomness.

use ring::rand::{SecureRandom, SystemRandom};

/// The system has no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system has no random numbers")]
pub struct RandomUnavailable;

fn bytes<const N: usize>() -> Result<[u8; N], RandomUnavailable> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| RandomUnavailable)?;
    Ok(bytes)
}

/// Returns `N` random bytes in hexadecimal.
pub(crate) fn hex<const N: usize>() -> Result<String, RandomUnavailable> {
    bytes::<N>().map(hex::encode)
}

/// Returns `N` characters that need no encoding in an address, with 6 random bits each.
pub(crate) fn url_safe<const N: usize>() -> Result<String, RandomUnavailable> {
    Ok(in_addresses(&bytes::<N>()?))
}

/// Returns a character that needs no encoding in an address for each byte, with 6 of its bits.
pub(crate) fn in_addresses(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 64)])).collect()
}
