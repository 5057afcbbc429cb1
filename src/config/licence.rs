use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use url::Url;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub(crate) struct Licence {
    /// The terms in one line. **Default: `Non-commercial use is free with attribution. Commercial use needs attribution and a
    /// separate agreement.`**
    pub terms: String,
    /// The address of the licence. If set, every response links to it (`Link: …; rel="license"`, RFC 8288). **Default: none**
    #[serde(deserialize_with = "address")]
    pub url: Option<Url>,
}

impl Default for Licence {
    fn default() -> Self {
        let terms = "Non-commercial use is free with attribution. Commercial use needs attribution and a separate agreement.";
        Self { terms: terms.to_owned(), url: None }
    }
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Url>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.map(Some).ok_or_else(|| D::Error::custom("must be an address such as https://example.org/licence"))
}
