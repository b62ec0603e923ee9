import type { RetentionRecord } from "../retention/retention.ts";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { ServerConfig } from "./config.ts";
import type { FaceDeps } from "../faces/face-deps.ts";
import { metricsFace } from "../faces/operations/metrics-face.ts";
import type { Face } from "../http/mount.ts";
import type { AuditedCall } from "../http/observe-requests.ts";
import type { EgressRecord } from "../egress/egress.ts";
import type { ReviewRecord } from "../engine/ports.ts";
import type { ProcessGroup } from "../cluster/process-group.ts";
import type { Logger } from "../lib/logger.ts";
import { AuditLog } from "../observability/audit-log.ts";
import { AuditPlace } from "../observability/audit-place.ts";
import { createJoinedLogger } from "../observability/joined-logger.ts";
import { logActivities } from "../observability/log-activities.ts";
import type { Gauges } from "../observability/gauges.ts";
import { Metrics } from "../observability/metrics.ts";
import { Observer } from "../observability/observer.ts";
import { version } from "../lib/version.ts";
import type { Signer } from "../security/signer.ts";
import type { Walls } from "../walls/wall.ts";
import type { Webhooks } from "../webhooks/webhooks.ts";
import { systemClock } from "../lib/clock.ts";

/** Metrics, traces and the audit log of a server. */
export interface Observability extends AsyncDisposable {
  readonly observer: Observer;
  /** Adds the ids of the current activity to log lines. */
  readonly logger: Logger;
  /** Opens the audit log, whose heads are sealed with the key of the store. Nothing is recorded before. */
  openAudit(signer: Signer): void;
  /** Records a call in the audit log. */
  onCall(call: AuditedCall): void;
  /** What a reviewer decided for a user. */
  onReview(user: string, record: ReviewRecord): void;
  onRetention(user: string, record: RetentionRecord): void;
  readonly onEgress: OnEgress;
  /** The routes that show metrics; none when they are switched off. Call once everything is open. */
  openFaces(watched: Watched): Face[];
}

/** Records in the audit log what passed or was refused on the way out of a conversation's wall, of a sandbox, or of git for a user. */
export type OnEgress = (
  place: { readonly conversation: string } | { readonly sandbox: string } | { readonly user: string },
  record: EgressRecord,
) => void;

export type Watched = Pick<FaceDeps, "journal" | "sandboxes"> & {
  readonly app: FastifyInstance;
  readonly walls: Walls | null;
  readonly webhooks: Webhooks;
};

const statuses = ["idle", "running", "paused", "waiting_for_confirmation", "finished", "error", "stuck"];

export async function openObservability(
  { metrics: access, tracing, dataDir }: ServerConfig,
  plainLogger: Logger,
  processGroup?: ProcessGroup,
): Promise<Observability> {
  await using scope = new AsyncDisposableStack();
  const observer = new Observer();
  observer.add(logActivities(plainLogger));
  let watched: Watched | null = null;
  const metrics =
    access === "off" ? null : scope.use(new Metrics(() => gaugesOf(watched), undefined, processGroup));
  if (metrics !== null) observer.add(metrics);
  const logger = createJoinedLogger(plainLogger, observer);
  if (tracing !== null) {
    const { openTraces } = await import("../observability/traces.ts");
    observer.add(scope.use(await openTraces({ config: tracing, logger, version })));
  }
  const audit = scope.use(new AsyncDisposableStack());
  const openAudit = (signer: Signer): Audit => {
    const place = audit.use(new AuditPlace(join(dataDir, "audit"), signer));
    const open = (name: string): AuditLog =>
      audit.use(new AuditLog({ place, name, clock: systemClock, logger }));
    // A log of its own: unauthenticated calls must not push out those of users.
    return { calls: open("calls"), refusals: open("refusals"), network: open("network") };
  };
  let opened: Audit | null = null;
  const logs = (): Audit => {
    if (opened === null) throw new Error("The audit log is not open yet.");
    return opened;
  };
  const owned = scope.move();
  return {
    observer,
    logger,
    openAudit: (signer) => void (opened = openAudit(signer)),
    onCall: (call) => logs()[call.user === null ? "refusals" : "calls"].append(call),
    onReview: (user, record) => logs().calls.append({ user, who: "reviewer", route: "review", ...record }),
    onRetention: (user, record) =>
      logs().calls.append({ user, who: "retention", route: "retention", ...record }),
    onEgress: (place, { at, ...record }) => {
      // The line itself has the time at which it was written.
      logs().network.append({ ...place, ...record, began: new Date(at).toISOString() });
    },
    openFaces(parts) {
      watched = parts;
      return metrics === null ? [] : [metricsFace({ metrics, isOpen: access === "open" })];
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Audit = Readonly<Record<"calls" | "refusals" | "network", AuditLog>>;

function gaugesOf(watched: Watched | null): Gauges {
  return {
    conversationsByStatus: async () => {
      const counts = statuses.map(
        async (executionStatus) =>
          [executionStatus, (await watched?.journal.countConversations({ executionStatus })) ?? 0] as const,
      );
      return new Map(await Promise.all(counts));
    },
    sandboxesByStatus: async () => (await watched?.sandboxes?.countByStatus()) ?? new Map(),
    wallsRunning: () => watched?.walls?.countRunning() ?? 0,
    openSockets: () => watched?.app.websocketServer.clients.size ?? 0,
    webhooks: () => watched?.webhooks.status ?? [],
  };
}
