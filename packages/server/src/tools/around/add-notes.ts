import type { BeginCall } from "../call-notes.ts";
import { forward, type ToolSource } from "../tool-source.ts";
import { withText } from "./report-refusals.ts";

/** Adds to the end of a call what the place of its tools has to tell about it. */
export function addNotes(source: ToolSource, beginCall: BeginCall): ToolSource {
  return {
    ...forward(source),
    execute: async (request, options) => {
      const readNotes = await beginCall();
      const outcome = await source.execute(request, options);
      const text = await readNotes();
      if (text === "") return outcome;
      if (outcome.type !== "observation") return { ...outcome, text: `${outcome.text}\n${text}` };
      return { ...outcome, observation: withText(outcome.observation, text) };
    },
  };
}
