/** The address that sends the browser to the identity provider, and afterwards back to the present page. */
export function providerAddress(
  server: string,
  prefix: string,
  { pathname, search }: Pick<Location, "pathname" | "search">,
): string {
  const path = pathname.slice(prefix.length);
  const returnTo = path === "/login" ? "/" : `${path}${search}`;
  return `${server}/api/auth/oidc?return_to=${encodeURIComponent(returnTo)}`;
}
