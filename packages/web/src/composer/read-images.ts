/** Maximum size of an image that is sent; a larger one would fill the model's context. */
const maxBytes = 4 * 1024 * 1024;
const maxPixels = 2_048;

/** Images as `data:` URLs, scaled down if they are too large. Null for a file that the browser cannot decode. */
export async function readImage(file: Blob): Promise<string | null> {
  if (!/^image\/(png|jpeg|gif|webp)$/.test(file.type)) return null;
  try {
    const bitmap = await createImageBitmap(file);
    const scale = Math.min(1, maxPixels / Math.max(bitmap.width, bitmap.height));
    if (scale === 1 && file.size <= maxBytes) {
      bitmap.close();
      return await toDataAddress(file);
    }
    const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    bitmap.close();
    return await toDataAddress(await canvas.convertToBlob({ type: "image/jpeg", quality: 0.85 }));
  } catch {
    // Not an image despite its MIME type: same as any other file.
    return null;
  }
}

function toDataAddress(blob: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.addEventListener("load", () => resolve(reader.result as string));
  reader.addEventListener("error", () => reject(reader.error ?? new Error("The picture could not be read.")));
  reader.readAsDataURL(blob);
  return promise;
}
