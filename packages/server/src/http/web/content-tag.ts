import { createHash } from "node:crypto";

/** The `ETag` of a file that changes with a release: files of a package have one time of change, whatever the version. */
export function contentTag(content: string | Uint8Array): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 27)}"`;
}

/** Whether the client has what this tag is of. */
export function isKnownTag(header: string | undefined, tag: string): boolean {
  return header?.includes(tag) === true;
}
