import { join } from "node:path";
import type { Cluster } from "../cluster/cluster.ts";
import { isNodeAlive } from "../journal/sqlite/lease.ts";
import type { ServerConfig } from "./config.ts";

/** Ids of the nodes that live. On a data folder the address of a killed node is there until somebody asks for its lock. */
export async function findLivingNodes(
  { database, dataDir }: Pick<ServerConfig, "database" | "dataDir">,
  cluster: Pick<Cluster, "nodes">,
): Promise<ReadonlySet<string>> {
  const ids = (await cluster.nodes()).map(({ id }) => id);
  const folder = join(dataDir, "nodes");
  return new Set(database === null ? ids.filter((id) => isNodeAlive(folder, id)) : ids);
}
