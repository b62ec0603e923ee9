/** The capability URLs of a workspace's pages: `{capability}` comes before the path of the file. */
export type PageAddress = { readonly conversationId: string; readonly capability: string };

const mark = "~page.";

/** The capability URL in a request's URL; null for all others. Does not check the capability. */
export function readPageAddress(url: string): PageAddress | null {
  const match = /^\/api\/conversations\/([^/?]+)\/workspace\/~page\.([\w.~-]+)(?:[/?]|$)/.exec(url);
  return match === null ? null : { conversationId: match[1]!, capability: match[2]! };
}

/** True for addresses that are keys themselves, so that pages without an origin may use them. */
export function isPageCapability(url: string): boolean {
  return readPageAddress(url) !== null;
}

/** The path of a file without the capability before it, and with none. */
export function withoutCapability(filePath: string): string {
  return filePath.startsWith(mark) ? filePath.replace(/^[^/]*\/?/, "") : filePath;
}

/** `/prefix/api/conversations/{id}/workspace/{capability}/docs/` for `url`; the links of a directory's page need the slash. */
export function toPageUrl(basePath: string, url: string, capability: string, isDirectory: boolean): string {
  const [path, query] = splitQuery(url);
  const [, root = "", rest = ""] = /^(\/api\/conversations\/[^/]+\/workspace)(?:\/(.*))?$/s.exec(path) ?? [];
  const file = withoutCapability(rest);
  const slash = isDirectory && file !== "" && !file.endsWith("/") ? "/" : "";
  return `${basePath}${root}/${mark}${capability}/${file}${slash}${query}`;
}

function splitQuery(url: string): [string, string] {
  const start = url.indexOf("?");
  return start === -1 ? [url, ""] : [url.slice(0, start), url.slice(start)];
}
