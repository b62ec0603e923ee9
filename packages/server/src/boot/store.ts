import type { Worker } from "node:worker_threads";
import type { Cluster } from "../cluster/cluster.ts";
import type { Machines } from "../cluster/machines.ts";
import type { NamedLeases } from "../cluster/named-leases.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { DatabasePlace } from "../database/open-application-database.ts";
import type { Journal } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import type { WatchdogShared } from "../lib/watchdog-memory.ts";
import type { SecretBox } from "../security/seal.ts";

/** Everything that a server keeps, what it seals secrets with, and the other servers that share it. */
export interface Store extends AsyncDisposable {
  readonly journal: Journal;
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
  readonly leases: NamedLeases;
  readonly cluster: Cluster;
  /** Null where all servers on the store are on one machine. */
  readonly machines: Machines | null;
}

export type StoreDeps = DatabasePlace & {
  /** What secrets are sealed with; null when the folder has a key file of its own. */
  readonly masterSecret: string | null;
  readonly logger: Logger;
  /** What a thread of the store watches besides, where it has one: that of a data folder has. */
  readonly watch?: WatchdogShared | null;
  /** A thread for the journal of a data folder that was started before; see {@link startWriterThread}. */
  readonly writerThread?: Worker | undefined;
};
