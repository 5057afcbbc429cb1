/// The codes of cities and provinces in a country that requests can select by. **Default: Indonesia's**
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions {
    pub(crate) cities: Vec<String>,
    pub(crate) provinces: Vec<String>,
    /// The provinces with areas and gauges.
    pub(crate) mapped: Vec<String>,
    /// The cities configured by the operator, which select resources of any kind that are located in a city.
    pub(crate) configured: Vec<String>,
}
