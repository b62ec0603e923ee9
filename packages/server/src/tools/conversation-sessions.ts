import { stat } from "node:fs/promises";
import { join, posix, resolve } from "node:path";
import type { PersonShell, TerminalSize, ToolHost, ToolSession } from "@convoke/tool-host";
import { describeError } from "../lib/describe-error.ts";
import { isPlanning } from "../agent/plan-mode.ts";
import { withResponseSchemas } from "../agent/response-schema.ts";
import { clientTools, hasOracle, hasTasks, hasWorkflow, toolSpecs } from "../agent/tool-specs.ts";
import { withClientTools } from "./sources/client-tool-source.ts";
import { findSubAgents } from "../extensions/sub-agents/sub-agent-book.ts";
import { invalidField } from "../lib/fault.ts";
import type { Lease } from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import { makeDirectory } from "../lib/make-directory.ts";
import type { Model } from "../models/model.ts";
import type { Observer } from "../observability/observer.ts";
import { watchSession } from "./around/observe.ts";
import type { ConversationConfig, ConversationSecrets } from "../engine/conversation-config.ts";
import { withMcpTools, type McpAccess } from "./sources/mcp-tools.ts";
import type { SessionContext } from "../engine/session-context.ts";
import { withConversationSkills, type SkillAccess } from "./session-skills.ts";
import { workspaceUnavailable } from "../engine/refusals.ts";
import { isOnDemand, withBrowserOnDemand } from "./filters/browser-on-demand.ts";
import { withBeforeStart } from "./around/before-start.ts";
import { withHandOver } from "./around/hand-over.ts";
import { withPlanMode } from "./filters/plan-mode.ts";
import { giveToParentsOwner } from "../workspaces/owned-files.ts";
import { withOwnedFiles, type OwnedFolder } from "./around/owned-files.ts";
import { noSecrets } from "../engine/stored-secrets.ts";
import type { SubConversationDeps } from "./tasks/sub-conversation.ts";
import { withOracle } from "./sources/oracle-source.ts";
import { withTasks } from "./sources/task-source.ts";
import { withWorkflow } from "./sources/workflow-source.ts";

export type ConversationHost = {
  readonly toolHost: ToolHost;
  /** Absolute directory on the tool host's machine for the state of sessions; null for this machine, where every conversation has its own. */
  readonly stateDir: string | null;
};

export type SessionsDeps = {
  /** Where the tools of a conversation run. Rejects when that cannot be used now. */
  /** Rejects where the tools of this user's conversations may not run. */
  readonly chooseHost: (config: ConversationConfig, ownerId: string) => Promise<ConversationHost>;
  /** `ownerId` is whose stored models a conversation may name. */
  readonly openModel: (config: ConversationConfig, secrets: ConversationSecrets, ownerId: string) => Model;
  readonly mcp: McpAccess;
  /** Where sub-agents have their conversations. */
  readonly children: SubConversationDeps;
  /** Without it a conversation has only the skills that came with its agent. */
  readonly skills?: SkillAccess;
  /** Absolute; every conversation has a private folder below it. */
  readonly dataDir: string;
  /** Relative working directories of clients are below this one. */
  readonly workspaceRoot: string;
  /**
   * Servers on other machines work on the same conversations: a workspace that is not here is not made anew, and what tools do in
   * sandboxes is left to them when this one stops.
   */
  readonly hasPeers?: true;
  /**
   * Waited for before a tool of this machine starts: until the others do not take this server for dead. They go on with what it worked on
   * once they do, and nothing at the tools of its machine could tell it so. Nobody can do that when absent.
   */
  readonly untilSound?: (signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
  /** Nobody looks on when absent. */
  readonly observer?: Observer;
};

type SessionOwner = {
  readonly id: string;
  readonly ownerId: string;
  /** Of the actor: tools of a sandbox refuse those of the past. */
  readonly lease: Lease;
};

type TaskPlace = {
  readonly id: string;
  readonly ownerId: string;
  readonly context: SessionContext;
  readonly toolHost: ToolHost;
  readonly workspaceDir: string;
  /** On the machine of this server. */
  readonly isHere: boolean;
};

/** Opens the tools of conversations, and knows and makes the folders that they need. */
export class ConversationSessions {
  readonly #deps: SessionsDeps;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /** The tools of a conversation: its host's, those of MCP servers, and skills. */
  async open(
    { id, ownerId, lease }: SessionOwner,
    config: ConversationConfig,
    context: SessionContext,
  ): Promise<ToolSession> {
    const { toolHost, stateDir } = await this.#deps.chooseHost(config, ownerId);
    const folder = stateDir === null ? await this.#findWorkspace(config) : null;
    const places =
      stateDir === null
        ? { workspaceDir: this.workspaceDir(config), stateDir: this.stateDir(id) }
        : { workspaceDir: config.workspace.working_dir, stateDir: posix.join(stateDir, id) };
    const opened = await toolHost.openSession({
      sessionId: id,
      tools: toolSpecs(config.agent).filter(({ name }) => toolHost.catalogue.includes(name)),
      canSee: this.#canSee(config, ownerId),
      ...places,
      ...(lease.era === undefined ? {} : { lease: { era: lease.era, generation: lease.generation } }),
    });
    const { logger } = this.#deps;
    const kept =
      folder === null
        ? withHandOver(opened, context.handedOver)
        : await withOwnedFiles(opened, folder, logger);
    const asking = withResponseSchemas(kept, config.agent);
    const shown = isOnDemand(config) ? withBrowserOnDemand(asking, context.hasAskedForBrowser) : asking;
    const tasked = await this.#withTasks(shown, {
      id,
      ownerId,
      context,
      toolHost,
      workspaceDir: places.workspaceDir,
      isHere: stateDir === null,
    });
    const advised = hasOracle(config.agent)
      ? withOracle(tasked, {
          findModel: (name) => this.#deps.children.findModel(ownerId, name),
          openHelper: context.openHelper,
        })
      : tasked;
    const own = clientTools(config);
    const all = withMcpTools(withClientTools(advised, own), {
      conversationId: id,
      ownerId,
      config,
      context,
      toolHost,
      workspaceDir: places.workspaceDir,
      stateDir: join(this.stateDir(id), "mcp"),
      access: this.#deps.mcp,
    });
    const session = isPlanning(config.agent) ? withPlanMode(all) : all;
    const skilled = await withConversationSkills(session, {
      conversationId: id,
      config,
      toolHost,
      workingDir: places.workspaceDir,
      access: this.#deps.skills ?? null,
      logger,
    });
    const { observer, untilSound } = this.#deps;
    const sound = untilSound === undefined ? skilled : withBeforeStart(skilled, untilSound);
    return observer === undefined ? sound : watchSession(sound, id, observer);
  }

  /** A shell of a person, where the tools of the conversation run and in the same folder. */
  async openShell(ownerId: string, config: ConversationConfig, size: TerminalSize): Promise<PersonShell> {
    const { toolHost, stateDir } = await this.#deps.chooseHost(config, ownerId);
    const workingDir =
      stateDir === null ? (await this.#findWorkspace(config)).directory : config.workspace.working_dir;
    return await toolHost.openShell({ workingDir, ...size });
  }

  /** With sub-agents where the agent asks for them and does not work for another one itself. */
  async #withTasks(
    session: ToolSession,
    { id, ownerId, context, toolHost, workspaceDir, isHere }: TaskPlace,
  ): Promise<ToolSession> {
    const { children, skills, logger } = this.#deps;
    const { agent, parent, agent_definitions: given = [] } = context.config();
    const [isOffered, hasScripts] = [hasTasks(agent), hasWorkflow(agent)];
    if ((!isOffered && !hasScripts) || parent !== undefined) return session;
    const files = skills?.filesOf(toolHost) ?? null;
    const agents = await findSubAgents({
      given,
      workspace: files === null ? null : { files, workingDir: workspaceDir },
      server: skills?.server ?? null,
      isHere,
    });
    const deps = { conversationId: id, ownerId, agents, context, toolHost, children, logger, isOffered };
    const tasked = withTasks(session, deps);
    return hasScripts ? withWorkflow(tasked, agents) : tasked;
  }

  /** Absolute; on the machine of the conversation's tools when that is this one. */
  workspaceDir(config: ConversationConfig): string {
    return resolve(this.#deps.workspaceRoot, config.workspace.working_dir);
  }

  /** Makes the directory when it is not there; fails with a 422 that names the field. */
  async makeWorkspace(config: ConversationConfig): Promise<void> {
    const found = await lookAt(this.workspaceDir(config));
    if (typeof found === "string") throw invalidField(["body", "workspace", "working_dir"], found);
  }

  /** False where it is on another machine. */
  async canReachWorkspace(config: ConversationConfig): Promise<boolean> {
    return this.#deps.hasPeers !== true || (await isDirectory(this.workspaceDir(config)));
  }

  async #findWorkspace(config: ConversationConfig): Promise<OwnedFolder> {
    const directory = this.workspaceDir(config);
    if (!(await this.canReachWorkspace(config)))
      throw workspaceUnavailable(`The directory ${directory} is not on this machine.`);
    const found = await lookAt(directory);
    if (typeof found === "string") throw workspaceUnavailable(found);
    return found;
  }

  /** The private folder of a conversation on this machine. */
  stateDir(id: string): string {
    return join(this.#deps.dataDir, "conversations", id);
  }

  #canSee(config: ConversationConfig, ownerId: string): boolean {
    try {
      return this.#deps.openModel(config, noSecrets, ownerId).isVisionEnabled;
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

async function isDirectory(path: string): Promise<boolean> {
  return await stat(path).then(
    (found) => found.isDirectory(),
    // Not there, or nobody may look.
    () => false,
  );
}

/** A directory that is made when it is not there; why that cannot be, in words. */
async function lookAt(directory: string): Promise<OwnedFolder | string> {
  try {
    const { uid, gid } = await makeDirectory(directory, 0o777, giveToParentsOwner);
    return { directory, owner: { uid, gid } };
  } catch (error) {
    return `The directory ${directory} cannot be made: ${describeError(error)}`;
  }
}
