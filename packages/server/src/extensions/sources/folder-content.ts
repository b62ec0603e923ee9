import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";

/** One file of a copied folder; `path` is relative, with slashes, and checked. */
export type CopiedFile = {
  readonly path: string;
  readonly isExecutable: boolean;
  readonly bytes: Buffer;
};

/** The bounds of a folder that is copied. */
export const folderBounds = {
  files: 1_000,
  bytes: 8 * 1024 * 1024,
  pathChars: 300,
  depth: 20,
} as const;

type StoredFile = readonly [path: string, isExecutable: 0 | 1, base64: string];

/** SHA-256 in hex of everything that is in a folder: paths, what is executable, and content. */
export function digestOf(files: readonly CopiedFile[]): string {
  const hash = createHash("sha256");
  for (const { path, isExecutable, bytes } of sorted(files)) {
    const content = createHash("sha256").update(bytes).digest("hex");
    hash.update(`${isExecutable ? "x" : "-"} ${content} ${path}\n`);
  }
  return hash.digest("hex");
}

/** A folder as one text that either store can keep. */
export function packFolder(files: readonly CopiedFile[]): string {
  const stored = sorted(files).map(({ path, isExecutable, bytes }): StoredFile => {
    return [path, isExecutable ? 1 : 0, bytes.toString("base64")];
  });
  return gzipSync(JSON.stringify(stored)).toString("base64");
}

/** The reverse of {@link packFolder}. Throws for a text that it did not write. */
export function unpackFolder(packed: string): CopiedFile[] {
  const maxOutputLength = 2 * folderBounds.bytes + folderBounds.files * 1_024;
  const text = gunzipSync(Buffer.from(packed, "base64"), { maxOutputLength }).toString("utf8");
  return (JSON.parse(text) as StoredFile[]).map(([path, isExecutable, base64]) => ({
    path,
    isExecutable: isExecutable === 1,
    bytes: Buffer.from(base64, "base64"),
  }));
}

/** What differs between two copies of a folder, by path. */
export function compareFolders(
  before: readonly CopiedFile[],
  after: readonly CopiedFile[],
): { readonly added: string[]; readonly changed: string[]; readonly removed: string[] } {
  const old = new Map(before.map((file) => [file.path, file]));
  const present = new Set(after.map(({ path }) => path));
  const isChanged = (file: CopiedFile): boolean => {
    const known = old.get(file.path);
    return (
      known !== undefined && (known.isExecutable !== file.isExecutable || !known.bytes.equals(file.bytes))
    );
  };
  const paths = (files: readonly CopiedFile[]): string[] => files.map(({ path }) => path).toSorted();
  return {
    added: paths(after.filter(({ path }) => !old.has(path))),
    changed: paths(after.filter(isChanged)),
    removed: paths(before.filter(({ path }) => !present.has(path))),
  };
}

function sorted(files: readonly CopiedFile[]): CopiedFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}
