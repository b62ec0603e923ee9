import type { SchemaPart } from "./migrate.ts";

/*
 * nodes: one row for each running process. A heartbeat changes no index, so its row stays on its page. machine: the
 * name of its data folder. named_leases: work that one process does for all. installation: values that the first
 * process stored for all later ones.
 */
export const nodesSchema: SchemaPart = {
  name: "nodes",
  firstVersion: 1,
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
