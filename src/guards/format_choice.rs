use std::marker::PhantomData;
use std::sync::Arc;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::{Query, Resource, managed};
use crate::error::{Problem, Source};
use crate::formats::{Container, Format, FormatRegistry};
use crate::model::LayerKind;

/// The format chosen by the query parameters `format` (the container) and `geoformat` (the format's name).
///
/// Either follows from the other where only one is given; without both it is the configured default.
#[derive(Clone, Debug)]
pub struct FormatChoice<R> {
    /// The format, which carries the layers of the resource.
    pub format: Arc<dyn Format>,
    resource: PhantomData<R>,
}

#[rocket::async_trait]
impl<'r, R: Resource> FromRequest<'r> for FormatChoice<R> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let format = managed(request).and_then(|registry| choice(Query::of(request), registry, R::LAYER));
        Problem::outcome(request, format.map(|format| Self { format, resource: PhantomData }))
    }
}

fn choice(query: Query<'_>, registry: &FormatRegistry, kind: LayerKind) -> Result<Arc<dyn Format>, Problem> {
    let containers: Vec<&str> = registry.containers(kind).into_iter().map(|Container(name)| name).collect();
    let names: Vec<&str> = registry.carrying(kind).map(|format| format.name()).collect();
    let container = query.one_of("format", &containers)?;
    let name = query.one_of("geoformat", &names)?;
    let mut matching = registry.carrying(kind).filter(|format| {
        container.is_none_or(|&container| format.container().0 == container)
            && name.is_none_or(|&name| format.name() == name)
    });
    matching.next().cloned().ok_or_else(|| match (container, name) {
        (Some(container), Some(name)) => Problem::contradictory(
            Source::Query,
            &["format", "geoformat"],
            format!("\"format\" {container} and \"geoformat\" {name} do not go together"),
        ),
        _ => Problem::internal("no enabled format carries the layer"),
    })
}
