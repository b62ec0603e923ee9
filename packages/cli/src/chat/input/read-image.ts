import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";

const types: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

export type ReadImage = { readonly name: string; readonly url: string };

/** Larger ones are refused by most models. */
export const maxImageBytes = 10_000_000;

/**
 * The picture that a pasted text names: a path or a `file:` address, as terminals paste what is dropped on them. Null for a text that
 * names none. Rejects for one that cannot be read.
 */
export async function readImage(pasted: string): Promise<ReadImage | null> {
  const path = pathOf(pasted.trim());
  const type = types[extname(path).toLowerCase()];
  if (type === undefined || path.includes("\n")) return null;
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === "ENOENT" ? `There is no file ${path}.` : `${path} cannot be read: ${error.message}`,
      {
        cause: error,
      },
    );
  });
  if (bytes.length > maxImageBytes)
    throw new Error(`${path} is larger than ${maxImageBytes / 1_000_000} MB.`);
  return { name: basename(path), url: imageUrl(type, bytes) };
}

export function imageUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString("base64")}`;
}

function pathOf(text: string): string {
  if (text.startsWith("file://") && URL.canParse(text)) return fileURLToPath(text);
  const unquoted = /^'(.*)'$|^"(.*)"$/u.exec(text);
  return unquoted?.[1] ?? unquoted?.[2] ?? text.replaceAll("\\ ", " ");
}
