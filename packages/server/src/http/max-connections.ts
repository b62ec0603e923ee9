import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Logger } from "../lib/logger.ts";

/**
 * How many connections a server may hold, so that file handles remain for what the requests need: databases, programs,
 * modules. `limits` is what the system says about this process; null where it does not say, then nothing is limited.
 */
export function mostConnections(limits: string | null): number | null {
  const [, most] = /^Max open files +(\d+) /m.exec(limits ?? "") ?? [];
  if (most === undefined) return null;
  const handles = Number(most);
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
export function limitConnections(server: Server, most: number | null, logger: Logger): void {
  if (most === null) return;
  server.maxConnections = most;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  server.on("drop", () => {
    if (performance.now() - toldAtMs < tellEveryMs) return;
    toldAtMs = performance.now();
    logger.warn({ most }, "too many connections");
  });
}

const tellEveryMs = 60_000;
