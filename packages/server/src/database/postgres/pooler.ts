import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import type { PostgresPlace } from "../postgres-place.ts";
import { openConnection } from "./postgres-connection.ts";

/** For a notification that comes at all. */
const longestMs = 2000;

/** Whether what is told over `client` is heard where servers listen. Through a pooler in transaction mode it is not, and nobody says so. */
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
    // Where the pooler keeps no sessions it may come to another one, and what is left listening hears nothing: no server says this word.
    await listener.query("UNLISTEN convoke_check");
    return canListen;
  } finally {
    clearTimeout(timer);
    await listener.end();
  }
}
