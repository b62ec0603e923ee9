import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Logger } from "../lib/logger.ts";

/**
 * The maximum number of connections that leaves file handles for databases, programs and modules. `limits` are the
 * system's limits of this process; null when unknown: no maximum.
 */
export function maxConnections(limits: string | null): number | null {
  const [, max] = /^Max open files +(\d+) /m.exec(limits ?? "") ?? [];
  if (max === undefined) return null;
  const handles = Number(max);
  return handles - Math.min(wantedReserve, Math.floor(handles / 2));
}

/** About what 50 conversations at work need. */
const wantedReserve = 512;

/** Linux's limits of this process; null on other systems. */
export function readLimits(): string | null {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    // Other systems have no such file.
    return null;
  }
}

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
