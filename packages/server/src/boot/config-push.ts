import { ConfigError } from "../lib/config-error.ts";
import { read, type Environment } from "./setting.ts";
import { settings } from "./settings.ts";
import { readPushServices, type PushServices } from "../push/push-services.ts";

/** How browsers are notified while no page is open. */
export type PushConfig = {
  /** `mailto:` or `https:`: whom push services ask about the messages of this server. */
  readonly contact: string;
  readonly services: PushServices;
};

/** Reads `CONVOKE_WEB_PUSH` and the `CONVOKE_WEB_PUSH_*` settings; null while it is off. */
export function readPush(environment: Environment, webUrl: string | null): PushConfig | null {
  const state = read(environment, settings.web_push);
  const services = readPushServices(read(environment, settings.web_push_services), (text) => {
    throw new ConfigError(
      `CONVOKE_WEB_PUSH_SERVICES has "${text}", which is no host such as *.push.example.org and no address such as https://push.example.org.`,
    );
  });
  const contact = read(environment, settings.web_push_contact) ?? contactOf(webUrl);
  if (!/^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/.test(contact)) {
    throw new ConfigError(
      "CONVOKE_WEB_PUSH_CONTACT must be an address such as mailto:you@example.org or https://example.org.",
    );
  }
  return state === "on" ? { contact, services } : null;
}

function contactOf(webUrl: string | null): string {
  return webUrl?.startsWith("https:") === true ? webUrl : "mailto:nobody@example.org";
}
