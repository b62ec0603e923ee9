/** The content of a file, as far as the page shows it. */
export type FileContent =
  | { readonly type: "text"; readonly text: string; readonly isCut: boolean }
  | { readonly type: "picture"; readonly blob: Blob }
  | { readonly type: "binary" };

/** Maximum bytes of a file that are loaded. */
export const maxBytes = 512 * 1024;
/** Maximum bytes of an image. */
const maxPictureBytes = 8 * 1024 * 1024;

/** No SVG: it can contain scripts, and is shown as text. */
const pictures: Readonly<Record<string, string>> = {
  avif: "image/avif",
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
};

/** The MIME type of an image by file name; null if it is none, or too large. */
export function pictureType(path: string, size: number): string | null {
  const type = pictures[path.slice(path.lastIndexOf(".") + 1).toLowerCase()];
  return type === undefined || size > maxPictureBytes ? null : type;
}

/** Decodes the beginning of a file; binary if it is not UTF-8. A character that is cut at the end is dropped. */
export function textOf(bytes: Uint8Array, size: number): FileContent {
  if (bytes.includes(0)) return { type: "binary" };
  const isCut = bytes.length < size;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    return { type: "text", text, isCut };
  } catch {
    // Not UTF-8: shown as binary.
    return { type: "binary" };
  }
}
