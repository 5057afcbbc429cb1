use ring::hmac;
use rocket::data::ByteUnit;
use rocket::tokio::sync::OnceCell;

use super::{ImageError, ImageType, names};
use crate::auth::{Secret, random};
use crate::http::quotas::Client;
use crate::model::{CardId, SenderHash, Upload};
use crate::stores::Store;

/// What a signed upload address permits: to upload one image of one type until the address expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UploadPermit {
    pub(super) upload: Upload,
    pub(crate) image_type: ImageType,
    /// Unix time in seconds.
    pub(super) expires: i64,
}

impl UploadPermit {
    pub(super) fn name(&self) -> String {
        names::upload(&self.upload, self.image_type.extension())
    }

    pub(super) fn parse(name: &str, expires: &str) -> Option<Self> {
        let (upload, extension) = names::parse_upload(name)?;
        let image_type = ImageType::from_extension(extension)?;
        // Accepts only the canonical form, so that each permit has exactly one address.
        let expires = expires.parse().ok().filter(|number: &i64| number.to_string() == expires)?;
        Some(Self { upload, image_type, expires })
    }
}

/// The signing key: the configured one, or the store's, read on first use.
#[derive(Debug)]
pub(super) struct SigningKeyCell {
    key: OnceCell<SigningKey>,
    max_bytes: ByteUnit,
}

impl SigningKeyCell {
    pub(super) fn new(configured: Option<&Secret>, max_bytes: ByteUnit) -> Self {
        let configured = configured.map(|secret| SigningKey::new(secret, max_bytes));
        Self { key: OnceCell::new_with(configured), max_bytes }
    }

    /// Returns the key. Stores a new one if the store has none.
    pub(super) async fn key(&self, store: &dyn Store) -> Result<&SigningKey, ImageError> {
        let read = || async {
            let secret = store.signing_key(&random::hex::<32>()?.into()).await?;
            Ok(SigningKey::new(&secret, self.max_bytes))
        };
        self.key.get_or_try_init(read).await
    }
}

/// Signs and verifies upload addresses: HMAC-SHA-256 over the method, name, type, maximum size and expiry.
#[derive(Clone, Debug)]
pub(super) struct SigningKey {
    key: hmac::Key,
    max_bytes: ByteUnit,
}

impl SigningKey {
    pub(super) fn new(secret: &Secret, max_bytes: ByteUnit) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes()), max_bytes }
    }

    pub(super) fn sign(&self, permit: &UploadPermit) -> String {
        hex::encode(hmac::sign(&self.key, self.message(permit).as_bytes()))
    }

    /// Verifies a signature in constant time.
    pub(super) fn verify(&self, permit: &UploadPermit, signature: &str) -> bool {
        let Ok(bytes) = hex::decode(signature) else { return false };
        let is_canonical = !signature.bytes().any(|digit| digit.is_ascii_uppercase());
        is_canonical && hmac::verify(&self.key, self.message(permit).as_bytes(), &bytes).is_ok()
    }

    /// Returns the photo token of a card: an HMAC over a text that is never the [`message`](Self::message) of an upload address.
    pub(super) fn photo_token(&self, card: &CardId) -> String {
        hex::encode(hmac::sign(&self.key, photo_message(card).as_bytes()))
    }

    /// Verifies a photo token in constant time.
    pub(super) fn is_photo_token(&self, token: &str, card: &CardId) -> bool {
        hex::decode(token)
            .is_ok_and(|tag| hmac::verify(&self.key, photo_message(card).as_bytes(), &tag).is_ok())
    }

    /// Derives the identifier of a card from the token of a form, in URL-safe characters.
    pub(super) fn card_of_form(&self, token: &str) -> String {
        let tag = hmac::sign(&self.key, format!("form\n{token}").as_bytes());
        random::url_safe_text(&tag.as_ref()[..CardId::NEW_LENGTH])
    }

    pub(super) fn sender_hash(&self, client: &Client) -> SenderHash {
        let tag = hmac::sign(&self.key, format!("sender\n{client:?}").as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&tag.as_ref()[..8]);
        SenderHash::new(first)
    }

    fn message(&self, permit: &UploadPermit) -> String {
        let (name, media_type) = (permit.name(), permit.image_type.media_type());
        format!("PUT\n{name}\n{media_type}\n{}\n{}", self.max_bytes.as_u64(), permit.expires)
    }
}

fn photo_message(card: &CardId) -> String {
    format!("photo\n{card}")
}

#[cfg(test)]
mod tests {
    use rocket::data::ToByteUnit;

    use super::*;

    fn permit() -> UploadPermit {
        let upload = Upload { card: "abcdefg".parse().unwrap(), turn: 0 };
        UploadPermit { upload, image_type: ImageType::Jpeg, expires: 1_482_163_200 }
    }

    fn key(secret: &str) -> SigningKey {
        SigningKey::new(&Secret::from(secret.to_owned()), 20.mebibytes())
    }

    #[test]
    fn an_address_parses_to_its_permit() {
        assert_eq!(permit().name(), "abcdefg.0.jpeg");
        assert_eq!(UploadPermit::parse("abcdefg.0.jpeg", "1482163200"), Some(permit()));
        for (name, expires) in [
            ("abcdefg.0.jpeg", "+1482163200"),
            ("abcdefg.0.jpeg", "01482163200"),
            ("abcdefg.0.jpeg", "99999999999999999999"),
            ("abcdefg.0.svg", "1"),
            ("abcdefg.0", "1"),
        ] {
            assert_eq!(UploadPermit::parse(name, expires), None, "{name} {expires}");
        }
    }

    #[test]
    fn a_photo_token_is_valid_for_one_card_and_one_key_only() {
        let card = |id: &str| id.parse::<CardId>().unwrap();
        let token = key("a secret").photo_token(&card("abcdefg"));
        assert_eq!(token.len(), 64);
        assert!(key("a secret").is_photo_token(&token, &card("abcdefg")));
        assert!(!key("a secret").is_photo_token(&token, &card("abcdefh")));
        assert!(!key("another").is_photo_token(&token, &card("abcdefg")));
        for forged in ["", "00", "x", &token[..62], &format!("{token}00")] {
            assert!(!key("a secret").is_photo_token(forged, &card("abcdefg")), "{forged}");
        }
    }

    #[test]
    fn a_signature_is_valid_for_one_permit_and_one_key_only() {
        let own = key("a secret");
        let signature = own.sign(&permit());
        assert!(own.verify(&permit(), &signature));
        let upload = |card: &str, turn| Upload { card: card.parse().unwrap(), turn };
        for other in [
            UploadPermit { upload: upload("abcdefh", 0), ..permit() },
            UploadPermit { upload: upload("abcdefg", 1), ..permit() },
            UploadPermit { image_type: ImageType::Png, ..permit() },
            UploadPermit { expires: permit().expires + 1, ..permit() },
        ] {
            assert!(!own.verify(&other, &signature), "{other:?}");
        }
        for foreign in [key("another"), SigningKey { max_bytes: 21.mebibytes(), ..own.clone() }] {
            assert!(!foreign.verify(&permit(), &signature));
        }
        for forged in [&*signature.to_uppercase(), "", "x", &signature[..62], &format!("{signature}00")] {
            assert!(!own.verify(&permit(), forged), "{forged}");
        }
    }
}
