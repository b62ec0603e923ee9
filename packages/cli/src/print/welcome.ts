import { homedir } from "node:os";
import { describeNetwork } from "@convoke/server/describe-network";
import type { Server, ServerConfig } from "@convoke/server";

/** How people reach the server: the address of its page, null where that is not built, and the command of the terminal; null where it would not help. */
export type WaysIn = { readonly page: string | null; readonly chat: string | null };

/** What `convoke serve` says when it is ready; `isContained` in a container. */
export function welcome(
  server: Pick<Server, "url" | "sessionKey" | "sandboxes" | "walls">,
  config: ServerConfig,
  { page, chat }: WaysIn,
  isContained: boolean,
): string[] {
  const { url, sessionKey, sandboxes, walls } = server;
  const lines = [
    `Convoke is listening on ${url}`,
    `  page   ${page ?? "not built: stop, and build it with npm run build:web"}`,
    ...(chat === null ? [] : [`  chat   ${chat}   (in another terminal)`]),
    `  data   ${tilde(config.dataDir)}`,
    ...(config.database === null ? [] : ["  store  PostgreSQL, shared with other servers"]),
    `  wall   ${walls === null ? withoutWall(isContained) : `${walls}; ${describeNetwork(config.wall.network)}`}`,
    `  sandboxes  ${sandboxes ?? (config.sandbox.use.length === 0 ? "off" : "none here: another server on the same data folder runs them")}`,
  ];
  if (sessionKey === null)
    return [
      ...lines,
      "  key    none: everyone on this machine has access",
      `  try    curl ${url}/api/tools/`,
    ];
  const isShown = sessionKey.file !== null && sessionKey.isNew;
  if (sessionKey.file === null)
    lines.push("  key    as configured (SESSION_API_KEY or OH_SESSION_API_KEYS_0, ...)");
  else if (isShown)
    lines.push(`  key    ${sessionKey.key}   (new, shown once; stored in ${tilde(sessionKey.file)})`);
  else lines.push(`  key    in ${tilde(sessionKey.file)}`);
  const key =
    sessionKey.file === null
      ? "$SESSION_API_KEY"
      : isShown
        ? sessionKey.key
        : `$(cat ${tilde(sessionKey.file)})`;
  return [...lines, `  try    curl -H "X-Session-API-Key: ${key}" ${url}/api/tools/`];
}

function withoutWall(isContained: boolean): string {
  return isContained
    ? "off: this container is the only wall around agents, who run as the server's user and can read its keys"
    : "off: agents run commands as your user, who can read your keys";
}

function tilde(path: string): string {
  let home: string;
  try {
    home = homedir();
  } catch {
    // A user without an entry has none.
    return path;
  }
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
