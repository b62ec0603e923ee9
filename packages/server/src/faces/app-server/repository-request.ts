import { trimTrailing } from "../../lib/trim-trailing.ts";
import type { ProviderType } from "@convoke/protocol";
import type { RepositoryOrder } from "../../app-conversations/start-order.ts";
import { invalidField } from "../../lib/fault.ts";
import type { StoredSettings, StoredToken } from "../../settings/stored-settings.ts";

/** The default host of each provider, and the user name that goes with a token. */
const providers: Readonly<Record<ProviderType, { readonly host: string | null; readonly user: string }>> = {
  github: { host: "github.com", user: "x-access-token" },
  gitlab: { host: "gitlab.com", user: "oauth2" },
  bitbucket: { host: "bitbucket.org", user: "x-token-auth" },
  bitbucket_data_center: { host: null, user: "x-token-auth" },
  forgejo: { host: "codeberg.org", user: "oauth2" },
  azure_devops: { host: "dev.azure.com", user: "oauth2" },
  enterprise_sso: { host: null, user: "oauth2" },
};

/** Two or more names, without characters that are special in a shell or a path. */
const repositoryPattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(\/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$/;
const branchPattern = /^(?!.*(\.\.|\/\/|\.lock$|\/$))[A-Za-z0-9_][A-Za-z0-9_./+@#=-]{0,249}$/;

export function checkRepository(name: string, loc: readonly string[]): void {
  if (repositoryPattern.test(name) && name.length <= 300) return;
  throw invalidField([...loc], "Send the repository as owner/name.");
}

export function checkBranch(branch: string, loc: readonly string[]): void {
  if (branchPattern.test(branch)) return;
  throw invalidField([...loc], "This is not the name of a branch.");
}

/** The stored tokens as secrets of a conversation: `GITHUB_TOKEN` and the like, and `GIT_TOKEN` for the one of the chosen provider. */
export function providerSecrets(
  tokens: StoredSettings["providerTokens"],
  chosen: ProviderType | null,
): Readonly<Record<string, string>> {
  const stored = Object.entries(tokens) as [ProviderType, StoredToken][];
  const named = stored.flatMap(([provider, { token }]) =>
    token === null || token === "" ? [] : [[tokenName(provider), passwordOf(token)] as const],
  );
  const main = chosen === null ? undefined : named.find(([name]) => name === tokenName(chosen));
  return Object.fromEntries([...named, ...(main === undefined ? [] : [["GIT_TOKEN", main[1]] as const])]);
}

/** The clone URL of a repository, and the secret for it. */
export function toRepositoryOrder(
  name: string,
  branch: string | null,
  provider: ProviderType,
  { settings, hasSecret }: { settings: StoredSettings; hasSecret: (name: string) => boolean },
): RepositoryOrder {
  const stored = settings.providerTokens[provider];
  const { host: usual, user } = providers[provider];
  const host = stored?.host ?? usual;
  if (!host) {
    throw invalidField(
      ["body", "git_provider"],
      "Where this provider is, is not known. Store its host with its token.",
    );
  }
  const base = /^https?:\/\//.test(host) ? trimTrailing(host, "/") : `https://${host}`;
  const secret = tokenName(provider);
  return {
    name,
    url: provider === "azure_devops" ? azureUrl(base, name) : `${base}/${name}.git`,
    branch,
    isFull: settings.plain.git_full_clone,
    login: hasSecret(secret) ? { user: loginName(stored?.token ?? "", user), secret } : null,
  };
}

function tokenName(provider: ProviderType): string {
  return `${provider.toUpperCase()}_TOKEN`;
}

/** `organisation/project/repository`. */
function azureUrl(base: string, name: string): string {
  const parts = name.split("/");
  return `${base}/${parts.slice(0, -1).join("/")}/_git/${parts.at(-1)}`;
}

/** Some tokens are a user and a password with a colon between. */
function loginName(token: string, usual: string): string {
  const user = token.split(":")[0]!;
  return token.includes(":") && /^[\w.@+-]+$/.test(user) ? user : usual;
}

function passwordOf(token: string): string {
  return token.includes(":") ? token.slice(token.indexOf(":") + 1) : token;
}
