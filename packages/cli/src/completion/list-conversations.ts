import { homedir } from "node:os";
import { join } from "node:path";
import { readSessionKey } from "@convoke/server/session-key";
import { read } from "@convoke/server/setting";
import { settings } from "@convoke/server/settings";
import { shortIds } from "../api/find-conversation.ts";
import { configuredEnvironment } from "../configuration/load-configuration.ts";
import { printable } from "../print/printable.ts";
import { findServers } from "../running-servers.ts";
import type { Candidate } from "./completion-command.ts";

/** Somebody waits at a prompt. */
const timeoutMs = 1_000;

/** The conversations that the running server changed last; none where no server runs or it does not answer. */
export async function listConversations(): Promise<readonly Candidate[]> {
  try {
    const environment = configuredEnvironment();
    const dataDir = read(environment, settings.data_dir) ?? join(homedir(), ".convoke");
    const server = (await findServers(dataDir)).at(-1);
    if (server === undefined) return [];
    const key = server.usesFolderKey
      ? ((await readSessionKey(dataDir))?.key ?? null)
      : read(environment, settings.session_api_key);
    const reply = await fetch(
      `${server.apiUrl}/api/conversations/search?limit=50&sort_order=UPDATED_AT_DESC`,
      {
        headers: key === null ? {} : { "X-Session-API-Key": key },
        signal: AbortSignal.timeout(timeoutMs),
      },
    );
    if (!reply.ok) return [];
    const { items } = (await reply.json()) as { items: { id: string; title?: string | null }[] };
    const ids = shortIds(items.map(({ id }) => id));
    return items.map(({ title }, at) => ({ value: ids[at]!, description: oneLine(title ?? "") }));
  } catch {
    // An error has no place at a prompt; the command itself will say what is wrong.
    return [];
  }
}

function oneLine(title: string): string {
  return printable(title.replaceAll(/\s+/g, " ")).slice(0, 60);
}
