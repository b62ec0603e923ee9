import type { Server } from "node:http";
import type { Logger } from "../lib/logger.ts";

/** The maximum number of connections that leaves file handles for databases, programs and modules; null: no maximum. */
export function maxConnections(openFileLimit: number | null): number | null {
  if (openFileLimit === null) return null;
  return openFileLimit - Math.min(wantedReserve, Math.floor(openFileLimit / 2));
}

/** About what 50 conversations at work need. */
const wantedReserve = 512;

/** Closes connections above the limit at once, with an occasional log line. */
export function limitConnections(server: Server, max: number | null, logger: Logger): void {
  if (max === null) return;
  server.maxConnections = max;
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  server.on("drop", () => {
    if (performance.now() - reportedAtMs < reportEveryMs) return;
    reportedAtMs = performance.now();
    logger.warn({ max }, "too many connections");
  });
}

const reportEveryMs = 60_000;
