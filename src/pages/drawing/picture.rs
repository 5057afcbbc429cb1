use geo::Coord;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, ImageResult};
use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Shader, Stroke,
    Transform,
};

use super::Ring;
use crate::model::FloodState;

/// Width and height in pixels, as services show the picture of a link.
pub(crate) const PICTURE_SIZE: [u16; 2] = [1200, 630];
const WIDTH: u16 = PICTURE_SIZE[0];
const HEIGHT: u16 = PICTURE_SIZE[1];

/// A picture of a map without words, for a link that somebody shares.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    pub(crate) land: Vec<Vec<Ring>>,
    pub(crate) floods: Vec<DrawnFlood>,
    /// The selected area.
    pub(crate) chosen: Vec<Ring>,
    /// Whether floods may be missing: then the picture has grey stripes.
    pub(crate) is_doubtful: bool,
    /// Whether nothing is real: then the picture has a red frame.
    pub(crate) is_exercise: bool,
}

#[derive(Debug)]
pub(crate) struct DrawnFlood {
    pub(crate) state: FloodState,
    pub(crate) is_unconfirmed: bool,
    pub(crate) rings: Vec<Ring>,
}

// The colours of the light map, as in `layout.css` and `map.css`.
const OUTSIDE: u32 = 0xd8_dedd;
const LAND: u32 = 0xee_f1ec;
const BORDER: u32 = 0x87_918a;
const PICK: u32 = 0x0a_2f55;
const WARN: u32 = 0x9b_1c1c;
const SOFT: u32 = 0x4d_5b67;

/// Returns the colours of a state and its edge.
fn colours(state: FloodState) -> [u32; 2] {
    match state {
        FloodState::Unknown => [0xa0_a9f7, 0x3f_49b0],
        FloodState::Minor => [0xff_ff00, 0x6f_5b00],
        FloodState::Moderate => [0xff_8300, 0x9c_3d00],
        FloodState::Severe => [0xcc_2a41, 0x6d_0c1e],
    }
}

/// The distance of the stripes and the width of the frame, in pixels.
const STRIPE: u16 = 24;
const FRAME: u16 = 26;

impl Picture {
    /// Draws the picture as PNG, about 20 ms for a city. Fails only if the encoder fails.
    pub(crate) fn png(&self) -> ImageResult<Vec<u8>> {
        let mut pixels = Vec::new();
        if let Some(drawn) = self.draw() {
            let rgb = |of: &PremultipliedColorU8| [of.red(), of.green(), of.blue()];
            pixels = drawn.pixels().iter().flat_map(rgb).collect();
        }
        let mut png = Vec::new();
        let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::NoFilter);
        encoder.write_image(&pixels, WIDTH.into(), HEIGHT.into(), ExtendedColorType::Rgb8)?;
        Ok(png)
    }

    /// Returns the pixels, which are opaque; `None` for a size of zero.
    fn draw(&self) -> Option<Pixmap> {
        let mut canvas = Canvas(Pixmap::new(WIDTH.into(), HEIGHT.into())?);
        canvas.0.fill(colour(OUTSIDE, 1.0));
        for surface in &self.land {
            canvas.surface(surface, [LAND, BORDER], 1.0, 1.0);
        }
        for flood in &self.floods {
            let alpha = if flood.is_unconfirmed { 0.35 } else { 1.0 };
            canvas.surface(&flood.rings, colours(flood.state), 1.5, alpha);
        }
        if let Some(chosen) = path(&self.chosen) {
            canvas.line(&chosen, 0xff_ffff, 11.0, 1.0);
            canvas.line(&chosen, PICK, 6.0, 1.0);
        }
        if self.is_doubtful {
            let height = f32::from(HEIGHT);
            let mut stripes = PathBuilder::new();
            for start in (0..WIDTH + HEIGHT).step_by(STRIPE.into()) {
                stripes.move_to(f32::from(start) - height, height);
                stripes.line_to(f32::from(start), 0.0);
            }
            canvas.line(&stripes.finish()?, SOFT, 4.0, 1.0);
        }
        if self.is_exercise {
            let frame = Rect::from_xywh(0.0, 0.0, WIDTH.into(), HEIGHT.into())?;
            canvas.line(&PathBuilder::from_rect(frame), WARN, 2.0 * f32::from(FRAME), 1.0);
        }
        Some(canvas.0)
    }
}

struct Canvas(Pixmap);

impl Canvas {
    fn surface(&mut self, rings: &[Ring], [fill, edge]: [u32; 2], width: f32, alpha: f32) {
        let Some(path) = path(rings) else { return };
        self.0.fill_path(&path, &paint(fill, alpha), FillRule::EvenOdd, Transform::identity(), None);
        self.line(&path, edge, width, alpha);
    }

    fn line(&mut self, path: &Path, of: u32, width: f32, alpha: f32) {
        let stroke = Stroke { width, line_join: LineJoin::Round, ..Stroke::default() };
        self.0.stroke_path(path, &paint(of, alpha), &stroke, Transform::identity(), None);
    }
}

/// Returns rings as one path; `None` without rings.
#[expect(clippy::cast_precision_loss, reason = "pixels are small numbers")]
fn path(rings: &[Ring]) -> Option<Path> {
    let mut path = PathBuilder::new();
    for ring in rings {
        for (index, Coord { x, y }) in ring.iter().enumerate() {
            let (x, y) = (*x as f32, *y as f32);
            if index == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
        path.close();
    }
    path.finish()
}

fn paint(of: u32, alpha: f32) -> Paint<'static> {
    Paint { shader: Shader::SolidColor(colour(of, alpha)), anti_alias: false, ..Paint::default() }
}

fn colour(of: u32, alpha: f32) -> Color {
    let [_, red, green, blue] = of.to_be_bytes().map(|part| f32::from(part) / 255.0);
    Color::from_rgba(red, green, blue, alpha).unwrap_or(Color::BLACK)
}

#[cfg(test)]
mod tests {
    use geo::coord;

    use super::*;

    fn square(at: i32) -> Ring {
        [(0, 0), (100, 0), (100, 100), (0, 100), (0, 0)].map(|(x, y)| coord! { x: at + x, y: at + y }).into()
    }

    fn seen(picture: &Picture, [x, y]: [u32; 2]) -> u32 {
        let image = image::load_from_memory(&picture.png().unwrap()).unwrap().to_rgb8();
        assert_eq!(image.dimensions(), (WIDTH.into(), HEIGHT.into()));
        let [red, green, blue] = image.get_pixel(x, y).0;
        u32::from_be_bytes([0, red, green, blue])
    }

    #[test]
    fn a_picture_shows_land_floods_the_chosen_area_doubt_and_the_frame_of_an_exercise() {
        let flood = |is_unconfirmed| DrawnFlood {
            state: FloodState::Severe,
            is_unconfirmed,
            rings: vec![square(200)],
        };
        let plain = Picture {
            land: vec![vec![square(200)], vec![square(400)]],
            floods: vec![flood(false)],
            ..Picture::default()
        };
        assert_eq!(
            [[250, 250], [450, 450], [700, 300]].map(|at| seen(&plain, at)),
            [0xcc_2a41, LAND, OUTSIDE]
        );
        let faded = Picture { floods: vec![flood(true)], ..Picture::default() };
        assert_ne!(seen(&faded, [250, 250]), 0xcc_2a41);
        let chosen = Picture { chosen: vec![square(200)], ..Picture::default() };
        assert_eq!(seen(&chosen, [200, 250]), PICK);
        let exercise = Picture { is_exercise: true, ..Picture::default() };
        assert_eq!([[3, 300], [600, 300]].map(|at| seen(&exercise, at)), [WARN, OUTSIDE]);
        let doubtful = Picture { is_doubtful: true, ..Picture::default() };
        let striped = (600..648).filter(|x| seen(&doubtful, [*x, 300]) != OUTSIDE).count();
        assert!((8..40).contains(&striped), "{striped}");
    }
}
