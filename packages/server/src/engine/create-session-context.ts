import { ownBudget } from "./budget.ts";
import type { LazySession } from "./lazy-session.ts";
import type { Lifetime } from "./lifetime.ts";
import type { SessionContext } from "./session-context.ts";
import type { SharedParts } from "./shared-parts.ts";
import type { Writer } from "./writer.ts";

export type SessionContextParts = Pick<SharedParts, "configuration" | "log" | "models"> & {
  readonly lifetime: Lifetime;
  readonly session: LazySession;
  readonly writer: Writer;
};

/** The conversation as its tools see it. */
export function createSessionContext(parts: SessionContextParts): SessionContext {
  const { configuration, lifetime, log, models, session, writer } = parts;
  return {
    get config() {
      return configuration.config;
    },
    get secrets() {
      return configuration.secrets;
    },
    secretsForTools: (resolved) => configuration.forTools(resolved),
    get budget() {
      return ownBudget(configuration.config, log.state);
    },
    get hasAskedForBrowser() {
      return log.state.hasAskedForBrowser;
    },
    get stats() {
      return log.state.stats;
    },
    closing: lifetime.closing,
    handedOver: lifetime.handedOver,
    stopping: (others) => lifetime.others.add(others),
    showMcpServers: (servers) => (session.mcpServers = servers),
    notify: (draft) => writer.notify(draft),
    openHelper: (usageId, other) => models.openHelper(usageId, other),
    grantHosts: (hosts) => configuration.grantHosts(hosts),
    maskFolder: (values) => configuration.maskFolder(values),
    putStats: (usageId, total) => writer.putStats(usageId, total),
  };
}
