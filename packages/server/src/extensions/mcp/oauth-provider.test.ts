import { expect, test } from "vitest";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import type { McpLogin, McpLoginState } from "../../settings/mcp-logins.ts";
import { OAuthProvider } from "./oauth-provider.ts";

const tokensOf = (name: string) => ({
  access_token: `access ${name}`,
  refresh_token: `refresh ${name}`,
  token_type: "Bearer",
});

function openProvider() {
  const store = { state: { tokens: tokensOf("old") } as McpLoginState, isUnavailable: false };
  const login: McpLogin = {
    read: async () => store.state,
    write: async (state) => {
      if (store.isUnavailable) throw new DatabaseUnavailableError("The line broke");
      store.state = structuredClone(state);
    },
    exclusively: (work) => work(),
  };
  const provider = new OAuthProvider({
    authentication: {},
    state: {},
    redirectUrl: "http://127.0.0.1/",
    onAuthorize: () => {},
    login,
  });
  return { store, provider };
}

test("tokens that could not be stored are used and stored later: the ones before them are worth nothing", async () => {
  const { store, provider } = openProvider();
  await provider.tokens();
  store.isUnavailable = true;
  await expect(provider.saveTokens(tokensOf("new"))).rejects.toThrow(DatabaseUnavailableError);
  store.isUnavailable = false;
  expect(await provider.tokens()).toEqual(tokensOf("new"));
  expect(store.state).toEqual({ tokens: tokensOf("new") });
});

test("tokens that could not be stored are replaced by those that another process has stored meanwhile", async () => {
  const { store, provider } = openProvider();
  await provider.tokens();
  store.isUnavailable = true;
  await expect(provider.saveTokens(tokensOf("new"))).rejects.toThrow(DatabaseUnavailableError);
  store.isUnavailable = false;
  store.state = { tokens: tokensOf("of a login since") };
  expect(await provider.tokens()).toEqual(tokensOf("of a login since"));
  expect(store.state).toEqual({ tokens: tokensOf("of a login since") });
});
