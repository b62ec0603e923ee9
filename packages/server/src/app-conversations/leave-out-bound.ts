import { isBound } from "../egress/check-secret-binding.ts";
import {
  withWarnings,
  type ConversationConfig,
  type ConversationSecrets,
} from "../engine/conversation-config.ts";

type Started = { readonly config: ConversationConfig; readonly secrets: ConversationSecrets };

/** Without the secrets that are bound to hosts, and with a warning of it: for a sandbox whose requests nothing can put them into. */
export function leaveOutBound({ config, secrets }: Started): Started {
  const sources = Object.entries(secrets.sources);
  const names = sources.filter(([, source]) => isBound(source)).map(([name]) => name);
  if (names.length === 0) return { config, secrets };
  const detail = `These secrets are bound to hosts, and nothing can put them into the requests of this sandbox. They are left out: ${names.join(", ")}.`;
  const { placeholders: _, ...others } = secrets;
  return {
    config: {
      ...config,
      ...withWarnings(config, [{ code: "bound_secrets_left_out", detail, secrets: names }]),
    },
    secrets: { ...others, sources: Object.fromEntries(sources.filter(([, source]) => !isBound(source))) },
  };
}
