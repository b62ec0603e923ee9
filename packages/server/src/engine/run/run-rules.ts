import { createHash } from "node:crypto";
import { warning } from "../../events/warning.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { rulesFrom, type SourcedRule } from "../../security/rules/rule.ts";
import { noProjectRules, type ProjectRules } from "../ports.ts";
import type { RunDeps } from "./run-deps.ts";

/** The rules that count for the calls of one answer, and what of the project's file was refused. */
export type CurrentRules = {
  readonly rules: readonly SourcedRule[];
  readonly problems: readonly string[];
};

type RunRulesDeps = Pick<RunDeps, "configuration" | "id" | "logger" | "rules">;

/**
 * The rules of one run. The project's file is read once, at its start: an agent that changes the file does not change
 * what it may do in this run.
 */
export class RunRules {
  readonly #deps: RunRulesDeps;
  #project: Promise<ProjectRules | null>;

  constructor(deps: RunRulesDeps) {
    this.#deps = deps;
    this.#project = this.#read();
  }

  /** Resolves when the project's file was read. */
  async begun(): Promise<void> {
    await this.#project;
  }

  async current(): Promise<CurrentRules> {
    const { configuration, rules } = this.#deps;
    let project = await this.#project;
    if (project === null) {
      // The workspace could not be reached before, so the agent has changed nothing in it.
      this.#project = this.#read();
      project = (await this.#project) ?? noProjectRules;
    }
    const own = rulesFrom("conversation", configuration.config.allow_rules ?? []);
    return { rules: [...rules.ofOwner(), ...project.rules, ...own], problems: project.problems };
  }

  async #read(): Promise<ProjectRules | null> {
    const { configuration, id, logger, rules } = this.#deps;
    try {
      const project = await rules.readProject(configuration.config);
      for (const problem of project.problems)
        logger.warn({ conversation: id, problem }, "a rule of the project was refused");
      return project;
    } catch (error) {
      logger.warn({ conversation: id, error: String(error) }, "the project's rules could not be read");
      return null;
    }
  }
}

/** One warning about refused rules of a project, unless the log has it: `known` are the names of its warnings. */
export function projectWarnings(
  problems: readonly string[],
  known: readonly string[],
): readonly EventDraft[] {
  if (problems.length === 0) return [];
  const detail = `.convoke/rules.json of the project: ${problems.join(" ")}`.slice(0, 4_000);
  const name = `rules:${createHash("sha256").update(detail).digest("hex").slice(0, 16)}`;
  if (known.includes(name)) return [];
  return [{ ...warning({ code: "project_rules_refused", detail }), meta: { adjusted: name } }];
}
