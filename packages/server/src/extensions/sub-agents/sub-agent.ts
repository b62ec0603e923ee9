import type { SubAgentInfo } from "@convoke/protocol";
import { hideSecrets } from "../../settings/secret-fields.ts";
import { parseHooks } from "../hooks/hook-config.ts";
import { readServers } from "../mcp/read-servers.ts";
import { isObject, type JsonObject } from "../../lib/json-object.ts";

/** `worktree`: it works in a git worktree of its own, or not whatever the tool says. */
export type GivenSubAgent = SubAgentInfo & { worktree?: boolean };

/** A sub-agent with its MCP servers as they were written, keys included. `refusal`: why it gets no tasks, for the model and for people. */
export type SubAgent = GivenSubAgent & { refusal?: string };

/** What nobody may read is masked. */
export function showSubAgent(agent: SubAgent): SubAgentInfo {
  // Validators of clients want these, also where they say nothing.
  const shown = { profile_store_dir: null, hooks: null, mcp_config: null, condenser: null, ...agent };
  delete shown.refusal;
  return shown.mcp_config ? { ...shown, mcp_config: hideSecrets(shown.mcp_config) } : shown;
}

/**
 * A sub-agent of a file, refused where what it names cannot be carried out: without its guards and its tools it would be another one.
 * `mayStart`: hooks and MCP servers of this file may start programs where the tools run; otherwise why not.
 */
export function checkSubAgent(agent: SubAgent, mayStart: true | string): SubAgent {
  const starting = (["hooks", "mcp_config"] as const).filter((field) => !isEmpty(agent[field]));
  const reason =
    starting.length > 0 && mayStart !== true
      ? `It brings ${starting.join(" and ")}, which start programs. ${mayStart}`
      : wrongOf(agent);
  if (reason === null) return agent;
  return { ...agent, refusal: `The sub-agent of ${agent.source ?? agent.name} gets no tasks. ${reason}` };
}

/** What is wrong with the fields of a file, with the path of the field; null when nothing is. */
export function wrongOf({ hooks, mcp_config: mcp, condenser }: SubAgent): string | null {
  const parsed = isEmpty(hooks) ? null : parseHooks(hooks, "file");
  if (parsed?.ok === false) return `${["hooks", ...parsed.loc].join(".")}: ${parsed.reason}`;
  const faults: readonly Wrong[] = [
    ...(isEmpty(mcp) ? [] : readServers(mcp, ["mcp_config"]).faults),
    ...(isEmpty(condenser) ? [] : condenserFaults(condenser as JsonObject, ["condenser"])),
  ];
  return faults.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`)[0] ?? null;
}

function isEmpty(value: object | null | undefined): boolean {
  return Object.keys(value ?? {}).length === 0;
}

type Location = readonly (string | number)[];
type Wrong = { readonly loc: Location; readonly msg: string };

const kinds: readonly unknown[] = ["LLMSummarizingCondenser", "NoOpCondenser", "PipelineCondenser"];
const wholeNumbers = { max_size: 1, max_tokens: 1, keep_first: 0, hard_context_reset_max_retries: 1 };
const maxCondensers = 20;

/** A file names no model for summaries: its address would be told the whole work, by whoever could write the file. */
function condenserFaults(given: JsonObject, loc: Location): Wrong[] {
  const faults: Wrong[] = [];
  const fault = (field: string, msg: string): void => void faults.push({ loc: [...loc, field], msg });
  if (!kinds.includes(given["kind"] ?? kinds[0])) fault("kind", `Use ${kinds.join(", ")}.`);
  if (given["llm"] ?? false)
    fault("llm", "A condenser of a file writes with the sub-agent's own model. Leave this out.");
  for (const [name, least] of Object.entries(wholeNumbers)) {
    const value = given[name] ?? least;
    if (!Number.isSafeInteger(value) || (value as number) < least)
      fault(name, `This is a whole number from ${least} on.`);
  }
  const scaling = given["hard_context_reset_context_scaling"] ?? 0.8;
  if (typeof scaling !== "number" || !(scaling > 0 && scaling < 1))
    fault("hard_context_reset_context_scaling", "This is a number between 0 and 1.");
  const inner = given["condensers"] ?? [];
  if (!Array.isArray(inner) || inner.length > maxCondensers)
    fault("condensers", `This is a list of at most ${maxCondensers} condensers.`);
  else
    for (const [index, part] of (inner as unknown[]).entries()) {
      const place = [...loc, "condensers", index];
      if (isObject(part)) faults.push(...condenserFaults(part, place));
      else faults.push({ loc: place, msg: "A condenser is a mapping." });
    }
  return faults;
}
