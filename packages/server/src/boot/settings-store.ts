import { decimal, named, path, text, whole } from "./setting.ts";

/** Where the server keeps what it has, and how much. */
export const storeSettings = named({
  data_dir: path({
    flag: "--data-dir",
    shownDefault: "`~/.convoke`",
    doc: "the [data folder](operate.md#the-data-folder)",
  }),
  database: text({
    aliases: ["CONVOKE_DATABASE_URL"],
    flag: "--database",
    isSecret: true,
    doc: "a PostgreSQL that [several servers](several-nodes.md) share",
  }),
  database_listen: text({
    isSecret: true,
    doc: "its address past a pooler, or `off`, see [several servers](several-nodes.md)",
  }),
  node_address: text({
    doc: "how the other servers reach this one, see [several servers](several-nodes.md)",
  }),
  workspace_root: path({
    flag: "--workspace-root",
    shownDefault: "the current directory",
    doc: "where relative working directories of conversations are",
  }),
  conversation_idle_seconds: whole({
    fallback: 1200,
    least: 0,
    max: 1_000_000,
    doc: "a conversation that nobody uses leaves memory after so many seconds; it is loaded again on demand",
  }),
  retention: path({
    doc: "a file with a [retention policy](retention.md) for the conversations of everybody",
  }),
  retention_interval_seconds: whole({
    fallback: 3600,
    least: 1,
    max: 86_400,
    doc: "how often [retention](retention.md) is applied",
  }),
  standstill_seconds: whole({
    fallback: 60,
    least: 0,
    max: 86_400,
    doc: "a server whose event loop stands still for so many seconds ends itself, see [operate](operate.md#a-server-that-stands-still); 0 never",
  }),
  upload_limit_mib: whole({
    fallback: 8192,
    least: 0,
    max: 1_048_576,
    doc: "the largest upload in MiB, see [files](files.md)",
  }),
  bash_events_retention_seconds: whole({
    variable: "OH_BASH_EVENTS_RETENTION_SECONDS",
    fallback: 0,
    shownDefault: "no limit",
    least: 0,
    max: 1_000_000_000,
    doc: "how long [commands](bash.md) and their output are kept",
  }),
  max_budget_per_user_per_day: decimal({
    shownDefault: "no limit",
    least: 0,
    max: 1_000_000_000,
    doc: "US dollars that the model calls of one user may cost in a day (UTC)",
  }),
});
