use std::sync::Arc;

use rocket::{State, get};

use crate::described;
use crate::guards::{Authorized, FloodsWrite};
use crate::http::error::Problem;
use crate::openapi::Described;
use crate::rendering::ApiResponse;
use crate::schema::{array, reference};
use crate::stores::AttentionList;

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_attention)
            .summary(
                "Areas that need the attention of the officers who set flood states, the newest reason first",
            )
            .result(array(reference("Attention"))),
    ]
}

#[get("/floods/attention")]
pub(super) async fn list_attention(
    _authorized: Authorized<FloodsWrite>,
    list: &State<Arc<AttentionList>>,
) -> Result<ApiResponse, Problem> {
    ApiResponse::private_result(&*list.get().await?)
}
