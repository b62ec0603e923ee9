import { ErrorReply } from "../requests/replies.ts";

/** Missing, or not the caller's. */
export function noSuch(thing: string) {
  return { 404: { description: `There is no such ${thing}.`, schema: ErrorReply } } as const;
}

/** The reason, which says what to do. */
export function refusal<Status extends number>(status: Status, description: string) {
  return { [status]: { description, schema: ErrorReply } } as {
    readonly [S in Status]: { readonly description: string; readonly schema: typeof ErrorReply };
  };
}
