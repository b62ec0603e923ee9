import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { playCrash, type CrashResult, type CrashScenario } from "./crash-play.ts";
import { crashScript } from "./crash-script.ts";

export { readLog, type CrashResult } from "./crash-play.ts";

/** The n-th passage of a fail point, in the server that was started as the `start`-th. */
export type Passage = { readonly point: string; readonly number: number; readonly start: number };

const simple: CrashScenario = { script: crashScript };

/** Plays the scenario once without a fault and returns every passage of every fail point. */
export async function countPassages(scenario = simple): Promise<Passage[]> {
  return await inFolder(async (folder) => {
    const traceFiles = [join(folder, "trace-1"), join(folder, "trace-2")];
    await playCrash({ folder, ...scenario, traceFiles });
    const passages: Passage[] = [];
    for (const [index, file] of traceFiles.entries()) {
      if (index > 0 && scenario.restartsAtApproval !== true) break;
      for (const line of (await readFile(file, "utf8")).trim().split("\n")) {
        const [point = "", number = ""] = line.split(" ");
        passages.push({ point, number: Number(number), start: index + 1 });
      }
    }
    return passages;
  });
}

/** Plays the scenario on a server that dies at the passage, and continues on another one over the same data until the end. */
export async function crashAt(passage: Passage, scenario = simple): Promise<CrashResult> {
  const before = Array.from({ length: passage.start - 1 }, () => null);
  return await crashThrough([...before, passage], scenario);
}

/** The same with servers that die one after another: the n-th at the n-th passage, if it gets that far. */
export async function crashThrough(
  passages: readonly (Pick<Passage, "point" | "number"> | null)[],
  scenario = simple,
): Promise<CrashResult> {
  const failPoints = passages.map((one) => (one === null ? "" : `${one.point}=kill:${one.number}`));
  return await inFolder((folder) => playCrash({ folder, ...scenario, failPoints }));
}

/** The same with a disk that is full once, at the n-th append; the server survives. */
export async function fillDiskAt(append: number): Promise<CrashResult> {
  const failPoints = [`append.before=error:ENOSPC:${append}`];
  return await inFolder((folder) => playCrash({ folder, ...simple, failPoints }));
}

/** The same, killed from outside at a time after the conversation's creation: possibly in the middle of a write. */
export async function crashAfter(killAfterMs: number): Promise<CrashResult> {
  return await inFolder((folder) => playCrash({ folder, ...simple, killAfterMs }));
}

async function inFolder<Result>(play: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "convoke-crash-"));
  try {
    return await play(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
