// A base map of images from another host, for a map of view.js. No dependencies.

// The maximum number of cached images.
const MOST = 200;

/** Images at an address with {z}, {x} and {y}, of 256 pixels. Until an image is loaded, a lower zoom is drawn. */
export class Tiles {
  #url;
  #most;
  #images = new Map();

  constructor(url, most = 19) {
    this.#url = url;
    this.#most = most;
  }

  draw(frame) {
    const { context, zoom, scale, left, top, width, height } = frame;
    const z = Math.max(0, Math.min(this.#most, Math.round(zoom)));
    const count = 2 ** z;
    const last = (of) => Math.min(count - 1, Math.floor(of * count));
    for (let x = Math.max(0, last(left)); x <= last(left + width / scale); x++) {
      for (let y = Math.max(0, last(top)); y <= last(top + height / scale); y++) {
        const size = scale / count;
        const to = [(x / count - left) * scale, (y / count - top) * scale];
        if (this.#image(z, x, y, frame.redraw)?.naturalWidth) this.#paint(context, this.#images.get(`${z}/${x}/${y}`), [0, 0, 1], to, size);
        else this.#above(context, z, x, y, to, size);
      }
    }
  }

  /** Draws the part of an image of a lower zoom. */
  #above(context, z, x, y, to, size) {
    for (let up = 1; up <= Math.min(4, z); up++) {
      const image = this.#images.get(`${z - up}/${x >> up}/${y >> up}`);
      const part = 2 ** -up;
      if (image?.naturalWidth) return this.#paint(context, image, [(x * part) % 1, (y * part) % 1, part], to, size);
    }
  }

  /** @type {(context: any, image: any, from: number[], to: number[], size: number) => void} */
  #paint(context, image, [x, y, part], [left, top], size) {
    const side = image.naturalWidth;
    // Rounds to whole pixels, to avoid lines between the images.
    const [from, end] = [[Math.floor(left), Math.floor(top)], [Math.ceil(left + size), Math.ceil(top + size)]];
    context.drawImage(image, x * side, y * side, part * side, part * side, ...from, end[0] - from[0], end[1] - from[1]);
  }

  #image(z, x, y, redraw) {
    const key = `${z}/${x}/${y}`;
    const known = this.#images.get(key);
    if (known) {
      // Moves the image to the end: the most recently used image is the last one.
      this.#images.delete(key);
      this.#images.set(key, known);
      return known;
    }
    const image = new Image();
    image.onload = redraw;
    image.src = this.#url.replace(/\{(z|x|y)\}/g, (_, of) => ({ z, x, y })[of]);
    this.#images.set(key, image);
    for (const old of this.#images.keys()) if (this.#images.size > MOST) this.#images.delete(old);
    return image;
  }
}
