//! Infrastructure and boundaries.

use super::{FreshStore, open};
use crate::model::{AreaSelector, InfrastructureKind};
use crate::stores::{InfrastructureQuery, Store};

async fn names(store: &dyn Store, query: &InfrastructureQuery) -> Vec<String> {
    let layer = store.infrastructure(query).await.unwrap().value;
    layer.0.iter().map(|of| of.name.clone()).collect()
}

pub async fn infrastructure_is_listed_by_kind_then_name(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let all = names(&*store, &InfrastructureQuery::default()).await;
    assert_eq!(all, ["Pintu Air", "Pompa A", "Pompa B", "Ciliwung"]);
}

pub async fn infrastructure_is_selected_by_kind_and_province(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let kind = Some(InfrastructureKind::Pumps);
    let pumps = InfrastructureQuery { kind, ..InfrastructureQuery::default() };
    assert_eq!(names(&*store, &pumps).await, ["Pompa A", "Pompa B"]);
    for selector in [
        AreaSelector { city: None, region: Some("ID-JK".to_owned()) },
        AreaSelector { city: Some("ID-JK".to_owned()), region: None },
    ] {
        let query = InfrastructureQuery { selector, kind };
        assert_eq!(names(&*store, &query).await, ["Pompa B"]);
    }
}

pub async fn boundaries_are_listed_by_code_or_alone(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for (code, expected) in
        [(None, &["ID-JB", "ID-JK"][..]), (Some("ID-JK"), &["ID-JK"]), (Some("ID-AC"), &[])]
    {
        let layer = store.boundaries(code).await.unwrap().value;
        let codes: Vec<_> = layer.0.iter().map(|region| region.code.as_str()).collect();
        assert_eq!(codes, expected, "{code:?}");
    }
}
