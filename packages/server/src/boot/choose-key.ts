import { isLoopback } from "../http/guard.ts";
import { openSessionKey, readSessionKey, type SessionKey } from "../http/session-key.ts";
import { ConfigError, type ServerConfig } from "./config.ts";

/** The key of a server; null where it needs none. */
export type ChosenKey = SessionKey | { readonly key: string; readonly file: null } | null;

/** Fails before anything listens when the server would be open to the network without a key (P3). */
export async function chooseKey(config: ServerConfig): Promise<ChosenKey> {
  const isExposed = !isLoopback(config.host);
  if (config.isAuthDisabled) {
    if (isExposed) {
      throw new ConfigError(
        `--no-auth works on loopback only, not on ${config.host}. Leave it out, or listen on 127.0.0.1.`,
      );
    }
    return null;
  }
  const [configured] = config.sessionApiKeys;
  if (configured !== undefined) return { key: configured, file: null };
  if (isExposed && (await readSessionKey(config.dataDir)) === null) {
    throw new ConfigError(
      `Listening on ${config.host} needs a key. Set SESSION_API_KEY, or start once on 127.0.0.1 to have one made.`,
    );
  }
  return await openSessionKey(config.dataDir);
}
