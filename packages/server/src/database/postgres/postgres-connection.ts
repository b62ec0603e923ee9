import type { Client } from "pg";
import { plainTypes } from "./postgres-pool.ts";
import { PostgresClient, type ConnectionOptions } from "./postgres-client.ts";

/** For the greeting, and once more for what is asked before anything else. */
const connectMs = 5000;
/** Without an answer for so long, it is given up: what was asked may have been done. */
const answerMs = 10_000;

/**
 * One long-lived connection. Rejects when it cannot be opened; `onEnd` is called once when it breaks or is closed.
 */
export async function openConnection(
  { url, name, timeline }: ConnectionOptions,
  onEnd: () => void = () => {},
): Promise<Client> {
  const client = new PostgresClient({
    connectionString: url,
    application_name: name,
    types: plainTypes,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    answerMs,
  });
  await client.connect();
  const late = setTimeout(() => breakOff(client), connectMs);
  try {
    await client.learnWhoAnswers();
    await timeline?.note(client);
  } catch (error) {
    breakOff(client);
    throw error;
  } finally {
    clearTimeout(late);
  }
  client.once("end", onEnd);
  return client;
}

/** Closes the connection at once, whatever it waits for: its statement is rejected. */
export function breakOff(client: Client): void {
  // The server may be gone, and would never answer a farewell.
  client.connection.stream.destroy();
}
