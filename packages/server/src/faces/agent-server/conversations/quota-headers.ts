import type { ConversationDirectory } from "../../../directory/conversation-directory.ts";
import type { Asker } from "../../../directory/directory.ts";

/** Of a reply to something that uses a quota: those of which at least 80 % are used, as `conversations; used=8; max=10`. */
export async function quotaHeaders(
  directory: Pick<ConversationDirectory, "nearQuotas">,
  asker: Asker,
): Promise<Record<string, string>> {
  const near = await directory.nearQuotas(asker);
  if (near.length === 0) return {};
  const shown = near.map(({ name, used, max }) => `${name}; used=${used}; max=${max}`);
  return { "x-convoke-quota": shown.join(", ") };
}
