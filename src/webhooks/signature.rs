//! Signatures of Standard Webhooks 1.0, by which receivers verify that a request comes from this service.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

use crate::auth::Secret;

const PREFIX: &str = "whsec_";

#[derive(Clone, Debug, Default)]
pub(super) struct Signer(Vec<hmac::Key>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be whsec_ and 24 to 64 random bytes in Base64, such as the output of: echo whsec_$(openssl rand -base64 32)"
)]
pub(super) struct InvalidSecret;

impl Signer {
    /// Decodes the secrets. On error, returns the position of the invalid secret.
    pub(super) fn new<'s>(
        secrets: impl IntoIterator<Item = &'s Secret>,
    ) -> Result<Self, (usize, InvalidSecret)> {
        let key = |(position, secret): (usize, &Secret)| key(secret).ok_or((position, InvalidSecret));
        secrets.into_iter().enumerate().map(key).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the value of `webhook-signature`: one signature for each key, `None` without keys.
    pub(super) fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> Option<String> {
        let signed = self.0.iter().map(|key| {
            let mut context = hmac::Context::with_key(key);
            context.update(format!("{id}.{timestamp}.").as_bytes());
            context.update(body);
            format!("v1,{}", STANDARD.encode(context.sign()))
        });
        let signatures: Vec<_> = signed.collect();
        (!signatures.is_empty()).then(|| signatures.join(" "))
    }
}

fn key(secret: &Secret) -> Option<hmac::Key> {
    let bytes = STANDARD.decode(secret.expose().strip_prefix(PREFIX)?).ok()?;
    (24..=64).contains(&bytes.len()).then(|| hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        text.to_owned().into()
    }

    #[test]
    fn signs_the_example_of_the_standard() {
        let signer = Signer::new([&secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]).unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signature = signer.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body).unwrap();
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn signs_with_two_secrets_and_rejects_invalid_ones() {
        let [old, new] = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"];
        let both = Signer::new([&secret(new), &secret(old)]).unwrap().sign("a", 1, b"x").unwrap();
        let alone = |text| Signer::new([&secret(text)]).unwrap().sign("a", 1, b"x").unwrap();
        assert_eq!(both, format!("{} {}", alone(new), alone(old)));
        assert_eq!(Signer::default().sign("a", 1, b"x"), None);
        for wrong in ["", "whsec_", "whsec_c2hvcnQ=", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!!"] {
            assert_eq!(Signer::new([&secret(old), &secret(wrong)]).unwrap_err().0, 1, "{wrong}");
        }
    }
}
