import type { Command } from "commander";

/** The command that starts a server calls `keepCompiled` once it has started. */
type AddCommand = (program: Command, keepCompiled: () => void) => void;

type CommandTable = Readonly<Record<string, () => Promise<AddCommand>>>;

/** Commands over the API of a running server. */
export const apiCommands: CommandTable = {
  ls: async () => (await import("./commands/ls.ts")).addLs,
  show: async () => (await import("./commands/show.ts")).addShow,
  send: async () => (await import("./commands/send.ts")).addSend,
  resume: async () => (await import("./commands/send.ts")).addResume,
  pause: async () => (await import("./commands/halt.ts")).addPause,
  interrupt: async () => (await import("./commands/halt.ts")).addInterrupt,
  stop: async () => (await import("./commands/halt.ts")).addStop,
  fork: async () => (await import("./commands/fork.ts")).addFork,
  rename: async () => (await import("./commands/rename.ts")).addRename,
  rm: async () => (await import("./commands/rm.ts")).addRm,
  share: async () => (await import("./commands/share.ts")).addShare,
  shares: async () => (await import("./commands/share.ts")).addShares,
  unshare: async () => (await import("./commands/share.ts")).addUnshare,
  profiles: async () => (await import("./commands/profiles.ts")).addProfiles,
  plugins: async () => (await import("./commands/plugins.ts")).addPlugins,
  schedule: async () => (await import("./commands/schedule.ts")).addSchedule,
  export: async () => (await import("./commands/export.ts")).addExport,
  hold: async () => (await import("./commands/hold.ts")).addHold,
  unhold: async () => (await import("./commands/hold.ts")).addUnhold,
  holds: async () => (await import("./commands/hold.ts")).addHolds,
  retention: async () => (await import("./commands/retention.ts")).addRetention,
  import: async () => (await import("./commands/import.ts")).addImport,
  search: async () => (await import("./commands/search.ts")).addSearch,
  stats: async () => (await import("./commands/stats.ts")).addStats,
  approvals: async () => (await import("./commands/approvals.ts")).addApprovals,
  approve: async () => (await import("./commands/approvals.ts")).addApprove,
  reject: async () => (await import("./commands/approvals.ts")).addReject,
};

/** Each command is loaded when it is wanted: one that needs no server starts without loading it. */
export const commands: CommandTable = {
  serve: async () => (await import("./commands/serve.ts")).addServe,
  open: async () => (await import("./commands/open.ts")).addOpen,
  run: async () => (await import("./commands/run.ts")).addRun,
  chat: async () => (await import("./commands/chat.ts")).addChat,
  acp: async () => (await import("./commands/acp.ts")).addAcp,
  mcp: async () => (await import("./commands/mcp.ts")).addMcp,
  ...apiCommands,
  attach: async () => (await import("./commands/attach.ts")).addAttach,
  demo: async () => (await import("./commands/demo.ts")).addDemo,
  config: async () => (await import("./commands/config.ts")).addConfig,
  logs: async () => (await import("./commands/logs.ts")).addLogs,
  completion: async () => (await import("./commands/completion.ts")).addCompletion,
  health: async () => (await import("./commands/health.ts")).addHealth,
  service: async () => (await import("./commands/service.ts")).addService,
  doctor: async () => (await import("./commands/doctor.ts")).addDoctor,
  backup: async () => (await import("./commands/backup.ts")).addBackup,
  restore: async () => (await import("./commands/restore.ts")).addRestore,
  store: async () => (await import("./commands/store.ts")).addStore,
  trash: async () => (await import("./commands/trash.ts")).addTrash,
  keys: async () => (await import("./commands/keys.ts")).addKeys,
  audit: async () => (await import("./commands/audit.ts")).addAudit,
  rules: async () => (await import("./commands/rules.ts")).addRules,
  inspect: async () => (await import("./commands/inspect.ts")).addInspect,
  replay: async () => (await import("./commands/replay.ts")).addReplay,
  "tool-host": async () => (await import("./commands/tool-host.ts")).addToolHost,
  "scripted-model": async () => (await import("./commands/scripted-model.ts")).addScriptedModel,
};
