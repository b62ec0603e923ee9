/** Where in a preview a request leads. */
export type PreviewPath = {
  readonly capability: string;
  /** `/previews/{capability}` */
  readonly prefix: string;
  /** Path and query as the program gets them. */
  readonly rest: string;
};

const pattern = /^(\/previews\/([\w.~-]{40,500}))(?:([/?].*))?$/s;

/** Null for what is no preview's address. Tells nothing about whether it opens anything. */
export function readPreviewPath(url: string): PreviewPath | null {
  const [, prefix = "", capability, after = ""] = pattern.exec(url) ?? [];
  if (capability === undefined) return null;
  return { capability, prefix, rest: after.startsWith("/") ? after : `/${after}` };
}

/** Pages in a preview have no origin; the key in their address is what lets them ask for more of themselves. */
export function isPreviewCapability(url: string): boolean {
  return readPreviewPath(url) !== null;
}
