/** The base URL of the server's routes: the folder of `<base href>`, without a trailing slash. */
export function serverAddress(baseUri: string): string {
  return new URL(".", baseUri).href.replace(/\/$/, "");
}

/** The base path of the page: empty at the root of a server, `/prefix` behind a proxy. */
export function pagePrefix(baseUri: string): string {
  return new URL(".", baseUri).pathname.replace(/\/$/, "");
}
