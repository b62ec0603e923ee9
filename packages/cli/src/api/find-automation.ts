import type { ConvokeClient } from "@convoke/client";
import type { Automation } from "@convoke/protocol";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { collectPages } from "./collect-pages.ts";

/** How the help describes the argument. */
export const scheduleArgument = "id, its end (4 characters or more), or name";

/** What a person meant by `given`. Rejects with {@link CommandError} when there is none, or several. */
export async function findAutomation(
  client: Pick<ConvokeClient, "call">,
  given: string,
): Promise<Automation> {
  const all = await collectPages(Infinity, (query) => client.call("GET /api/automations", { query }));
  const found = all.filter((automation) => isMeant(automation, given));
  const [first, second] = found;
  if (first === undefined) throw new CommandError(`There is no ${given}. See convoke schedule ls.`);
  if (second === undefined) return first;
  const ids = found.slice(0, 5).map(({ id }) => id);
  throw new CommandError(
    `${found.length} are meant by ${given}: ${ids.join(", ")}. Give the id.`,
    exitCodes.usage,
  );
}

/** Ids begin with the time at which they were made, so those of one hour begin alike. */
function isMeant({ id, name }: Automation, given: string): boolean {
  const isEnd = /^[0-9a-f-]{4,36}$/i.test(given) && id.endsWith(given.toLowerCase());
  return isEnd || name === given;
}
