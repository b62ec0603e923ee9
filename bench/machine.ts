import { cpus, loadavg, release, totalmem } from "node:os";

/** Facts about a machine that its numbers depend on. `load` is the average of the last minute. */
export type Machine = {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly system: string;
  readonly node: string;
  readonly load: number;
};

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    load: loadavg()[0] ?? 0,
  };
}
