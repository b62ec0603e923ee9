import type { AuthProvider } from "@modelcontextprotocol/client";
import type { McpLogin } from "../../settings/mcp-logins.ts";
import type { OAuthProvider } from "./oauth-provider.ts";
import { LoginNeededError } from "./wants-login.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";

type Library = Pick<typeof import("@modelcontextprotocol/client"), "auth" | "extractWWWAuthenticateParams">;

/**
 * Tokens for connections without a person. Many servers accept a refresh token once and end the login when it is
 * reused, so one of the conversations with a login refreshes, and the others use its tokens.
 */
export function unattendedAuth(
  provider: OAuthProvider,
  login: McpLogin | null,
  library: Library,
): AuthProvider {
  let used: string | undefined;
  const current = async (): Promise<string | undefined> => (await provider.tokens())?.access_token;
  return {
    token: async () => (used = await current()),
    onUnauthorized: async ({ response, serverUrl, fetchFn }) => {
      const refused = used;
      const renew = async (): Promise<void> => {
        const token = await current();
        if (token !== undefined && token !== refused) return;
        const { resourceMetadataUrl, scope } = library.extractWWWAuthenticateParams(response);
        const tokens = await provider.tokens();
        if (!tokens?.refresh_token) throw new LoginNeededError();
        const options = withoutUndefined({ serverUrl, fetchFn, resourceMetadataUrl, scope });
        const outcome = await library.auth(provider, options);
        if (outcome !== "AUTHORIZED") throw new LoginNeededError();
      };
      await (login === null ? renew() : login.exclusively(renew));
    },
  };
}
