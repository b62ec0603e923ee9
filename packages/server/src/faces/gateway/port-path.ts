/** Where a request to a port of a sandbox leads. */
export type PortPath = {
  readonly sandboxId: string;
  /** The key in the address, null when the caller brings one in a header. */
  readonly portKey: string | null;
  readonly port: number;
  /** What is in front of `rest`: `/sandboxes/id~key/ports/3000`. */
  readonly prefix: string;
  /** Path and query as the server inside gets them. */
  readonly rest: string;
};

const pattern = /^(\/sandboxes\/([a-z0-9-]{1,40})(?:~([\w-]{10,100}))?\/ports\/(\d{1,5}))(?:([/?].*))?$/;

/** Null for what is no port's address. */
export function readPortPath(url: string): PortPath | null {
  const [, prefix = "", sandboxId = "", portKey = null, digits, after = ""] = pattern.exec(url) ?? [];
  if (digits === undefined) return null;
  const port = Number(digits);
  if (port < 1 || port > 65_535) return null;
  return { sandboxId, portKey, port, prefix, rest: after.startsWith("/") ? after : `/${after}` };
}

/** Pages inside a sandbox have an opaque origin; the key in their address lets them load their own files. */
export function isPortCapability(url: string): boolean {
  return readPortPath(url)?.portKey != null;
}
