/// The cities and provinces of a country, by which requests can select. **Default: those of Indonesia**
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regions {
    /// The codes of cities.
    pub(crate) cities: Vec<String>,
    /// The codes of provinces.
    pub(crate) provinces: Vec<String>,
    /// The provinces with areas and gauges.
    pub(crate) mapped: Vec<String>,
    /// The cities that the operator has configured; by these, all resources can be selected that are in a city.
    pub(crate) configured: Vec<String>,
}
