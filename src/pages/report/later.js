// Shrinks a photo before the thank-you page sends it. Without this script, the page sends the photo unchanged.

import { Unusable, shrunk } from "./photo.js";

const texts = JSON.parse(document.body.dataset.settings);
const input = document.getElementById("photo");
const says = (text) => { document.getElementById("photo-says").textContent = text; };

input.addEventListener("change", async () => {
  const [file] = input.files;
  says(file ? texts.shrinking : "");
  if (!file) return;
  try {
    const photo = await shrunk(file);
    const files = new DataTransfer();
    files.items.add(new File([photo], "photo.jpg", { type: photo.type }));
    input.files = files.files;
    says(texts.ready.replace("{size}", Math.ceil(photo.size / 1000)));
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    input.value = "";
    says(texts[error.reason]);
  }
});
