import { parseHooks } from "../extensions/hooks/hook-config.ts";
import { headerSecrets, hiddenValues } from "../extensions/mcp/hidden-values.ts";
import { urlSecrets } from "../security/url-secrets.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";

/** Shorter keys are placeholders of models that need none; masking such a word would damage texts. */
const shortestKey = 8;

/** Every secret value of the conversation and of the server, for masking. */
export function secretValues(secrets: ConversationSecrets): string[] {
  const { llm, condenser = {}, sources, mcp, sub_agents: others = {}, serverKeys = [] } = secrets;
  const condensers = [condenser, ...Object.values(secrets.sub_agent_condensers ?? {})];
  const values: string[] = [];
  const keys: string[] = [...serverKeys];
  for (const secret of [llm, ...condensers].flatMap((fields) => Object.values(fields))) {
    if (typeof secret === "string") {
      keys.push(secret);
      if (URL.canParse(secret)) values.push(...urlSecrets(secret));
    } else values.push(...headerSecrets(secret));
  }
  for (const source of Object.values(sources)) {
    if (source.kind === "StaticSecret" && typeof source.value === "string") values.push(source.value);
    if (source.kind === "LookupSecret") {
      values.push(...Object.values(source.headers ?? {}), ...headerSecrets(source.headers ?? {}));
      values.push(...urlSecrets(source.url));
    }
  }
  values.push(...Object.values(secrets.fetchedValues ?? {}), ...(secrets.folderValues ?? []));
  const long = keys.filter((key) => key.trim().length >= shortestKey);
  return [
    ...new Set([...values, ...long, ...hiddenValues(mcp), ...Object.values(others).flatMap(hiddenValues)]),
  ].filter((value) => value !== "");
}

/**
 * Public values that the configuration repeats: paths and the model name. A secret that is a substring of one stays
 * visible there, because otherwise the path would be broken.
 */
export function sparedTexts({ workspace, hook_config: hooks, agent }: ConversationConfig): string[] {
  const parsed = parseHooks(hooks ?? {}, "stored");
  const commands = parsed.ok
    ? Object.values(parsed.settings).flatMap((groups) =>
        groups.flatMap((group) => group.hooks.map(({ command }) => command)),
      )
    : [];
  const paths = commands.flatMap((command) => command.match(pathInCommand) ?? []);
  return [workspace.working_dir, agent.llm.model ?? "", ...paths].filter((text) => text.length >= 4);
}

/** A file path, not a URL, which may contain a key. */
const pathInCommand = /(?<=^|[\s"'=;&|(])(?:~|\.{0,2}|\$\{?\w+\}?)\/[^\s"'?;&|<>()=]+/g;
