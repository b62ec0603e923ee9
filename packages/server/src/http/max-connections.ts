import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Logger } from "../lib/logger.ts";

/**
 * How many connections a server may hold, so that file handles remain for what the requests need: databases, programs,
 * modules. `limits` is what the system says about this process; null where it does not say, then nothing is limited.
 */
export function maxConnections(limits: string | null): number | null {
  const [, max] = /^Max open files +(\d+) /m.exec(limits ?? "") ?? [];
  if (max === undefined) return null;
  const handles = Number(max);
  return handles - Math.min(wantedReserve, Math.floor(handles / 2));
}

/** About what 50 conversations at work need. */
const wantedReserve = 512;

/** What Linux says about this process; null on other systems. */
export function readLimits(): string | null {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    // There is no such file elsewhere, and then nothing is known.
    return null;
  }
}

/** Connections above the limit are closed at once, which the log says now and then. */
export function limitConnections(server: Server, max: number | null, logger: Logger): void {
  if (max === null) return;
  server.maxConnections = max;
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  server.on("drop", () => {
    if (performance.now() - reportedAtMs < reportEveryMs) return;
    reportedAtMs = performance.now();
    logger.warn({ most: max }, "too many connections");
  });
}

const reportEveryMs = 60_000;
