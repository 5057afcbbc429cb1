use std::fmt;

/// Defines the files: name, the property or column that identifies a row in messages, and description.
macro_rules! folder_files {
    ($($File:ident = $name:literal by $identifier:literal, $doc:literal;)+) => {
        /// A file of a [`Folder`](super::Folder).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FolderFile {
            $(#[doc = concat!("`", $name, "`: ", $doc)] $File,)+
            /// `basemap.geojson`: the base map, which servers read at startup. It is neither part of a data set nor in a store.
            Basemap,
        }

        impl FolderFile {
            /// Every file of a data set. Rows refer only to files that come earlier in this list.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$File),+];

            /// Returns the name of the file in the folder.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$File => $name,)+
                    Self::Basemap => "basemap.geojson",
                }
            }

            pub(super) fn identifier(self) -> &'static str {
                match self {
                    $(Self::$File => $identifier,)+
                    Self::Basemap => "name",
                }
            }
        }
    };
}

folder_files! {
    Areas = "areas.geojson" by "area_id", "the local areas.";
    Regions = "regions.geojson" by "code", "the provinces.";
    Cities = "cities.geojson" by "code", "the cities that have a boundary of their own.";
    Infrastructure = "infrastructure.geojson" by "name", "floodgates, pumps and waterways.";
    Gauges = "gauges.geojson" by "gaugeid", "the gauges.";
    GaugeReadings = "gauge_readings.csv" by "gaugeid", "the readings of the gauges.";
    FloodStates = "flood_states.csv" by "area_id", "the log of flood states.";
    ErasedReports = "erased_reports.csv" by "pkey", "what is left of erased reports.";
    HiddenReports = "hidden_reports.geojson" by "pkey", "the reports that are hidden from readers.";
    Reports = "reports.geojson" by "pkey", "the other reports.";
    Cards = "cards.csv" by "card_id", "the cards.";
    PartnerPosts = "partner_posts.csv" by "post_id", "the posts of the partner feed.";
    ModerationLog = "moderation_log.csv" by "report", "who hid, showed or erased which report.";
}

impl FolderFile {
    pub(in crate::data::folder) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for FolderFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
