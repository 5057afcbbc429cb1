use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ExtendedColorType, GrayImage, RgbImage};

use super::flatten::Layout;
use super::{NotAPhoto, Photo};

const QUALITY: u8 = 82;

pub(super) struct Picture {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) layout: Layout,
    pub(super) samples: Vec<u8>,
}

impl Picture {
    /// Shrinks the picture until no side is longer than `max_side` pixels, keeping its ratio. Each side keeps at least one pixel.
    pub(super) fn shrink(self, max_side: u32) -> Result<Self, NotAPhoto> {
        let max_side = max_side.max(1);
        let longest = self.width.max(self.height);
        if longest <= max_side {
            return Ok(self);
        }
        let scaled = |side: u32| {
            let (side, max_side, longest) = (u64::from(side), u64::from(max_side), u64::from(longest));
            ((side * max_side + longest / 2) / longest).max(1) as u32
        };
        let (width, height) = (scaled(self.width), scaled(self.height));
        let pixel = match self.layout {
            Layout::Gray => PixelType::U8,
            Layout::Rgb => PixelType::U8x3,
        };
        let source =
            ImageRef::new(self.width, self.height, &self.samples, pixel).map_err(NotAPhoto::undecodable)?;
        let mut target = Image::new(width, height, pixel);
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom));
        Resizer::new().resize(&source, &mut target, &options).map_err(NotAPhoto::undecodable)?;
        Ok(Self { width, height, layout: self.layout, samples: target.into_vec() })
    }

    pub(super) fn orient(self, orientation: Orientation) -> Result<Self, NotAPhoto> {
        if orientation == Orientation::NoTransforms {
            return Ok(self);
        }
        let Self { width, height, layout, samples } = self;
        let image = match layout {
            Layout::Gray => GrayImage::from_raw(width, height, samples).map(DynamicImage::ImageLuma8),
            Layout::Rgb => RgbImage::from_raw(width, height, samples).map(DynamicImage::ImageRgb8),
        };
        let mut image = image.ok_or_else(|| NotAPhoto::undecodable("it has fewer samples than pixels"))?;
        image.apply_orientation(orientation);
        Ok(Self { width: image.width(), height: image.height(), layout, samples: image.into_bytes() })
    }

    pub(super) fn encode(self) -> Result<Photo, NotAPhoto> {
        let Self { width, height, layout, samples } = self;
        let color = match layout {
            Layout::Gray => ExtendedColorType::L8,
            Layout::Rgb => ExtendedColorType::Rgb8,
        };
        let mut jpeg = Vec::new();
        JpegEncoder::new_with_quality(&mut jpeg, QUALITY)
            .encode(&samples, width, height, color)
            .map_err(NotAPhoto::undecodable)?;
        Ok(Photo { jpeg, width, height })
    }
}
