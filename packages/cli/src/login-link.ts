import type { ServerConfig } from "@convoke/server";
import type { RunningServer } from "./running-servers.ts";

/** The address of a server's page that logs a browser in as the local user: once, and within ten minutes. */
export async function createLoginLink(
  { dataDir, database }: Pick<ServerConfig, "dataDir" | "database">,
  { url, needsLogin }: Pick<RunningServer, "url" | "needsLogin">,
): Promise<string> {
  if (!needsLogin) return `${url}/`;
  const { openLoginStore } = await import("@convoke/server/keys");
  await using opened = await openLoginStore(dataDir, database);
  const { ticket } = await opened.store.createTicket({ userId: "local", keyMark: "" });
  return `${url}/login#t=${ticket}`;
}
