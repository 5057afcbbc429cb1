use std::fmt;

/// A file of a [`Folder`](super::Folder).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FolderFile {
    /// `areas.geojson`: the local areas.
    Areas,
    /// `regions.geojson`: the provinces.
    Regions,
    /// `cities.geojson`: the cities that have a boundary of their own.
    Cities,
    /// `infrastructure.geojson`: floodgates, pumps and waterways.
    Infrastructure,
    /// `gauges.geojson`: the gauges.
    Gauges,
    /// `gauge_readings.csv`: what was read at the gauges.
    GaugeReadings,
    /// `flood_states.csv`: the log of flood states.
    FloodStates,
    /// `reports.geojson`: the reports.
    Reports,
    /// `cards.csv`: the cards.
    Cards,
    /// `partner_posts.csv`: the posts of the partner feed.
    PartnerPosts,
}

impl FolderFile {
    /// Every file, those first that others refer to.
    pub const ALL: [Self; 10] = [
        Self::Areas,
        Self::Regions,
        Self::Cities,
        Self::Infrastructure,
        Self::Gauges,
        Self::GaugeReadings,
        Self::FloodStates,
        Self::Reports,
        Self::Cards,
        Self::PartnerPosts,
    ];

    /// Its name in the folder.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Areas => "areas.geojson",
            Self::Regions => "regions.geojson",
            Self::Cities => "cities.geojson",
            Self::Infrastructure => "infrastructure.geojson",
            Self::Gauges => "gauges.geojson",
            Self::GaugeReadings => "gauge_readings.csv",
            Self::FloodStates => "flood_states.csv",
            Self::Reports => "reports.geojson",
            Self::Cards => "cards.csv",
            Self::PartnerPosts => "partner_posts.csv",
        }
    }
}

impl FolderFile {
    /// Returns the names of all files, for messages.
    pub(in crate::datasets) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The property or column by which messages name a row.
    pub(super) fn identifier(self) -> &'static str {
        match self {
            Self::Areas | Self::FloodStates => "area_id",
            Self::Regions | Self::Cities => "code",
            Self::Infrastructure => "name",
            Self::Gauges | Self::GaugeReadings => "gaugeid",
            Self::Reports => "pkey",
            Self::Cards => "card_id",
            Self::PartnerPosts => "post_id",
        }
    }
}

impl fmt::Display for FolderFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
