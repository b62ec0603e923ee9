import type { Cluster } from "../cluster/cluster.ts";
import { join, posix, resolve } from "node:path";
import type { PersonShell, SessionSpec, TerminalSize, ToolSession } from "@convoke/tool-host";
import { isPlanning } from "../agent/plan-mode.ts";
import { toolSpecs } from "../agent/tool-specs.ts";
import type { ConversationConfig, ConversationSecrets } from "../engine/conversation-config.ts";
import { workspaceUnavailable } from "../engine/refusals.ts";
import type { SessionContext } from "../engine/session-context.ts";
import { noSecrets } from "../engine/stored-secrets.ts";
import type { ToolBelt } from "../engine/tool-belt.ts";
import type { Lease } from "../journal/journal.ts";
import { describeError } from "../lib/describe-error.ts";
import { invalidField } from "../lib/fault.ts";
import { isFolder } from "../lib/file-kinds.ts";
import type { Logger } from "../lib/logger.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import type { Model } from "../models/model.ts";
import type { Observer } from "../observability/observer.ts";
import { giveToParentsOwner } from "../workspaces/owned-files.ts";
import { checkBefore } from "./around/check-before.ts";
import { addNotes } from "./around/add-notes.ts";
import { waitBeforeStart } from "./around/before-start.ts";
import { leaveToHost } from "./around/hand-over.ts";
import { observeCalls } from "./around/observe.ts";
import { refuseCommands } from "./around/refuse-commands.ts";
import { reportRefusals } from "./around/report-refusals.ts";
import { giveFilesToOwner, type OwnedFolder } from "./around/owned-files.ts";
import type { ChooseHost, ConversationHost, HostedConversation } from "./conversation-host.ts";
import { browserOnDemand, isOnDemand } from "./filters/browser-on-demand.ts";
import { onlyPlanning } from "./filters/plan-mode.ts";
import { askForResponses } from "./filters/response-fields.ts";
import { readFolderSecrets } from "./read-folder-secrets.ts";
import { noSkills } from "../extensions/skills/skill-set.ts";
import { openConversationSkills, type SkillAccess } from "./session-skills.ts";
import { openAcp } from "./sources/acp-source.ts";
import { createHostSource } from "./sources/host-source.ts";
import { openMcpTools, type McpAccess } from "./sources/mcp-tools.ts";
import { openOracle } from "./sources/oracle-source.ts";
import { createSkillSource } from "./sources/skill-source.ts";
import { openTasks } from "./sources/task-source.ts";
import { openWorkflows } from "./sources/workflow-source.ts";
import type { SubConversationDeps } from "./tasks/sub-conversation.ts";
import type { OpenToolSource, ToolPlace, ToolSource } from "./tool-source.ts";
import { Belt } from "./belt.ts";

/** Opens the models of agents. */
export interface AgentModels {
  /** `ownerId` is whose stored models a conversation may name. */
  open(config: ConversationConfig, secrets: ConversationSecrets, ownerId: string): Model;
}

export type SessionsDeps = {
  readonly chooseHost: ChooseHost;
  readonly models: AgentModels;
  readonly mcp: McpAccess;
  /** Sources of tools that need nothing but the conversation; see `boot/tool-sources.ts`. */
  readonly toolSources: readonly OpenToolSource[];
  /** Where sub-agents have their conversations. */
  readonly children: SubConversationDeps;
  /** Without it a conversation has only the skills that came with its agent. */
  readonly skills?: SkillAccess;
  /** Absolute; every conversation has a private folder below it. */
  readonly dataDir: string;
  /** Relative working directories of clients are below this one. */
  readonly workspaceRoot: string;
  /**
   * Nodes on other machines that work on the same conversations: a workspace that is not here is not made again, and what tools do in
   * sandboxes is left to them when this one stops. Before a tool of this machine starts it waits until they do not regard this node as
   * dead: they would go on with what it worked on. Null: there are none.
   */
  readonly cluster: Pick<Cluster, "untilSound"> | null;
  readonly logger: Logger;
  /** Optional: without it nobody can watch. */
  readonly observer?: Observer;
};

export type SessionOwner = {
  readonly id: string;
  readonly ownerId: string;
  /** Of the actor: tools of a sandbox refuse those of the past. */
  readonly lease: Lease;
};

/** Opens the tools of conversations, and knows and makes the folders that they need. */
export class ConversationSessions {
  readonly #deps: SessionsDeps;
  /** In the order in which the model is offered their tools, behind those of the host. */
  readonly #openers: readonly OpenToolSource[];

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    const { children, skills = null, logger } = deps;
    const tasks = { children, skills, logger };
    this.#openers = [
      openTasks(tasks),
      openWorkflows(tasks),
      openOracle(children.storedModels),
      ...deps.toolSources,
      openMcpTools(deps.mcp),
    ];
  }

  /** The tools of a conversation: its host's, and what else its configuration asks for. */
  async open(owner: SessionOwner, config: ConversationConfig, context: SessionContext): Promise<ToolBelt> {
    const { id, ownerId } = owner;
    const chosen = await this.#deps.chooseHost({ id, ownerId, config });
    const isHere = chosen.kind !== "sandbox";
    const folder = isHere ? await this.#findWorkspace(config) : null;
    const workspaceDir = isHere ? this.workspaceDir(config) : config.workspace.working_dir;
    // Before a tool can read them.
    if (isHere) context.maskFolder(await readFolderSecrets(workspaceDir));
    const wanted = toolSpecs(config.agent);
    const toolHost = await (chosen.openEarly?.(wanted.map(({ name }) => name)) ?? chosen.openHost());
    await chosen.adoptState?.(id, this.stateDir(id));
    const workspace = await toolHost.openSession({
      sessionId: id,
      tools: wanted.filter(({ name }) => toolHost.catalogue.includes(name)),
      canSee: this.#canSee(config, ownerId),
      workspaceDir,
      stateDir: chosen.stateDir === null ? this.stateDir(id) : posix.join(chosen.stateDir, id),
      ...leaseOf(owner),
    });
    await using scope = new AsyncDisposableStack();
    const host = await this.#openHost(workspace, config, { ...chosen, folder, context });
    const sources: [ToolSource, ...ToolSource[]] = [scope.use(host)];
    const place: ToolPlace = {
      conversationId: id,
      ownerId,
      config,
      context,
      toolHost,
      workspaceDir,
      stateDir: this.stateDir(id),
      isHere,
      isTaken: () => false,
    };
    const other = openAcp(place, this.#deps.mcp);
    if (other !== null) {
      const owned =
        folder === null || chosen.kind !== "process"
          ? other.source
          : await giveFilesToOwner(other.source, folder, this.#deps.logger);
      const acp = scope.use(this.#around(owned, id, config));
      const belt = new Belt({
        sources: [...sources, acp],
        workspace,
        skills: noSkills,
        agent: other.agent,
      });
      scope.move();
      return belt;
    }
    for (const open of this.#openers) {
      const before = [...sources];
      const isTaken = (name: string): boolean =>
        before.some((source) => source.tools().some((tool) => tool.name === name));
      const source = await open({ ...place, isTaken });
      if (source !== null) sources.push(scope.use(source));
    }
    const skills = await openConversationSkills(place, this.#deps.skills ?? null, this.#deps.logger);
    if (skills.skills.length > 0) sources.push(scope.use(createSkillSource(skills)));
    const [first, ...rest] = sources;
    const around = (source: ToolSource): ToolSource => this.#around(source, id, config);
    const belt = new Belt({ sources: [around(first), ...rest.map(around)], workspace, skills });
    scope.move();
    return belt;
  }

  /** The tools of the workspace, as this conversation has them. */
  async #openHost(
    session: ToolSession,
    config: ConversationConfig,
    place: Pick<ConversationHost, "kind" | "retryFailed" | "refusalsSince" | "beginCall" | "whyNoCommand"> & {
      readonly folder: OwnedFolder | null;
      readonly context: SessionContext;
    },
  ): Promise<ToolSource> {
    const { folder, context, kind, retryFailed, refusalsSince, beginCall, whyNoCommand } = place;
    let owned = createHostSource(session);
    if (folder === null) owned = leaveToHost(owned, context.handedOver);
    // Behind a wall the tools run as the owner of the folder.
    else if (kind === "process") owned = await giveFilesToOwner(owned, folder, this.#deps.logger);
    if (retryFailed !== undefined) owned = checkBefore(owned, retryFailed);
    if (refusalsSince !== undefined) owned = reportRefusals(owned, refusalsSince);
    if (beginCall !== undefined) owned = addNotes(owned, beginCall);
    if (whyNoCommand !== undefined) owned = refuseCommands(owned, whyNoCommand);
    const asking = askForResponses(owned, config.agent);
    return isOnDemand(config) ? browserOnDemand(asking, context) : asking;
  }

  /** What holds for the calls of every source. */
  #around(source: ToolSource, conversationId: string, { agent }: ConversationConfig): ToolSource {
    const { observer, cluster } = this.#deps;
    const planned = isPlanning(agent) ? onlyPlanning(source) : source;
    const sound = cluster === null ? planned : waitBeforeStart(planned, cluster);
    return observer === undefined ? sound : observeCalls(sound, conversationId, observer);
  }

  /** A shell of a person, where the tools of the conversation run and in the same folder. */
  async openShell(conversation: HostedConversation, size: TerminalSize): Promise<PersonShell> {
    const { config } = conversation;
    const chosen = await this.#deps.chooseHost(conversation);
    const workingDir =
      chosen.kind === "sandbox"
        ? config.workspace.working_dir
        : (await this.#findWorkspace(config)).directory;
    const toolHost = await chosen.openHost();
    return await toolHost.openShell({ workingDir, ...size });
  }

  /** Absolute; on the machine of the conversation's tools when that is this one. */
  workspaceDir(config: ConversationConfig): string {
    return resolve(this.#deps.workspaceRoot, config.workspace.working_dir);
  }

  /** Makes the directory when it is not there; fails with a 422 that names the field. */
  async makeWorkspace(config: ConversationConfig): Promise<void> {
    const found = await inspectFolder(this.workspaceDir(config));
    if (typeof found === "string") throw invalidField(["body", "workspace", "working_dir"], found);
  }

  /** False where it is on another machine. */
  async canReachWorkspace(config: ConversationConfig): Promise<boolean> {
    return this.#deps.cluster === null || (await isFolder(this.workspaceDir(config)));
  }

  async #findWorkspace(config: ConversationConfig): Promise<OwnedFolder> {
    const directory = this.workspaceDir(config);
    if (!(await this.canReachWorkspace(config)))
      throw workspaceUnavailable(`The directory ${directory} is not on this machine.`);
    const found = await inspectFolder(directory);
    if (typeof found === "string") throw workspaceUnavailable(found);
    return found;
  }

  /** The private folder of a conversation on this machine. */
  stateDir(id: string): string {
    return join(this.#deps.dataDir, "conversations", id);
  }

  #canSee(config: ConversationConfig, ownerId: string): boolean {
    if (config.agent.acp !== undefined) return false;
    try {
      return this.#deps.models.open(config, noSecrets, ownerId).isVisionEnabled;
    } catch (error) {
      // A model that cannot be opened is reported when it is called; here it only cannot see.
      this.#deps.logger.warn(
        { model: config.agent.llm.model, error: String(error) },
        "model cannot be opened",
      );
      return false;
    }
  }
}

/** Nothing where no other server takes conversations over. */
function leaseOf({ lease: { era, generation } }: SessionOwner): Pick<SessionSpec, "lease"> {
  return era === undefined ? {} : { lease: { era, generation } };
}

/** A directory that is made when it is not there; why that cannot be, in words. */
async function inspectFolder(directory: string): Promise<OwnedFolder | string> {
  try {
    const { uid, gid } = await makeDirectory(directory, 0o777, giveToParentsOwner);
    return { directory, owner: { uid, gid } };
  } catch (error) {
    return `The directory ${directory} cannot be made: ${describeError(error)}`;
  }
}
