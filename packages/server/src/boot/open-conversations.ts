import type { LLM } from "@convoke/protocol";
import { openAppConversations } from "../app-conversations/open-app-conversations.ts";
import type { FaceDeps } from "../faces/face-deps.ts";
import type { ServerConfig } from "./config.ts";
import { Hosts } from "./choose-host.ts";
import type { BoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import { isDemoModel } from "../directory/demo.ts";
import { Directory } from "../directory/directory.ts";
import { readConfig } from "../engine/read-config.ts";
import { estimatedWhenAborted } from "../engine/run/aborted-call.ts";
import type { McpAccess } from "../tools/sources/mcp-tools.ts";
import type { OpenToolSource } from "../tools/tool-source.ts";
import type { RuleSources } from "../directory/owned-rules.ts";
import { Quotas } from "../directory/quotas.ts";
import type { PolicyStore } from "../settings/policy-store.ts";
import type { WallHolds } from "../walls/wall-holds.ts";
import { Standstills } from "../directory/standstills.ts";
import { CopyFolders } from "../extensions/sources/copy-folders.ts";
import { ExtensionCopies } from "../extensions/sources/extension-copies.ts";
import { ExtensionSources } from "../extensions/sources/extension-sources.ts";
import type { GitWayDeps } from "../extensions/sources/git-way.ts";
import { installedSkills } from "../extensions/sources/installed-skills.ts";
import { SecretStore } from "../settings/secret-store.ts";
import { openSkillAccess, type SkillAccess } from "../tools/session-skills.ts";
import { toConversationInfo } from "../engine/state/conversation-info.ts";
import type { Journal } from "../journal/journal.ts";
import { withCallDepth } from "../lib/call-depth.ts";
import { systemClock } from "../lib/clock.ts";
import type { Activity } from "../lib/watchdog.ts";
import { version } from "../lib/version.ts";
import { wait } from "../lib/wait.ts";
import type { Model } from "../models/model.ts";
import { openModel } from "../models/open-model.ts";
import { pacedSend } from "../models/paced-send.ts";
import type { Observer } from "../observability/observer.ts";
import { watchModel } from "../observability/watch-model.ts";
import type { Store } from "./store.ts";
import { readServerRetention } from "./read-server-retention.ts";
import { readServerRules } from "./read-server-rules.ts";
import { Retention, type RetentionDeps } from "../retention/retention.ts";
import { toolSources } from "./tool-sources.ts";
import { openNetworkTool } from "../tools/sources/network-source.ts";
import { McpLogins } from "../settings/mcp-logins.ts";
import { ModelLessons } from "../settings/model-lessons.ts";
import { RuleStore } from "../settings/rule-store.ts";
import { ProfileHistory } from "../settings/profile-history.ts";
import { HoldStore } from "../settings/hold-store.ts";
import { RetentionPolicyStore } from "../settings/retention-policy-store.ts";
import { TrashStore } from "../settings/trash-store.ts";
import { SettingsStore } from "../settings/settings-store.ts";
import { findStoredModel } from "../settings/stored-models.ts";
import { Ledger } from "../spending/ledger.ts";
import { BudgetGuard } from "../spending/budget-guard.ts";
import { SpendHolds } from "../spending/spend-holds.ts";
import { Webhooks } from "../webhooks/webhooks.ts";
import { toAddressList } from "../lib/address-list.ts";
import { createFilteredFetch } from "../lib/filtered-fetch.ts";
import type { Walls } from "../walls/wall.ts";
import { DiskWatch } from "../workspaces/disk-watch.ts";
import { createMachinePolicy } from "../workspaces/machine-policy.ts";

/** Wraps what a server opens, e.g. to make it fail at a chosen moment. */
export interface Wrap {
  journal(journal: Journal): Journal;
  model(model: Model): Model;
}

export const noWrap: Wrap = { journal: (journal) => journal, model: (model) => model };

export type OpenConversationsDeps = Store &
  Pick<FaceDeps, "toolHost" | "sandboxes" | "validator" | "logger" | "demo"> & {
    readonly config: ServerConfig;
    /** Null: conversations on this machine have no walls. */
    readonly walls: Walls | null;
    readonly policies: PolicyStore;
    readonly wallHolds: WallHolds;
    readonly boundSecrets: BoundSecretRegistry;
    readonly observer: Observer;
    /** Timeouts for MCP servers where they are not the documented ones. */
    readonly mcp: Pick<McpAccess, "times" | "firstWaitMs">;
    /** The server's own keys, which are masked in every conversation. */
    readonly serverKeys: readonly string[];
    /** See `DirectoryDeps`. */
    readonly isAttended: boolean;
    /** True when other processes behind the same port share the sandboxes. */
    readonly hasSharedSandboxes: boolean;
    readonly activity: Activity;
    /** Besides the server's own. */
    readonly moreToolSources: readonly OpenToolSource[];
    /** How git reaches hosts for users. */
    readonly gitWays: GitWayDeps;
    /** Wraps every model. */
    readonly wrap: Pick<Wrap, "model">;
    /** Writes what reviewers decide to the audit log. */
    readonly onReview: RuleSources["onReview"];
    /** Writes what retention does to the audit log. */
    readonly onRetention: RetentionDeps["onRecord"];
  };

/** The conversations of a server, and the services they use. */
export type OpenConversations = AsyncDisposable &
  Pick<
    FaceDeps,
    | "filteredFetch"
    | "directory"
    | "appConversations"
    | "settings"
    | "secrets"
    | "profileHistory"
    | "ruleSources"
    | "policies"
    | "retention"
    | "retentionPolicies"
    | "holds"
    | "trash"
    | "quotas"
    | "skills"
    | "sources"
    | "mcpLogins"
    | "ledger"
    | "requireMachine"
    | "openModel"
  > & { readonly hosts: Hosts; readonly webhooks: Webhooks };

/** Opens conversations on a store. No run resumes before `directory.recover` is called. */
export async function openConversations(deps: OpenConversationsDeps): Promise<OpenConversations> {
  const { config, journal, database, secretBox, sandboxes, walls, observer, logger, wrap } = deps;
  await using scope = new AsyncDisposableStack();
  const webhooks = scope.use(
    new Webhooks({
      hooks: config.webhooks,
      database,
      journal,
      leases: deps.leases,
      conversations: { describe: (id) => describeForHooks(journal, directory, id) },
      clock: systemClock,
      wait,
      logger,
    }),
  );
  scope.defer(
    journal.onCommit(({ type, conversationId, lastSeq, durationMs }) => {
      if (type === "appended") observer.appended(durationMs);
      if (type !== "marked") webhooks.onAppend(conversationId, lastSeq);
    }),
  );
  const settings = new SettingsStore({ database, secretBox, clock: systemClock });
  const profileHistory = new ProfileHistory({ settings, database, clock: systemClock });
  const ruleSources: RuleSources = {
    server: await readServerRules(config.rulesFile, deps.validator),
    users: await RuleStore.open({ database, clock: systemClock }),
    onReview: deps.onReview,
  };
  const send = pacedSend(fetch);
  const modelLessons = new ModelLessons({ database, clock: systemClock, logger });
  const openFor = (llm: LLM, ownerId: string, callDepth: number): Model => {
    const findProfile = findStoredModel(settings, ownerId);
    const lessons = modelLessons.of(ownerId);
    const model = wrap.model(openModel(llm, { send: withCallDepth(send, callDepth), findProfile, lessons }));
    return watchModel(estimatedWhenAborted(model, llm), observer);
  };
  const local = openSkillAccess(config);
  const ledger = await Ledger.open({
    database,
    maxPerDay: config.maxBudgetPerUserPerDay,
    clock: systemClock,
    logger,
  });
  const requireMachine = createMachinePolicy({
    users: config.machineUsers,
    isSandboxed: config.areConversationsSandboxed,
  });
  const { toolHost } = deps;
  const folders = new CopyFolders(config.dataDir);
  const isMachineUser = (userId: string): boolean =>
    ["*", userId].some((name) => config.machineUsers.includes(name));
  const secrets = new SecretStore({ database, secretBox, clock: systemClock });
  const sources = new ExtensionSources({
    copies: new ExtensionCopies({ database, folders, clock: systemClock }),
    fetch: { ways: deps.gitWays, host: toolHost },
    settings,
    secrets,
    policiesOf: (userId) => {
      const { max_network: max } = deps.policies.of(userId);
      const server = { source: "server", policy: config.wall.network } as const;
      return max === undefined ? [server] : [server, { source: "user", policy: max }];
    },
    localFiles: local.server.files,
    files: local.filesOf(toolHost) ?? local.server.files,
    requireMachine,
  });
  await sources.copies.sweep();
  const skills: SkillAccess = {
    ...local,
    installedOf: async (userId) =>
      await installedSkills(sources, userId, (await settings.load(userId)).settings),
  };
  const { workspaceRoot } = config;
  const hosts = new Hosts({
    toolHost,
    sandboxes,
    walls,
    network: config.wall.network,
    sandboxNetwork: config.sandbox.network,
    boundSecrets: deps.boundSecrets,
    requireMachine,
    disk: new DiskWatch({ folders: [config.dataDir] }),
    policyOf: deps.policies.of,
    isMachineUser,
    copies: {
      make: (userId) => folders.make(userId),
      folderOf: (userId, digest) => sources.copies.folderOf(userId, digest),
    },
    workspaceRoot,
    home: config.homeDir,
    logger,
  });
  observer.add({
    ended({ activity }) {
      if (activity.kind === "run") hosts.findAfterRun(activity.conversationId);
    },
  });
  const isBlocked = toAddressList(config.blockedAddresses, "CONVOKE_BLOCKED_ADDRESSES");
  const filteredFetch = config.blockedAddresses.length === 0 ? fetch : createFilteredFetch(isBlocked);
  const mcpLogins = new McpLogins({ database, secretBox, leases: deps.leases, clock: systemClock });
  const quotas = new Quotas({ journal, policies: deps.policies, walls: deps.wallHolds });
  const holds = new HoldStore({ database, clock: systemClock });
  const trash = new TrashStore(database);
  const retentionPolicies = new RetentionPolicyStore({ database, clock: systemClock });
  const directory: Directory = scope.use(
    new Directory({
      holds,
      trash,
      journal,
      ruleSources,
      storedModels: { find: (ownerId, name) => findStoredModel(settings, ownerId)(name) },
      chooseHost: hosts.choose,
      describeWall: hosts.describe,
      deletions: {
        beforeDelete: async (id) => {
          await webhooks.onDelete(id);
          await walls?.remove(id);
          const row = await journal.getConversation(id);
          const stored = row === null ? null : readConfig(row);
          if (stored !== null) await hosts.sandboxes.endGrants(id, stored);
          if (row !== null) await profileHistory.unpin(row.ownerId, id, null);
        },
      },
      quotas,
      secretBox,
      boundSecrets: deps.boundSecrets,
      serverKeys: deps.serverKeys,
      models: {
        open: ({ agent, workspace, call_depth: callDepth = 0 }, secrets, ownerId) =>
          deps.demo !== null && isDemoModel(agent.llm)
            ? watchModel(wrap.model(deps.demo.openModel(workspace.working_dir)), observer)
            : openFor({ ...agent.llm, ...secrets.llm }, ownerId, callDepth),
      },
      validator: deps.validator,
      skills,
      budgetGuard: new BudgetGuard(
        ledger,
        new SpendHolds({ database, cluster: deps.cluster, ledger, logger }),
      ),
      standstills: await Standstills.open(config.dataDir),
      activity: deps.activity,
      toolSources: [...toolSources, openNetworkTool(hosts.grants), ...deps.moreToolSources],
      mcp: { fetch: filteredFetch, clientVersion: version, logins: mcpLogins, ...deps.mcp },
      dataDir: config.dataDir,
      cluster: config.database === null ? null : deps.cluster,
      workspaceRoot,
      clock: systemClock,
      isAttended: deps.isAttended,
      logger,
      observer,
    }),
  );
  scope.defer(
    deps.cluster.onFenced(() => {
      logger.error(
        {},
        "node fenced after missed heartbeats; other nodes take over its conversations, and it continues under a new id",
      );
      directory.loseAll();
    }),
  );
  scope.defer(
    journal.onSetBack((lost) => {
      logger.warn({ conversations: lost.length }, "the database was set back to an earlier state");
      for (const { conversationId, ...events } of lost)
        logger.error({ conversation: conversationId, ...events }, "acknowledged events are lost");
      directory.onSetBack(lost.map(({ conversationId }) => conversationId));
    }),
  );
  const retention = new Retention({
    directory,
    journal,
    policies: retentionPolicies,
    holds,
    trash,
    leases: deps.leases,
    serverPolicy: await readServerRetention(config.retentionFile, deps.validator),
    onRecord: deps.onRetention,
    clock: systemClock,
    logger,
  });
  const appConversations = scope.use(
    openAppConversations({
      database,
      secretBox,
      directory,
      journal,
      holds,
      sandboxes,
      cluster: deps.cluster,
      hasMachines: deps.machines !== null || deps.hasSharedSandboxes,
      clock: systemClock,
      logger,
    }),
  );
  const owned = scope.move();
  return {
    hosts,
    filteredFetch,
    directory,
    appConversations,
    webhooks,
    settings,
    secrets,
    profileHistory,
    ruleSources,
    policies: deps.policies,
    retention,
    retentionPolicies,
    holds,
    trash,
    quotas,
    skills,
    sources,
    mcpLogins,
    ledger,
    requireMachine,
    openModel: (llm) => watchModel(wrap.model(openModel(llm, { send: withCallDepth(fetch, 0) })), observer),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The conversation as webhooks receive it, as JSON; null when it no longer exists. */
async function describeForHooks(journal: Journal, directory: Directory, id: string): Promise<string | null> {
  const owner = (await journal.getConversation(id))?.ownerId;
  const described = owner === undefined ? null : await directory.describe({ userId: owner }, id);
  return described === null ? null : JSON.stringify(toConversationInfo(described));
}
