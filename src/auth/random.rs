//! Unguessable random texts from the operating system.

use ring::rand::{SecureRandom, SystemRandom};

/// The operating system has no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system has no random numbers")]
pub struct RandomUnavailable;

fn bytes<const N: usize>() -> Result<[u8; N], RandomUnavailable> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| RandomUnavailable)?;
    Ok(bytes)
}

pub(crate) fn hex<const N: usize>() -> Result<String, RandomUnavailable> {
    bytes::<N>().map(hex::encode)
}

/// Returns `N` URL-safe characters with 6 random bits each.
pub(crate) fn url_safe<const N: usize>() -> Result<String, RandomUnavailable> {
    Ok(url_safe_text(&bytes::<N>()?))
}

pub(crate) fn url_safe_text(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte % 64)])).collect()
}
