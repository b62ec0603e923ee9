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
    secrets: () => configuration.secrets,
    notify: (draft) => writer.notify(draft),
    closing: lifetime.closing,
    handedOver: lifetime.handedOver,
    stopping: (others) => lifetime.others.add(others),
    onMcpServers: (servers) => (session.mcpServers = servers),
    config: () => configuration.config,
    budget: () => ownBudget(configuration.config, log.state),
    hasAskedForBrowser: () => log.state.hasAskedForBrowser,
    openHelper: (usageId, other) => models.openHelper(usageId, other),
    stats: () => log.state.stats,
    putStats: (usageId, total) => writer.putStats(usageId, total),
  };
}
