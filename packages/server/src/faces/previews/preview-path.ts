/** Where in a preview a request leads. */
export type PreviewPath = {
  readonly capability: string;
  /** `/previews/{capability}` */
  readonly prefix: string;
  /** Path and query as the program gets them. */
  readonly rest: string;
};

const pattern = /^(\/previews\/([\w.~-]{40,500}))(?:([/?].*))?$/s;

/** Null when it is no preview's address. Does not check the capability. */
export function readPreviewPath(url: string): PreviewPath | null {
  const [, prefix = "", capability, after = ""] = pattern.exec(url) ?? [];
  if (capability === undefined) return null;
  return { capability, prefix, rest: after.startsWith("/") ? after : `/${after}` };
}

/** Pages in a preview have an opaque origin; the key in their address lets them load their own files. */
export function isPreviewCapability(url: string): boolean {
  return readPreviewPath(url) !== null;
}
