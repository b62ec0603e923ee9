import type { ConvokeClient } from "@convoke/client";
import type { ProfileDifference, ProfileRevision } from "@convoke/protocol";
import { InvalidArgumentError, type Command } from "commander";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { printJson } from "../print/json.ts";
import { printable } from "../print/printable.ts";
import { showSubcommands } from "./show-subcommands.ts";

type ProfileOptions = ApiOptions & { readonly agent?: true };
type HistoryOptions = ProfileOptions & { readonly limit: number };

/** `convoke profiles`: stored models and agent profiles with what they were. */
export function addProfiles(program: Command): void {
  const profiles = program
    .command("profiles")
    .description("List stored models and agent profiles, compare and restore what they were");
  withServer(profiles.command("ls"))
    .description("List the stored models and the agent profiles")
    .action(list);
  withProfile(profiles.command("history"))
    .description("List the revisions of a profile, the newest first")
    .option("--limit <number>", "how many at most, up to 1000", parseLimit, 20)
    .action(history);
  withProfile(profiles.command("diff"))
    .description("Show the fields that two revisions have differently; of a secret only that it differs")
    .argument("<from>", "number of a revision", parseNumber)
    .argument("[to]", "number of a revision (default: the newest one)", parseNumber)
    .action(diff);
  withProfile(profiles.command("restore"))
    .description("Make a copy of an old revision the newest one; its secrets come back too")
    .argument("<number>", "number of the revision", parseNumber)
    .action(restore);
  showSubcommands(profiles);
}

function withProfile(command: Command): Command {
  return withServer(command)
    .argument("<name>", "name of the profile")
    .option("--agent", "an agent profile instead of a stored model");
}

/** The routes of either kind; their replies have the same shapes. */
const routes = {
  model: "/api/profiles/{name}/revisions",
  agent: "/api/agent-profiles/{name}/revisions",
} as const;

function routeOf({ agent }: ProfileOptions): (typeof routes)["agent" | "model"] {
  return agent === true ? routes.agent : routes.model;
}

async function list(options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const models = await opened.client.call("GET /api/profiles");
  const agents = await opened.client.call("GET /api/agent-profiles");
  const lines = [
    ...(models.profiles ?? []).map(({ name, model }) => ({
      kind: "model",
      name,
      detail: model ?? null,
      is_active: name === models.active_profile,
    })),
    ...agents.profiles.map(({ id, name, llm_profile_ref: model }) => ({
      kind: "agent",
      name,
      detail: model ?? null,
      is_active: id === agents.active_agent_profile_id,
    })),
  ];
  for (const line of lines)
    if (options.json === true) printJson("profile", line);
    else
      console.log(
        printable(
          `${line.kind}  ${line.name}${line.is_active ? " (active)" : ""}  ${line.detail ?? ""}`.trimEnd(),
        ),
      );
  if (lines.length === 0 && options.json !== true) console.log("There are no profiles.");
}

async function history(name: string, options: HistoryOptions): Promise<void> {
  await using opened = await openApi(options);
  let left = options.limit;
  for (let pageId: string | null = null; left > 0;) {
    const page = await readPage(opened.client, name, options, { limit: Math.min(left, 100), pageId });
    for (const revision of page.items)
      if (options.json === true) printJson("profile_revision", revision);
      else console.log(printable(revisionLine(revision)));
    left -= page.items.length;
    pageId = page.next_page_id;
    if (pageId === null) return;
  }
}

function readPage(
  client: ConvokeClient,
  name: string,
  options: ProfileOptions,
  { limit, pageId }: { readonly limit: number; readonly pageId: string | null },
) {
  return client.call(`GET ${routeOf(options)}`, {
    params: { name },
    query: { limit, ...(pageId === null ? {} : { page_id: pageId }) },
  });
}

async function diff(
  name: string,
  from: number,
  to: number | undefined,
  options: ProfileOptions,
): Promise<void> {
  await using opened = await openApi(options);
  const newest =
    to ?? (await readPage(opened.client, name, options, { limit: 1, pageId: null })).items[0]?.number;
  const { differences } = await opened.client.call(`GET ${routeOf(options)}/compare`, {
    params: { name },
    query: { from, to: newest ?? from },
  });
  for (const difference of differences)
    if (options.json === true) printJson("profile_difference", difference);
    else console.log(printable(differenceLines(difference).join("\n")));
  if (differences.length === 0 && options.json !== true) console.log("They have the same content.");
}

async function restore(name: string, number: number, options: ProfileOptions): Promise<void> {
  await using opened = await openApi(options);
  const revision = await opened.client.call(`POST ${routeOf(options)}/{number}/restore`, {
    params: { name, number: String(number) },
  });
  if (options.json === true) printJson("profile_revision", revision);
  else
    console.log(
      printable(`${name} has the content of revision ${number} now, as revision ${revision.number}.`),
    );
}

function revisionLine(revision: ProfileRevision): string {
  const { number, name, created_at: at, created_by: author, change, restored_from: from } = revision;
  const how = from === null ? change : `${change} from ${from}`;
  const marks = [revision.is_current && "current", revision.is_pinned && "pinned"].filter(Boolean).join(", ");
  const by = author === null ? "" : `  by ${author.user_id}`;
  return `${String(number).padStart(4)}  ${at.slice(0, 16).replace("T", " ")}  ${how}  ${name}${by}${marks === "" ? "" : `  (${marks})`}`;
}

function differenceLines({ path, change, is_secret: isSecret, from, to }: ProfileDifference): string[] {
  const field = path.join(".");
  if (isSecret) return [`  ${field}: ${change} (a secret)`];
  return [
    ...(change === "added" ? [] : [`- ${field}: ${JSON.stringify(from)}`]),
    ...(change === "removed" ? [] : [`+ ${field}: ${JSON.stringify(to)}`]),
  ];
}

function parseNumber(text: string): number {
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give the number of a revision, from convoke profiles history.");
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return limit;
  throw new InvalidArgumentError("Give a whole number from 1 to 1000.");
}
