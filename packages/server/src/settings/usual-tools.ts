import { browserToolSetName } from "@convoke/tool-host";

/** The default tools of an agent. */
export const usualTools: readonly string[] = ["terminal", "file_editor", "task_tracker"];

/** Gemini models are trained on file tools of these forms. */
const geminiTools: readonly string[] = [
  "terminal",
  "read_file",
  "write_file",
  "edit",
  "list_directory",
  "task_tracker",
];

/** The usual tools of an agent with this model, by the model's name in any spelling (`gemini/...`, `openrouter/google/gemini-...`). */
export function usualToolsFor(model: unknown): readonly string[] {
  return typeof model === "string" && /(?:^|[/.])gemini-/iu.test(model) ? geminiTools : usualTools;
}

/**
 * Those of them that are in a catalogue, as an agent names its tools, and a browser where there is one. A tool host without the
 * model's own has those of all.
 */
export function usualToolsOf(catalogue: readonly string[], model: unknown = null): { name: string }[] {
  const own = usualToolsFor(model);
  const chosen = own.every((name) => catalogue.includes(name)) ? own : usualTools;
  const all = [...chosen, browserToolSetName];
  return all.filter((name) => catalogue.includes(name)).map((name) => ({ name }));
}
