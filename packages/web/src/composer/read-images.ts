/** A picture that is larger than this when it is sent would fill what the model reads. */
const maxBytes = 4 * 1024 * 1024;
const maxPixels = 2_048;

/** Pictures as `data:` addresses, made smaller where they are too large. Null for a file that is no picture the browser can read. */
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
    // It calls itself a picture and is none: the same as any other file.
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
