import type { Cluster } from "../cluster/cluster.ts";
import type { Machines } from "../cluster/machines.ts";
import type { NamedLeases } from "../cluster/named-leases.ts";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { DatabasePlace } from "../database/open-application-database.ts";
import type { Journal } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import type { WatchdogShared } from "../lib/watchdog-memory.ts";
import type { SecretBox } from "../security/seal.ts";
import type { WriterThread } from "../journal/sqlite/writer-thread.ts";

/** All stored data of a server, the key that seals its secrets, and the nodes that share the store. */
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
  /** The key that seals secrets; null when the folder has its own key file. */
  readonly masterSecret: string | null;
  readonly logger: Logger;
  /** The watchdog that the store's thread also serves; only the store of a data folder has a thread. */
  readonly watch?: WatchdogShared | null;
  /** A journal thread that was started earlier; see {@link startWriterThread}. */
  readonly writerThread?: WriterThread | undefined;
};
