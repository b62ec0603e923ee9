import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { PostgresPlace } from "../postgres-place.ts";
import { openConnection } from "./postgres-connection.ts";

/** For a notification that comes at all. */
const longestMs = 2000;

/** Whether a NOTIFY over `client` reaches a LISTEN over the other URL. Through a pooler in transaction mode it does not, without an error. */
export async function receivesNotifications(
  client: Client,
  { url, listenUrl = url }: Pick<PostgresPlace, "url" | "listenUrl">,
): Promise<boolean> {
  // Switched off: nothing is missed.
  if (listenUrl === null) return true;
  const listener = await openConnection({ url: listenUrl, name: "convoke check" });
  const word = randomUUID();
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), longestMs);
  try {
    listener.on("notification", ({ payload }) => payload === word && late.resolve(true));
    await listener.query("LISTEN convoke_check");
    await client.query("SELECT pg_notify('convoke_check', $1)", [word]);
    const canListen = await late.promise;
    // Without sessions the UNLISTEN may reach another connection. The forgotten LISTEN is harmless: no server notifies this channel.
    await listener.query("UNLISTEN convoke_check");
    return canListen;
  } finally {
    clearTimeout(timer);
    await listener.end();
  }
}
