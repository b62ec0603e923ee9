import { passwordsOf } from "../database/postgres-place.ts";
import { headerSecrets } from "../extensions/mcp/hidden-values.ts";
import { urlSecrets } from "../security/url-secrets.ts";
import type { ServerConfig } from "./config.ts";

/** Secrets of the server that commands of agents could find; they are masked in conversations. */
export function hiddenTexts({ masterSecret, database, oidc, webhooks, tracing }: ServerConfig): string[] {
  return [
    ...webhooks.flatMap(({ secret, headers, base_url: url }) => [
      ...(secret === null ? [] : [secret]),
      ...headerSecrets(headers),
      ...urlSecrets(url),
    ]),
    ...headerSecrets(tracing?.headers ?? {}),
    ...(masterSecret === null ? [] : [masterSecret]),
    ...(oidc === null ? [] : [oidc.clientSecret]),
    ...(database === null ? [] : passwordsOf(database)),
  ];
}
