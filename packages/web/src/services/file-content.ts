/** What a file holds, as far as the page shows it. */
export type FileContent =
  | { readonly type: "text"; readonly text: string; readonly isCut: boolean }
  | { readonly type: "picture"; readonly blob: Blob }
  | { readonly type: "binary" };

/** So much of a file is read to be shown. */
export const maxBytes = 512 * 1024;
/** A picture is shown whole or not at all. */
const maxPictureBytes = 8 * 1024 * 1024;

/** No SVG: it is a document, and is shown as the text that it is. */
const pictures: Readonly<Record<string, string>> = {
  avif: "image/avif",
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
};

/** The type of a picture by its name; null for what is none, or too large for one. */
export function pictureType(path: string, size: number): string | null {
  const type = pictures[path.slice(path.lastIndexOf(".") + 1).toLowerCase()];
  return type === undefined || size > maxPictureBytes ? null : type;
}

/** The beginning of a file as text; binary where it is none. A letter that is cut through at the end is left out. */
export function textOf(bytes: Uint8Array, size: number): FileContent {
  if (bytes.includes(0)) return { type: "binary" };
  const isCut = bytes.length < size;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    return { type: "text", text, isCut };
  } catch {
    // No UTF-8: what it is instead, nobody knows.
    return { type: "binary" };
  }
}
