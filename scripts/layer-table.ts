/** Who may import whom. `scripts/check-layers.ts` holds the sources to it; change the table only with a decision record. */
export type LayerTable = {
  /** Folder under `packages/` -> the packages it may import. */
  readonly packages: Readonly<Record<string, readonly string[]>>;
  /** Package -> ranks of its folders under `src/`, lowest first: a folder may import lower ranks, never its own rank or a higher one. */
  readonly folderRanks: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** `package/folder` -> folders of the same rank that it may import after all. */
  readonly sideways: Readonly<Record<string, readonly string[]>>;
  /**
   * `package/folder`, at any depth -> ranks inside the folder, lowest first: its sub-folders, single files of its own by name, and `.` for the
   * rest of these. A sub-folder may import lower ranks only; files of one rank may import each other. Tests may import anything.
   */
  readonly subfolderRanks: Readonly<Record<string, readonly (readonly string[])[]>>;
  /**
   * Imports that the ranks inside folders forbid, as `file -> file` below `packages/`. The list only gets shorter: one that is not needed any
   * more is a violation.
   */
  readonly exceptions: readonly string[];
  /**
   * Packages whose production sources may import test doubles, through a package's exports. Doubles live below folders
   * named `testing`; they may import their whole package, and no other production source may import them.
   */
  readonly testingUsers: readonly string[];
  /** Packages that also run in browsers: no Node modules. */
  readonly browserSafe: readonly string[];
  /** Packages that may read the environment in any file; the others only in `config*.ts`. */
  readonly environmentReaders: readonly string[];
  /** Folders below `packages` that may read `/proc`: the process table, and what runs on Linux alone. */
  readonly procReaders: readonly string[];
  /** Folders at the root (not packages) that may reach any file inside a package, because they measure its parts. */
  readonly reachInside: readonly string[];
};

export const layerTable: LayerTable = {
  packages: {
    protocol: [],
    client: ["protocol"],
    "tool-host": ["protocol"],
    server: ["protocol", "client", "tool-host"],
    cli: ["protocol", "client", "tool-host", "server"],
    web: ["protocol", "client"],
  },
  folderRanks: {
    server: [
      ["lib"],
      ["database", "models", "security"],
      ["cluster", "egress"],
      ["journal", "settings", "sandboxes", "spending", "workspaces"],
      ["walls"],
      ["events"],
      ["automations", "extensions", "observability", "oidc", "push", "webhooks"],
      ["triggers"],
      ["agent"],
      ["engine"],
      ["tools", "reading"],
      ["directory"],
      ["app-conversations", "imports", "retention"],
      ["http"],
      ["faces"],
      ["boot"],
      ["admin"],
    ],
    web: [
      ["lib", "words"],
      ["colours"],
      ["ui", "text", "diff"],
      ["connection"],
      ["log", "overview"],
      ["services"],
      ["approvals", "cards", "login"],
      ["browser", "composer", "events", "files", "previews", "review", "shells", "timeline"],
      ["conversation", "home", "search", "settings"],
      ["automations"],
      ["app", "replay"],
      ["shared"],
    ],
  },
  sideways: {
    // Code and differences have buttons: one to copy, one to show the rest.
    "web/text": ["ui"],
    "web/diff": ["ui"],
    // What waits for an answer is shown as on the card of its call.
    "web/approvals": ["cards"],
  },
  subfolderRanks: {
    "cli/chat": [["screen"], ["input"], ["lines"], ["talk"], ["."]],
    "cli/acp": [
      ["fields.ts"],
      ["file-changes.ts"],
      ["mapping.ts", "session-errors.ts"],
      ["permissions.ts", "prompt-content.ts", "session-updates.ts", "start-session.ts"],
      ["session-options.ts", "turn.ts"],
      ["session.ts"],
      ["."],
    ],
    "server/egress": [
      ["policy", "certificates"],
      ["egress.ts"],
      ["records"],
      ["addresses"],
      ["forward"],
      ["intercept"],
      ["front"],
      ["."],
    ],
    "server/engine": [
      [
        "approval-policy.ts",
        "bound-secrets.ts",
        "conversation-config.ts",
        "inbox.ts",
        "refusals.ts",
        "secret-values.ts",
        "session-context.ts",
        "signals.ts",
        "tool-belt.ts",
        "unused-fields.ts",
        "view-cache.ts",
        "worktree.ts",
      ],
      ["lazy-session.ts", "work-queue.ts"],
      ["state"],
      ["conversation-log.ts", "masked-values.ts"],
      ["configuration.ts", "hook-gate.ts", "ports.ts"],
      ["conversation-deps.ts", "conversation-models.ts"],
      ["shared-parts.ts"],
      ["titling.ts"],
      ["commands"],
      ["run"],
      ["acp"],
      ["."],
    ],
    "server/tools": [
      ["refusals-since.ts", "call-notes.ts"],
      ["conversation-host.ts", "own-tool.ts", "tool-source.ts", "session-skills.ts"],
      ["belt.ts"],
      ["around", "filters", "workflow", "worktrees"],
      ["tasks"],
      ["sources"],
      ["."],
      ["people"],
    ],
    "server/faces": [
      ["face-deps.ts"],
      ["agent-server", "logins", "machines", "operations"],
      ["legacy"],
      ["app-server", "openai"],
      ["agent-server-handlers.ts"],
      ["gateway"],
      ["previews"],
      ["."],
    ],
    "server/faces/agent-server": [
      ["report-unused.ts"],
      ["settings"],
      ["extensions"],
      ["events", "server"],
      ["conversations", "files"],
      ["automations"],
      ["shells"],
      ["machines", "sockets"],
    ],
  },
  exceptions: [],
  testingUsers: ["cli"],
  browserSafe: ["protocol", "client", "web"],
  environmentReaders: ["cli"],
  procReaders: ["tool-host/src/system", "server/src/sandboxes", "server/src/walls"],
  reachInside: ["bench"],
};

/** What `scripts/check-layers.ts` reports. */
export const layerRules = [
  "package-order",
  "folder-order",
  "subfolder-order",
  "unused-exception",
  "late-cycle",
  "unknown-folder",
  "testing-only",
  "test-file",
  "browser-safe",
  "environment",
  "own-place",
  "system-table",
  "index-at-root",
  "named-file",
  "deep-import",
  "unresolved",
] as const;
export type LayerRule = (typeof layerRules)[number];
