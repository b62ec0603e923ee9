import { Type, type Static } from "typebox";
import { orNull } from "../schema.ts";
import { action } from "./action-fields.ts";

/** Find files by name pattern. */
export const GlobAction = action("GlobAction", {
  pattern: Type.String({
    description:
      "File name pattern with *, ?, ** for any depth and {a,b} for alternatives, such as src/**/*.{ts,tsx}.",
  }),
  path: orNull(Type.String(), { description: "Directory to search; the workspace when left out." }),
});
export type GlobAction = Static<typeof GlobAction>;

/** Find files whose content matches. */
export const GrepAction = action("GrepAction", {
  pattern: Type.String({
    description: "Regular expression to look for in the lines of files; case does not matter.",
  }),
  path: orNull(Type.String(), { description: "Directory to search; the workspace when left out." }),
  include: orNull(Type.String(), {
    description: "Search only files whose name fits this pattern, such as *.py or *.{ts,tsx}.",
  }),
});
export type GrepAction = Static<typeof GrepAction>;
