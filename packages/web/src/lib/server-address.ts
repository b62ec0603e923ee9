/** Where the server's routes begin: the folder that `<base href>` names, without a slash at its end. */
export function serverAddress(baseUri: string): string {
  return new URL(".", baseUri).href.replace(/\/$/, "");
}

/** The path below which the page's own addresses lie: empty at the root of a server, `/prefix` behind a proxy. */
export function pagePrefix(baseUri: string): string {
  return new URL(".", baseUri).pathname.replace(/\/$/, "");
}
