import { realpath } from "node:fs/promises";
import { posix } from "node:path";
import type { Rule } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import { WorkspaceError } from "@convoke/tool-host";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { noProjectRules, type ProjectRules, type ReviewRecord, type Rules } from "../engine/ports.ts";
import { readTextFile } from "../extensions/skills/workspace-files.ts";
import { Fault } from "../lib/fault.ts";
import { readRuleFile } from "../security/rules/check-rules.ts";
import {
  addRules,
  roomProblem,
  rulesFrom,
  type RulePlaces,
  type SourcedRule,
} from "../security/rules/rule.ts";
import type { RuleStore } from "../settings/rule-store.ts";
import type { ChooseHost } from "../tools/conversation-host.ts";
import type { SkillAccess } from "../tools/session-skills.ts";

/** The rules that are there before any conversation. */
export type RuleSources = {
  /** Those of the server's operator. */
  readonly server: readonly Rule[];
  readonly users: RuleStore;
  /** Writes what a reviewer decided for a user to the audit log. */
  readonly onReview: (ownerId: string, record: ReviewRecord) => void;
};

export type OwnedRulesDeps = {
  readonly ruleSources: RuleSources;
  readonly chooseHost: ChooseHost;
  readonly validator: Validator;
  /** Without it projects have no rules. */
  readonly skills?: Pick<SkillAccess, "filesOf" | "server">;
  readonly sessions: { workspaceDir(config: ConversationConfig): string };
};

/** Where a project has its rules. */
const projectFile = ".convoke/rules.json";

/** The rules around the conversations of one user. */
export class OwnedRules implements Rules {
  readonly #deps: OwnedRulesDeps;
  readonly #ownerId: string;

  constructor(deps: OwnedRulesDeps, ownerId: string) {
    this.#deps = deps;
    this.#ownerId = ownerId;
  }

  ofOwner(): readonly SourcedRule[] {
    const { server, users } = this.#deps.ruleSources;
    return [...rulesFrom("server", server), ...rulesFrom("user", users.of(this.#ownerId).rules)];
  }

  places(config: ConversationConfig): RulePlaces {
    const { sessions, skills } = this.#deps;
    // Whose home it is in a sandbox, only the sandbox knows.
    if (config.sandbox_id !== undefined) return { workingDir: config.workspace.working_dir, home: null };
    return { workingDir: sessions.workspaceDir(config), home: skills?.server.home ?? null };
  }

  async readProject(config: ConversationConfig): Promise<ProjectRules> {
    const { chooseHost, skills, validator } = this.#deps;
    if (skills === undefined) return noProjectRules;
    // Behind a wall paths are the same, so the run does not wait for its start. A sandbox is the same for every conversation in it.
    const files =
      config.sandbox_id === undefined
        ? skills.server.files
        : skills.filesOf(await (await chooseHost({ id: "", ownerId: this.#ownerId, config })).openHost());
    if (files === null) return noProjectRules;
    const { workingDir } = this.places(config);
    const path = posix.join(workingDir, projectFile);
    if (config.sandbox_id === undefined && (await leadsOut(path, workingDir)))
      return { rules: [], problems: ["It is a link that leads out of the folder."] };
    try {
      await files.stat(path);
    } catch (error) {
      const isMissing =
        error instanceof WorkspaceError && ["not-found", "not-a-directory"].includes(error.code);
      if (isMissing) return noProjectRules;
      throw error;
    }
    const found = await readTextFile(files, path);
    if (found === null) return { rules: [], problems: ["It cannot be read as a text file."] };
    if (found.isCut)
      return { rules: [], problems: ["It is longer than 64 KiB, so none of its rules counts."] };
    const { rules, problems } = readRuleFile(found.text, validator, true);
    return { rules: rules.map((rule) => ({ source: "project", ...rule })), problems };
  }

  async addForOwner(rules: readonly Rule[]): Promise<void> {
    await this.#deps.ruleSources.users.change(this.#ownerId, null, (stored) => {
      const all = addRules(stored, rules);
      const problem = roomProblem(all);
      // Another conversation has used the room meanwhile.
      if (problem !== null) throw new Fault("conflict", "rules_changed", problem);
      return all;
    });
  }

  auditReview(record: ReviewRecord): void {
    this.#deps.ruleSources.onReview(this.#ownerId, record);
  }
}

/** False for what is missing. The server reads the file itself, so a link of an agent must not name a file for it. */
async function leadsOut(path: string, folder: string): Promise<boolean> {
  try {
    return !(await realpath(path)).startsWith(`${await realpath(folder)}/`);
  } catch {
    return false;
  }
}
