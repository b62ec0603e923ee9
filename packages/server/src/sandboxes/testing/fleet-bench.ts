import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { silentLogger } from "../../lib/logger.ts";
import { createSecretBox } from "../../security/seal.ts";
import { openSandboxFleet } from "../sandbox-fleet.ts";
import type { FleetTimes, SandboxFleet } from "../sandbox-fleet.ts";
import type { SandboxSpec } from "../sandbox.ts";
import { openSqliteSandboxStore } from "../sqlite-sandbox-store.ts";
import { TableBackend } from "./table-backend.ts";
import type { StartNews } from "../watched-start.ts";
import { systemClock } from "../../lib/clock.ts";

export const secretBox = createSecretBox(randomBytes(32));

/** A fleet over sandboxes that are rows of a table. */
export async function openFleetBench(times: Partial<FleetTimes> = {}) {
  const dir = await mkdtemp(join(tmpdir(), "convoke-fleet-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = join(dir, "sandboxes.sqlite");
  const news: StartNews[] = [];
  const bench = {
    file,
    backend: new TableBackend(),
    /** False: the next server has another backend, for the same table. */
    isServed: true,
    news,
    fleet: undefined as unknown as SandboxFleet,
    store: openSqliteSandboxStore(file),
    open: async () => {
      bench.fleet = await openSandboxFleet({
        backends: bench.isServed ? [bench.backend] : [new TableBackend(bench.backend.table, "other")],
        store: bench.store,
        secretBox,
        clock: systemClock,
        logger: silentLogger,
        times,
        listener: {
          changed: (_id, item) => {
            if (item !== null) news.push(item);
          },
        },
      });
      return bench.fleet;
    },
    /** As kill -9 would: the sandboxes stay, the next fleet knows only what was written down. */
    crash: async (change: (backend: TableBackend) => void = () => {}) => {
      bench.backend = new TableBackend(bench.backend.table);
      change(bench.backend);
      // What a dead process can no longer do.
      await bench.store[Symbol.asyncDispose]();
      bench.store = openSqliteSandboxStore(file);
      return bench.open();
    },
    create: async (id = "one") =>
      bench.fleet.create({ ownerId: "user", backend: "table", spec: fleetSpec(id) }),
  };
  await bench.open();
  onTestFinished(() => bench.fleet[Symbol.asyncDispose]());
  return bench;
}

export function fleetSpec(id: string): SandboxSpec {
  const limits = { memoryMb: 512, cpus: 1, pids: 100 };
  return { id, workspaceDir: "/w", environment: {}, limits, network: "none" };
}
