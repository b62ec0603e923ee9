/** A browser has one for each path that a cookie is for; more than these are somebody's attempt to keep the server busy. */
const maxOfOneName = 20;

/**
 * All values of a name, in the order in which the browser sent them: beside ours may be one that another server of this host set, for a
 * longer path, which comes first.
 */
export function readCookies(header: string | undefined, name: string): string[] {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  const values = pairs.flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []));
  return values.filter((value) => value !== "").slice(0, maxOfOneName);
}

/** Begins the names of cookies that say who began something, and let nobody in: to a neighbour they go along. */
export const beginnerCookie = "convoke_mcp_login_";

/** Those of a header, as a header; empty when there is none. */
export function beginnerCookies(header: string | undefined): string {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(beginnerCookie)).join("; ");
}
