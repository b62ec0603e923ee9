/** The tools of an agent about whose tools nobody said anything, as far as the tool host has them. Source: reference, tools 1.2. */
export const usualTools: readonly string[] = ["terminal", "file_editor", "task_tracker"];

/** Those of them that are in a catalogue, as an agent names its tools. */
export function usualToolsOf(catalogue: readonly string[]): { name: string }[] {
  return usualTools.filter((name) => catalogue.includes(name)).map((name) => ({ name }));
}
