import type { ConvokeClient } from "@convoke/client";

export type Entered = { readonly proof: string; readonly user_id: string };

/** Exchanges a ticket or a key for a login: the cookie comes with the answer, the proof in it. */
export async function exchange(
  client: ConvokeClient,
  given: { readonly ticket: string; readonly replaces?: boolean } | { readonly key: string },
): Promise<Entered> {
  return await client.call("POST /api/auth/login", { body: given });
}

/**
 * The same for the ticket of a link, which a page of anybody may lead to: where somebody else is logged in, `ask` says whether that
 * ends. Null when it does not.
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

/** The ticket of a one-time link. It stands behind the `#`, which no server and no proxy ever sees; it is taken out of the address at once. */
export function takeTicket(
  location: Pick<Location, "hash" | "pathname">,
  replace: (address: string) => void,
): string | null {
  const ticket = new URLSearchParams(location.hash.slice(1)).get("t");
  if (ticket === null) return null;
  replace(location.pathname.replace(/login$/, ""));
  return ticket;
}
