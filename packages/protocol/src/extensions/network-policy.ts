import { Type, type Static } from "typebox";
import { choice, closedObject, flag, list, ref } from "../schema.ts";

const hosts = (description: string) =>
  list(Type.String({ minLength: 1, maxLength: 300 }), { maxItems: 500, description });

/** What the tools of a conversation may reach; hosts without a port mean the ports 443 and 80, in `deny` all of them. */
export const NetworkRules = closedObject("NetworkRules", {
  allow: hosts(
    "Such as `example.com`, `*.example.com` (all names below it), `db.example.com:5432`, `example.com:*`, `[2001:db8::1]:443`.",
  ),
  read_only: hosts("Hosts from which may be read, by the rules of `registries`."),
  private: hosts(
    "Hosts whose addresses may be of a private network. They are allowed, and read-only where that lists them.",
  ),
  deny: hosts("Wins over everything that allows."),
  presets: list(choice(["registries"]), { description: "Lists of hosts that come with the server." }),
  intercept: flag(true, {
    description: "False: connections to hosts of presets are not decrypted, so that they are not read-only.",
  }),
});
export type NetworkRules = Static<typeof NetworkRules>;

/** `registries` lets tools read from package registries and code hosts, `all` reach every public host. */
export const NetworkPolicy = Type.Union([choice(["none", "registries", "all"]), ref(NetworkRules)]);
export type NetworkPolicy = Static<typeof NetworkPolicy>;
