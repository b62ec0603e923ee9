import { recordAt, textAt, textsAt, type UnknownRecord } from "./unknown-record.ts";

export type AskedHosts = { readonly hosts: readonly string[]; readonly reason: string };

/** What the agent asks for with `request_network`; null for other actions, and for one of another form, which is shown as it is. */
export function hostsAsked({
  tool,
  action,
}: {
  readonly tool: string;
  readonly action: UnknownRecord | null;
}): AskedHosts | null {
  const data = tool === "request_network" ? recordAt(action, "data") : null;
  const hosts = textsAt(data, "hosts");
  const isWhole = Object.keys(data ?? {}).every((name) => name === "hosts" || name === "reason");
  const isRead = Array.isArray(data?.["hosts"]) && data["hosts"].length === hosts.length;
  return isRead && isWhole ? { hosts, reason: textAt(data, "reason") } : null;
}
