import type { ConvokeClient } from "@convoke/client";

export type Entered = { readonly proof: string; readonly user_id: string };

/** Exchanges a ticket or an API key for a login: the response sets the cookie and contains the proof. */
export async function exchange(
  client: ConvokeClient,
  given: { readonly ticket: string; readonly replaces?: boolean } | { readonly key: string },
): Promise<Entered> {
  return await client.call("POST /api/auth/login", { body: given });
}

/**
 * The same for the ticket of a link, which any web page may contain: if another user is logged in, `ask` decides
 * whether that login ends. Null if it does not.
 */
export async function exchangeTicket(
  client: ConvokeClient,
  ticket: string,
  ask: (question: string) => boolean,
): Promise<Entered | null> {
  try {
    return await exchange(client, { ticket });
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message: string };
    if (code !== "other_login") throw error;
    return ask(message) ? await exchange(client, { ticket, replaces: true }) : null;
  }
}

/** What a link to the login has behind its `#`: a ticket, or the code of a refusal by the identity provider's login. */
export type LoginLink = { readonly ticket: string } | { readonly refusal: string };

/**
 * Reads the fragment of a link to the login, which servers and proxies never see. It is removed from the address bar at
 * once, in favour of the path on the page that the link names.
 */
export function takeLoginLink(
  { hash, pathname }: Pick<Location, "hash" | "pathname">,
  replace: (address: string) => void,
): LoginLink | null {
  const fragment = new URLSearchParams(hash.slice(1));
  const [ticket, refusal] = [fragment.get("t"), fragment.get("e")];
  const isLogin = pathname.endsWith("/login");
  if (ticket === null && (refusal === null || !isLogin)) return null;
  const folder = pathname.replace(/login$/, "");
  replace(isLogin ? `${folder}${pathOf(fragment.get("to"))}` : folder);
  return ticket === null ? { refusal: refusal! } : { ticket };
}

/** Relative to the page's folder; empty for what leads elsewhere. Anybody can make a link. */
function pathOf(to: string | null): string {
  return to !== null && /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(to) ? to.slice(1) : "";
}
