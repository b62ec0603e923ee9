import type { Cluster } from "../../cluster/cluster.ts";
import { forward, type ToolSource } from "../tool-source.ts";

/** A source whose calls wait between their record and their tool until this node is sound, where the host is in this process. */
export function waitBeforeStart(source: ToolSource, cluster: Pick<Cluster, "untilSound">): ToolSource {
  const beforeStart = async (signal: AbortSignal): Promise<void> => await cluster.untilSound(signal);
  return {
    ...forward(source),
    execute: async (request, options) => await source.execute(request, { ...options, beforeStart }),
  };
}
