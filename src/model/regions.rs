/// The codes of cities and provinces in a country that requests can select by. **Default: Indonesia's**
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions {
    pub(crate) cities: Vec<String>,
    pub(crate) provinces: Vec<String>,
    /// The provinces with areas and gauges.
    pub(crate) mapped: Vec<String>,
    /// The codes of cities configured by the operator, by which requests select any kind of resource located in a city.
    pub(crate) configured: Vec<String>,
}
