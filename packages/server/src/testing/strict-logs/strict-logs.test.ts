import { expect, test } from "vitest";
import { playLogs } from "./play-logs.ts";

const seed = Number(process.env["CONVOKE_SEED"] ?? 2026);

test(
  "P12: nothing that is stored ends a run, whichever provider continues it",
  { timeout: 120_000 },
  async () => {
    expect((await playLogs({ count: 5, seed })).findings).toEqual([]);
  },
);
