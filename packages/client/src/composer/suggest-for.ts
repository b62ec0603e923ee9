import type { ACPModelInfo } from "@convoke/protocol";
import type { ConvokeClient } from "../convoke-client.ts";
import { asRecord, listAt, recordAt, textAt, textsAt, type UnknownRecord } from "../view/unknown-record.ts";
import { acpModelsOf } from "./acp-models.ts";
import { ranked, type Suggest, type Suggestion } from "./completion.ts";
import { FileFinder } from "./find-files.ts";
import { commandNames, commands, type CommandName } from "./slash-commands.ts";

type Place = {
  readonly conversationId: string;
  /** Where the conversation works; absolute. */
  readonly folder: string;
  /** Descriptions of the commands. */
  readonly descriptions: Readonly<Record<CommandName, string>>;
  /** Called when the skills cannot be loaded; the commands are suggested without them. */
  readonly onFailure: (error: unknown) => void;
};

const maxSuggestions = 12;

/** Suggestions for a message of a conversation: its files, slash commands, skills, stored models. */
export function suggestFor(
  client: ConvokeClient,
  { conversationId, folder, descriptions, onFailure }: Place,
): Suggest {
  const root = folder.replace(/\/$/u, "");
  const files = new FileFinder(async (path) => {
    const page = await client.call("GET /api/conversations/{runtime_conversation_id}/files", {
      params: { runtime_conversation_id: conversationId },
      query: { path: path === "" ? root || "/" : `${root}/${path}`, limit: 500 },
    });
    return page.items;
  }, Date.now);
  const own = commandNames.map((name) => ({
    name: `/${name}`,
    detail: descriptions[name],
    insert: commands[name].text === "none" ? `/${name}` : `/${name} `,
  }));
  // Loaded once, at the first slash.
  let skills: Promise<readonly Suggestion[]> | null = null;
  const withSkills = async (): Promise<readonly Suggestion[]> => {
    skills ??= skillsOf(client, conversationId, root);
    skills.catch(() => (skills = null));
    const taken = new Set(own.map(({ name }) => name));
    return [...own, ...(await skills).filter(({ name }) => !taken.has(name))];
  };
  return async ({ kind, query }, signal) => {
    switch (kind) {
      case "file": {
        const paths = await files.find(query);
        return paths.map((path) => ({
          name: path,
          detail: "",
          insert: path.endsWith("/") ? `@${path}` : `${path} `,
        }));
      }
      case "command": {
        // Commands still work if the skills cannot be loaded.
        const all = await withSkills().catch((error: unknown) => {
          onFailure(error);
          return own;
        });
        return ranked(all, query, ({ name }) => name.slice(1), maxSuggestions);
      }
      case "model": {
        const other = await acpModelsOf(client, conversationId, true);
        if (other !== null) return ranked(other.models.map(ofAcp), query, ({ name }) => name, maxSuggestions);
        const { profiles = [] } = await client.call("GET /api/profiles", { signal });
        const models = profiles.map(({ name, model }) => ({ name, detail: model ?? "", insert: name }));
        return ranked(models, query, ({ name }) => name, maxSuggestions);
      }
    }
  };
}

function ofAcp({ model_id: id, name, description }: ACPModelInfo): Suggestion {
  return {
    name: id,
    detail: [name ?? "", description ?? ""].filter((text) => text !== "" && text !== id).join(": "),
    insert: id,
  };
}

/** The skills of the conversation's agent: those of its request, and those of the places that it names. */
async function skillsOf(
  client: ConvokeClient,
  conversationId: string,
  folder: string,
): Promise<readonly Suggestion[]> {
  const info = asRecord(await client.getConversation(conversationId));
  const context = recordAt(recordAt(info, "agent"), "agent_context");
  if (context === null) return [];
  const asks = (field: string): boolean => context[field] === true;
  const { skills } = await client.call("POST /api/skills", {
    body: {
      project_dir: folder,
      load_project: asks("load_project_skills"),
      load_user: asks("load_user_skills"),
      load_public: asks("load_public_skills"),
      load_org: false,
    },
  });
  const disabled = new Set(textsAt(context, "disabled_skills"));
  const given = listAt(context, "skills").map(asRecord);
  const byName = new Map(
    [...skills, ...given].map((skill) => [textAt(skill as UnknownRecord, "name"), skill as UnknownRecord]),
  );
  return [...byName].flatMap(([name, skill]) =>
    name === "" || disabled.has(name) || textAt(skill, "type") === "repo" || isAlwaysThere(skill)
      ? []
      : [{ name: `/${name}`, detail: textAt(skill, "description"), insert: `/${name} ` }],
  );
}

/** A skill without triggers is in the prompt anyway. */
function isAlwaysThere(skill: UnknownRecord): boolean {
  return "trigger" in skill && skill["trigger"] === null && skill["is_agentskills_format"] !== true;
}
