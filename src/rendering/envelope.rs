use serde::Serialize;

use crate::error::Problem;

/// The bytes before and after the result in a JSON response.
pub(crate) const ENVELOPE: (&[u8], &[u8]) = (br#"{"statusCode":200,"result":"#, b"}");

/// Returns `{"statusCode":200,"result":…}` around the JSON that `write` appends.
pub(crate) fn enveloped<E>(write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<Vec<u8>, E> {
    let mut body = ENVELOPE.0.to_vec();
    write(&mut body)?;
    body.extend_from_slice(ENVELOPE.1);
    Ok(body)
}

/// Returns `{"statusCode":200,"result":…}` around a value.
pub(crate) fn result<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    enveloped(|body| serde_json::to_writer(body, value)).map_err(Problem::internal)
}

/// Returns `{"statusCode":200,"result":…}` around a struct, with its members beside `result` as well.
pub(crate) fn result_and_members<T: Serialize>(value: &T) -> Result<Vec<u8>, Problem> {
    #[derive(Serialize)]
    struct Beside<'a, T> {
        #[serde(rename = "statusCode")]
        status_code: u16,
        result: &'a T,
        #[serde(flatten)]
        members: &'a T,
    }
    serde_json::to_vec(&Beside { status_code: 200, result: value, members: value }).map_err(Problem::internal)
}
