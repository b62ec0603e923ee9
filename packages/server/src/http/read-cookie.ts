/** A browser sends one for each path of a cookie; more than these are an attack. */
const maxOfOneName = 20;

/**
 * All values of a name, in the order sent: another server of this host may have set one for a longer path, which comes
 * first.
 */
export function readCookies(header: string | undefined, name: string): string[] {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  const values = pairs.flatMap((pair) => (pair.startsWith(`${name}=`) ? [pair.slice(name.length + 1)] : []));
  return values.filter((value) => value !== "").slice(0, maxOfOneName);
}

/**
 * The prefix of cookies that identify the browser that began something but do not authenticate: they are forwarded to
 * other nodes.
 */
export const beginnerCookie = "convoke_mcp_login_";

/** The cookies of that kind in a header, as a header; empty when there is none. */
export function beginnerCookies(header: string | undefined): string {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(beginnerCookie)).join("; ");
}
