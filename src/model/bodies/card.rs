use super::fields::{Fault, Fields, Object, read};
use crate::model::CardHolder;

pub(crate) fn read_card_holder(body: &Object) -> Result<CardHolder, Vec<Fault>> {
    read(body, |fields| {
        let username = fields.required("username", Fields::name);
        let network = fields.required("network", Fields::name);
        let language = fields.required("language", Fields::name);
        let network_data = fields.object("network_data", Fields::raw_json);
        Some(CardHolder {
            username: username?.to_owned(),
            network: network?.to_owned(),
            language: language?.to_owned(),
            network_data,
        })
    })
}
