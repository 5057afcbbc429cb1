//! Encrypts messages for the browser that made a subscription (RFC 8291, with `aes128gcm` of RFC 8188).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom, SystemRandom};

const PUBLIC_KEY: usize = 65;
const SALT: usize = 16;
const AUTH: usize = 16;
/// The largest plaintext that every push service accepts: 4,096 bytes without header, padding and tag.
pub(super) const MAX_PLAINTEXT: usize = 3_993;
/// The size of the only record, larger than it is.
const RECORD_SIZE: u32 = 4_096;

/// The keys of a browser: its public key, and a secret that it shares with this service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrowserKeys {
    public: [u8; PUBLIC_KEY],
    auth: [u8; AUTH],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message cannot be encrypted")]
pub(crate) struct EncryptionError;

/// Decodes base64url, with or without padding.
pub(super) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?.try_into().ok()
}

pub(super) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive<const N: usize>(salt: &[u8], secret: &[u8], info: &[&[u8]]) -> Result<[u8; N], EncryptionError> {
    let mut derived = [0; N];
    let key = Salt::new(HKDF_SHA256, salt).extract(secret);
    let output = key.expand(info, Length(N)).map_err(|_| EncryptionError)?;
    output.fill(&mut derived).map_err(|_| EncryptionError)?;
    Ok(derived)
}

impl BrowserKeys {
    /// Decodes the keys. `None` if the public key is not a point on the curve P-256, or a length is wrong.
    pub(crate) fn decode(public: &str, auth: &str) -> Option<Self> {
        let keys = Self { public: decode(public)?, auth: decode(auth)? };
        // An agreement fails for a point that is not on the curve.
        let own = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).ok()?;
        agree_ephemeral(own, &UnparsedPublicKey::new(&ECDH_P256, keys.public), |_| ()).ok()?;
        Some(keys)
    }

    /// Encrypts a message of at most [`MAX_PLAINTEXT`] bytes as a body with the content encoding `aes128gcm`.
    pub(crate) fn encrypt(&self, message: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        let random = SystemRandom::new();
        let mut salt = [0; SALT];
        random.fill(&mut salt).map_err(|_| EncryptionError)?;
        let own = EphemeralPrivateKey::generate(&ECDH_P256, &random).map_err(|_| EncryptionError)?;
        self.encrypt_with(message, salt, own)
    }

    fn encrypt_with(
        &self,
        message: &[u8],
        salt: [u8; SALT],
        own: EphemeralPrivateKey,
    ) -> Result<Vec<u8>, EncryptionError> {
        if message.len() > MAX_PLAINTEXT {
            return Err(EncryptionError);
        }
        let own_public = own.compute_public_key().map_err(|_| EncryptionError)?;
        let own_public = own_public.as_ref();
        let peer = UnparsedPublicKey::new(&ECDH_P256, self.public);
        let info: [&[u8]; 3] = [b"WebPush: info\0", &self.public, own_public];
        let agreed = |shared: &[u8]| derive::<32>(&self.auth, shared, &info);
        let input = agree_ephemeral(own, &peer, agreed).map_err(|_| EncryptionError)??;
        let key = derive::<16>(&salt, &input, &[b"Content-Encoding: aes128gcm\0"])?;
        let nonce = derive::<12>(&salt, &input, &[b"Content-Encoding: nonce\0"])?;
        // The delimiter of the last record.
        let mut record = [message, &[2]].concat();
        let key = UnboundKey::new(&AES_128_GCM, &key).map_err(|_| EncryptionError)?;
        let nonce = Nonce::assume_unique_for_key(nonce);
        LessSafeKey::new(key)
            .seal_in_place_append_tag(nonce, Aad::empty(), &mut record)
            .map_err(|_| EncryptionError)?;
        let header = [&salt[..], &RECORD_SIZE.to_be_bytes(), &[PUBLIC_KEY as u8], own_public].concat();
        Ok([header, record].concat())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A browser: its private key, and the keys of its subscription.
    pub(in crate::push) struct Browser {
        private: EphemeralPrivateKey,
        pub(in crate::push) public: String,
        pub(in crate::push) auth: String,
    }

    impl Browser {
        pub(in crate::push) fn new() -> Self {
            let random = SystemRandom::new();
            let private = EphemeralPrivateKey::generate(&ECDH_P256, &random).unwrap();
            let public = encode(private.compute_public_key().unwrap().as_ref());
            let mut auth = [0; AUTH];
            random.fill(&mut auth).unwrap();
            Self { private, public, auth: encode(&auth) }
        }

        fn decrypt(self, body: &[u8]) -> Vec<u8> {
            let (salt, rest) = body.split_at(SALT);
            assert_eq!(rest[..5], [&RECORD_SIZE.to_be_bytes()[..], &[65]].concat());
            let (sender, record) = rest[5..].split_at(PUBLIC_KEY);
            let own = decode::<PUBLIC_KEY>(&self.public).unwrap();
            let info: [&[u8]; 3] = [b"WebPush: info\0", &own, sender];
            let auth = decode::<AUTH>(&self.auth).unwrap();
            let agreed = |shared: &[u8]| derive::<32>(&auth, shared, &info).unwrap();
            let sender = UnparsedPublicKey::new(&ECDH_P256, sender);
            let input = agree_ephemeral(self.private, &sender, agreed).unwrap();
            let key = derive::<16>(salt, &input, &[b"Content-Encoding: aes128gcm\0"]).unwrap();
            let nonce = derive::<12>(salt, &input, &[b"Content-Encoding: nonce\0"]).unwrap();
            let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
            let mut record = record.to_vec();
            let nonce = Nonce::assume_unique_for_key(nonce);
            let plain = key.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
            let (last, message) = plain.split_last().unwrap();
            assert_eq!(*last, 2);
            message.to_vec()
        }
    }

    #[test]
    fn a_browser_reads_what_was_encrypted_for_it_up_to_the_largest_message() {
        for length in [0, 1, MAX_PLAINTEXT] {
            let browser = Browser::new();
            let keys = BrowserKeys::decode(&browser.public, &browser.auth).unwrap();
            let message = vec![b'x'; length];
            let body = keys.encrypt(&message).unwrap();
            assert!(body.len() <= RECORD_SIZE as usize, "{}", body.len());
            assert_eq!(browser.decrypt(&body), message);
        }
        let browser = Browser::new();
        let keys = BrowserKeys::decode(&browser.public, &browser.auth).unwrap();
        assert_eq!(keys.encrypt(&[0; MAX_PLAINTEXT + 1]), Err(EncryptionError));
    }

    #[test]
    fn keys_that_are_no_point_on_the_curve_or_have_another_length_are_rejected() {
        let Browser { public, auth, .. } = Browser::new();
        assert!(BrowserKeys::decode(&format!("{public}="), &format!("{auth}==")).is_some(), "with padding");
        let off_the_curve = encode(&[&[4][..], &[1; 64]].concat());
        for (public, auth) in [
            (&*off_the_curve, &*auth),
            (&encode(&[0; 65]), &auth),
            (&public[..80], &auth),
            (&public, &auth[..20]),
            (&public, ""),
            ("", &auth),
            ("not base64!", &auth),
        ] {
            assert_eq!(BrowserKeys::decode(public, auth), None, "{public} {auth}");
        }
    }
}
