use std::io::{self, Write};
use std::marker::PhantomData;

use serde::Serialize;

use super::WriteError;
use super::part_file::PartFile;
use crate::model::{Geometry, geojson};

/// Writes a GeoJSON file with one feature on each line. Coordinates have the fewest digits that parse to the same number.
#[derive(Debug)]
pub struct GeoJsonWriter<T> {
    file: PartFile,
    is_empty: bool,
    of: PhantomData<fn(&T)>,
}

impl<T> GeoJsonWriter<T> {
    pub(super) fn begin(file: PartFile) -> Result<Self, WriteError> {
        let mut writer = Self { file, is_empty: true, of: PhantomData };
        writer.text("{\"type\":\"FeatureCollection\",\"features\":[\n")?;
        Ok(writer)
    }

    pub(in crate::data::folder) fn feature(
        &mut self,
        properties: &impl Serialize,
        geometry: Geometry<'_>,
    ) -> Result<(), WriteError> {
        if !self.is_empty {
            self.text(",\n")?;
        }
        self.is_empty = false;
        let mut line = br#"{"type":"Feature","properties":"#.to_vec();
        let written = serde_json::to_writer(&mut line, properties).map_err(io::Error::from);
        let written = written.and_then(|()| {
            line.extend_from_slice(br#","geometry":"#);
            geojson::geometry(geometry, &mut line);
            line.push(b'}');
            self.file.write_all(&line)
        });
        written.map_err(|source| self.file.unwritable(source))
    }

    /// Completes the file and renames it to its final name.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.text(if self.is_empty { "]}\n" } else { "\n]}\n" })?;
        self.file.finish()
    }

    fn text(&mut self, text: &str) -> Result<(), WriteError> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|source| self.file.unwritable(source))
    }
}
