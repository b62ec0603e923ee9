import { Type, type Static } from "typebox";
import { sources } from "../events/sources.ts";
import { anyObject, choice, object } from "../schema.ts";

/** Replaces a large event when a client asked for `trim`: the event without its large parts, and a description of those. */
export const TrimmedEvent = object("TrimmedEvent", {
  kind: Type.Literal("TrimmedEvent"),
  id: Type.String(),
  timestamp: Type.String(),
  source: choice([...sources, "hook"]),
  size: Type.Integer({ description: "Characters of the event as it is stored." }),
  event: anyObject({
    description:
      "The event with shortened values; an edit of a file has `patch`, a unified diff, beside or in the place of both texts.",
  }),
  cut: Type.Array(
    Type.Object({
      at: Type.String({ description: "JSON pointer into `event`." }),
      length: Type.Integer({
        description: "What was there: characters of a text, entries of a list or an object.",
      }),
    }),
  ),
});
export type TrimmedEvent = Static<typeof TrimmedEvent>;

/** Maximum length of a text that `trim` does not cut. */
export const trimLimits = { minimum: 1_024, maximum: 65_536 } as const;
