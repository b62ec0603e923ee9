import type { Observation } from "@convoke/protocol";
import type { RefusalsSince } from "../refusals-since.ts";
import { forward, type ToolSource } from "../tool-source.ts";

/** Adds to what a call shows which of its requests were refused on the way out: most programs print a number and no reason. */
export function reportRefusals(source: ToolSource, refusalsSince: RefusalsSince): ToolSource {
  return {
    ...forward(source),
    execute: async (request, options) => {
      const { mark } = await refusalsSince(0);
      const outcome = await source.execute(request, options);
      const { text } = await refusalsSince(mark);
      if (text === "" || outcome.type !== "observation") return outcome;
      return { ...outcome, observation: withText(outcome.observation, text) };
    },
  };
}

/** The observation itself when it has no list of parts. */
export function withText(observation: Observation, text: string): Observation {
  const { content } = observation as { readonly content?: unknown };
  if (!Array.isArray(content)) return observation;
  // On a line of its own: clients put the parts together as they are.
  return { ...observation, content: [...content, { type: "text", text: `\n${text}` }] };
}
