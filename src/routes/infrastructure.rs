use std::sync::Arc;

use rocket::{State, get};

use super::{Answer, Encoder};
use crate::error::Problem;
use crate::guards::{
    Caller, FormatChoice, Infrastructure, InfrastructureType, InfrastructureTypeParam, Select,
};
use crate::model::{InfrastructureKind, Layer};
use crate::stores::{InfrastructureQuery, Store};

/// `GET /infrastructure`: floodgates, pumps and waterways, or one kind of them.
#[get("/infrastructure")]
pub(super) async fn list_infrastructure(
    _caller: Caller,
    kind: InfrastructureType,
    select: Select<Infrastructure>,
    choice: FormatChoice<Infrastructure>,
    store: &State<Arc<dyn Store>>,
    encoder: &State<Encoder>,
) -> Result<Answer, Problem> {
    list(kind.0, select, choice, store, encoder).await
}

/// `GET /infrastructure/:type`: one kind of infrastructure.
#[get("/infrastructure/<kind>")]
pub(super) async fn list_infrastructure_of_type(
    _caller: Caller,
    kind: Result<InfrastructureTypeParam, Problem>,
    select: Select<Infrastructure>,
    choice: FormatChoice<Infrastructure>,
    store: &State<Arc<dyn Store>>,
    encoder: &State<Encoder>,
) -> Result<Answer, Problem> {
    list(Some(kind?.0), select, choice, store, encoder).await
}

async fn list(
    kind: Option<InfrastructureKind>,
    select: Select<Infrastructure>,
    choice: FormatChoice<Infrastructure>,
    store: &State<Arc<dyn Store>>,
    encoder: &State<Encoder>,
) -> Result<Answer, Problem> {
    let query = InfrastructureQuery { selector: select.areas, kind };
    let layer = Layer::Infrastructure(store.infrastructure(&query).await?.value);
    encoder.answer(choice.format, layer).await
}
