/** Empty when there is none. */
export function readCookie(header: string | undefined, name: string): string {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}

/** Begins the names of cookies that say who began something, and let nobody in: to a neighbour they go along. */
export const beginnerCookie = "convoke_mcp_login_";

/** Those of a header, as a header; empty when there is none. */
export function beginnerCookies(header: string | undefined): string {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(beginnerCookie)).join("; ");
}
