// Shrinks a photo for slow networks: upright, without metadata, at most 1,280 pixels and 200 kB.

const SIDE = 1280;
const BYTES = 200_000;
const MOST = 30 * 1024 * 1024;

/** A file that cannot be sent; `reason` is the key of a text. */
export class Unusable extends Error {
  constructor(reason) {
    super(reason);
    this.reason = reason;
  }
}

async function decoded(file) {
  try {
    return await createImageBitmap(file, { imageOrientation: "from-image" });
  } catch {
    throw new Unusable("notReadable");
  }
}

function drawn(image, side) {
  const scale = Math.min(1, side / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  const context = canvas.getContext("2d");
  // A JPEG has no transparency, so transparent pictures get a white background.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

const encoded = (canvas, quality) => new Promise((done) => canvas.toBlob(done, "image/jpeg", quality));

/** Returns a JPEG of the photo. Throws `Unusable` if the browser cannot read it. */
export async function shrunk(file) {
  if (file.size > MOST) throw new Unusable("tooLarge");
  const image = await decoded(file);
  try {
    let smallest;
    for (const side of [SIDE, 960, 640]) {
      const canvas = drawn(image, side);
      for (const quality of [0.8, 0.65, 0.5]) {
        smallest = await encoded(canvas, quality);
        if (!smallest) throw new Unusable("notReadable");
        if (smallest.size <= BYTES) return smallest;
      }
    }
    return smallest;
  } finally {
    image.close();
  }
}
