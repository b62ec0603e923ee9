import type { SchemaPart } from "./migrate.ts";

/*
 * nodes: one row for each running process. A beat changes no index, so it stays on its page.
 * machine: the data folder that it keeps its files in, by its name.
 * named_leases: what one process does for all. installation: what the first process wrote down for those that come after it.
 */
export const nodesSchema: SchemaPart = {
  name: "nodes",
  steps: [
    `CREATE TABLE convoke.nodes (
      id         text COLLATE "C" PRIMARY KEY,
      beat       bigint NOT NULL DEFAULT 0,
      started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      dead_at    timestamptz
    ) WITH (fillfactor = 20)`,
    `ALTER TABLE convoke.nodes ADD COLUMN address text, ADD COLUMN release text;
    CREATE TABLE convoke.named_leases (
      name    text COLLATE "C" PRIMARY KEY,
      node_id text COLLATE "C" NOT NULL
    );
    CREATE TABLE convoke.installation (
      name  text COLLATE "C" PRIMARY KEY,
      value text NOT NULL
    )`,
    `ALTER TABLE convoke.nodes ADD COLUMN machine text COLLATE "C"`,
  ],
};
