//! Infrastructure and boundaries.

use super::{FreshStore, open};
use crate::fixture;
use siaga::model::{AreaSelector, InfrastructureKind};
use siaga::stores::Store;

async fn names(store: &dyn Store, selector: &AreaSelector, kind: Option<InfrastructureKind>) -> Vec<String> {
    let layer = store.places().await.unwrap().value.infrastructure_layer(selector, kind);
    layer.0.iter().map(|piece| piece.name.clone()).collect()
}

pub async fn infrastructure_is_listed_by_kind_then_name(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let all = names(&*store, &AreaSelector::default(), None).await;
    assert_eq!(all, ["Pintu Air", "Pompa A", "Pompa B", "Ciliwung"]);
}

pub async fn infrastructure_is_selected_by_kind_and_province(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let kind = Some(InfrastructureKind::Pumps);
    assert_eq!(names(&*store, &AreaSelector::default(), kind).await, ["Pompa A", "Pompa B"]);
    for selector in [
        AreaSelector { city: None, region: Some("ID-JK".to_owned()) },
        AreaSelector { city: Some("ID-JK".to_owned()), region: None },
    ] {
        assert_eq!(names(&*store, &selector, kind).await, ["Pompa B"]);
    }
}

pub async fn infrastructure_without_an_identifier_gets_one(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let places = store.places().await.unwrap().value;
    let ids: Vec<_> = places.infrastructure().iter().map(|piece| piece.id.as_str()).collect();
    let expected: Vec<_> = fixture::places().infrastructure().iter().map(|piece| piece.id.clone()).collect();
    assert_eq!(ids, expected);
    assert_eq!(ids[2], "P-17");
    assert!([0, 1, 3].iter().all(|index| ids[*index].len() == 16), "{ids:?}");
}

pub async fn all_boundaries_are_listed_in_code_order_or_only_the_one_with_a_code(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    for (code, expected) in
        [(None, &["ID-JB", "ID-JK"][..]), (Some("ID-JK"), &["ID-JK"]), (Some("ID-AC"), &[])]
    {
        let layer = store.places().await.unwrap().value.boundary_layer(code);
        let codes: Vec<_> = layer.0.iter().map(|region| region.code.as_str()).collect();
        assert_eq!(codes, expected, "{code:?}");
    }
}
