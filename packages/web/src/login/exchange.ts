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

/**
 * The ticket of a one-time link: the URL fragment, which servers and proxies never see. It is removed from the
 * address bar at once.
 */
export function takeTicket(
  location: Pick<Location, "hash" | "pathname">,
  replace: (address: string) => void,
): string | null {
  const ticket = new URLSearchParams(location.hash.slice(1)).get("t");
  if (ticket === null) return null;
  replace(location.pathname.replace(/login$/, ""));
  return ticket;
}
