import { headerProblem } from "../../lib/header-problem.ts";
import type { Fetch } from "./bounded-fetch.ts";

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

/**
 * A `fetch` that sends `own` headers to `origin` alone: a login or a redirect may lead to other servers, which are asked
 * without them and without a token.
 */
export function withOwnHeaders(send: Fetch, origin: string, own: Readonly<Record<string, string>>): Fetch {
  return async (input, init) => {
    refuseUnsendable(own);
    let url = new URL(input);
    let request: RequestInit = { ...init };
    for (let left = maxRedirects; ; left -= 1) {
      const headers = headersFor(url, request);
      // oxlint-disable-next-line no-await-in-loop -- each redirect is known only when the one before was answered
      const response = await send(url, { ...request, headers, redirect: "manual" });
      const location = response.headers.get("location");
      if (!redirects.has(response.status) || location === null || !URL.canParse(location, url))
        return response;
      await response.body?.cancel();
      if (left === 0) throw new Error("The MCP server redirects without end.");
      const next = new URL(location, url);
      const isForwarded = response.status === 307 || response.status === 308;
      if (next.origin !== url.origin) request = { ...request, headers: withoutToken(request) };
      if (!isForwarded) {
        const { body: _, ...rest } = request;
        request = { ...rest, method: request.method === "HEAD" ? "HEAD" : "GET" };
      }
      url = next;
    }
  };

  function headersFor(url: URL, { headers: given }: RequestInit): Headers {
    const headers = new Headers(given);
    const added = url.origin === origin ? Object.entries(own) : [];
    for (const [name, value] of [...added, ["user-agent", "convoke"] as const])
      if (!headers.has(name)) headers.set(name, value);
    return headers;
  }
}

/** Its name says where to look; to fetch it would be an argument that cannot be converted. */
function refuseUnsendable(own: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(own)) {
    const problem = headerProblem(name, value);
    if (problem !== null)
      throw new Error(
        `The header "${name.slice(0, 100)}" of the MCP server ${problem}. Change headers or auth.`,
      );
  }
}

function withoutToken({ headers: given }: RequestInit): Headers {
  const headers = new Headers(given);
  for (const name of ["authorization", "mcp-session-id"]) headers.delete(name);
  return headers;
}
