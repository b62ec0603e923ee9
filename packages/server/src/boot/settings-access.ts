import { choice, decimal, json, list, named, onOrOff, text, whole } from "./setting.ts";

/** The addresses at which clouds give keys to any process of the machine. */
const linkLocal = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254"];

/** Keys, logins, and what users may reach. */
export const accessSettings = named({
  session_api_key: text({
    variable: "SESSION_API_KEY",
    isSecret: true,
    shownDefault: "the data folder's own key",
    doc: "a key of the server; for commands with `--server` the key to send",
  }),
  session_api_keys: json({
    variable: "OH_SESSION_API_KEYS",
    isNumbered: true,
    isSecret: true,
    doc: "further keys as a JSON list, or one each in `OH_SESSION_API_KEYS_0`, `_1`, ...",
  }),
  secret_key: text({
    isSecret: true,
    shownDefault: "the data folder's own key",
    doc: "what secrets are sealed with, in the place of `master-key`; the same at every start",
  }),
  secret_key_next: text({
    isSecret: true,
    doc: "for `keys rotate-master`: what takes the place of `CONVOKE_SECRET_KEY` ([keys](keys.md#the-master-key))",
  }),
  deferred_init: onOrOff({
    aliases: ["OH_DEFERRED_INIT"],
    fallback: false,
    doc: "`true` waits for the configuration, see [run a server](operate.md#a-configuration-that-comes-later)",
  }),
  init_api_key: text({
    aliases: ["OH_INIT_API_KEY", "OH_SECRET_KEY"],
    isSecret: true,
    doc: "the key for sending that configuration",
  }),
  oidc_issuer: text({
    doc: "the identity provider at which people log in; needs the next three, see [log in](identity-provider.md)",
  }),
  oidc_client_id: text({
    doc: "the server's name at that provider",
  }),
  oidc_client_secret: text({
    isSecret: true,
    doc: "its secret there",
  }),
  oidc_roles: text({
    doc: "roles of people, such as `admins=admin,staff=member`",
  }),
  oidc_claim: text({
    fallback: "groups",
    doc: "the claim that `CONVOKE_OIDC_ROLES` is about",
  }),
  oidc_domains: list({
    shownDefault: "all",
    doc: "domains of mail addresses that may log in",
  }),
  oidc_name: text({
    shownDefault: "its host",
    doc: "the provider's name on the page",
  }),
  oidc_scopes: text({
    fallback: "openid email profile",
    doc: "what is asked of the provider, with spaces between",
  }),
  oidc_logout: choice({
    choices: ["provider", "here"],
    fallback: "provider",
    doc: "where logging out on the page logs out: at the provider too, or here alone",
  }),
  oidc_login_hours: decimal({
    shownDefault: "as other logins",
    least: 0.001,
    max: 12,
    doc: "hours after which people log in again",
  }),
  machine_users: list({
    fallback: ["local"],
    doc: "users who may use files and commands of the server's machine, or `*`; see [commands](bash.md)",
  }),
  conversations: choice({
    choices: ["anywhere", "sandboxed"],
    fallback: "anywhere",
    doc: "`sandboxed` keeps agents of users who are not in `CONVOKE_MACHINE_USERS` in sandboxes; see [security](../security.md)",
  }),
  rate_limit_per_key: whole({
    shownDefault: "no limit",
    least: 1,
    doc: "requests a minute of one key or login, see [keys](keys.md#rate-limits)",
  }),
  rate_limit_per_user: whole({
    shownDefault: "no limit",
    least: 1,
    doc: "requests a minute of one user, with all keys and logins together",
  }),
  blocked_addresses: list({
    fallback: linkLocal,
    doc: "addresses and networks at which no MCP server and no LookupSecret of users is called; `none` for none",
  }),
});
