import type {
  MCPConfig,
  MCPConfigUpdate,
  MCPRemoteServerUpdate,
  MCPStdioServerUpdate,
} from "@convoke/protocol";
import { Fault, type FieldFault } from "../lib/fault.ts";
import { changeSecret, hideUrl, mergeChange, refuseMasks, secretMask } from "./secret-fields.ts";
import type { JsonObject, StoredSettings } from "./stored-settings.ts";

type Servers = Readonly<Record<string, JsonObject>>;
type Transport = "sse" | "http" | "stdio";

/** The stored servers as older clients know them, always an object as the contract has it; keys and environments are masks. */
export function toMcpConfig(servers: StoredSettings["mcpServers"]): MCPConfig {
  const config: Required<MCPConfig> = { sse_servers: [], stdio_servers: [], shttp_servers: [] };
  for (const [name, server] of Object.entries(servers ?? {})) {
    const transport = transportOf(server);
    if (transport === "stdio") config.stdio_servers.push(toProgram(name, server));
    else {
      const remote = {
        url: hideUrl(String(server["url"])),
        api_key: keyOf(server) === null ? null : secretMask,
      };
      (transport === "sse" ? config.sse_servers : config.shttp_servers).push(remote);
    }
  }
  return config;
}

function toProgram(name: string, server: JsonObject): NonNullable<MCPConfig["stdio_servers"]>[number] {
  const env = Object.keys(server["env"] ?? {});
  return {
    name,
    command: String(server["command"]),
    args: [...((server["args"] ?? []) as string[])],
    env: Object.fromEntries(env.map((key) => [key, secretMask])),
  };
}

/**
 * The servers that an older client wants from now on. A server that was there keeps its name, its key and what older clients
 * cannot say: remote ones are recognised by their address, programs by their name.
 */
export function fromMcpConfig(update: MCPConfigUpdate, stored: StoredSettings["mcpServers"]): Servers {
  const faults: FieldFault[] = [];
  const left = new Map(Object.entries(stored ?? {}));
  const servers = new Map<string, JsonObject>();
  const remotes = [
    ["sse_servers", "sse", update.sse_servers ?? []],
    ["shttp_servers", "http", update.shttp_servers ?? []],
  ] as const;
  const programs = update.stdio_servers ?? [];
  for (const [index, program] of programs.entries()) {
    const loc = ["body", "mcp_config", "stdio_servers", index];
    faults.push(...faultsOfProgram(program, loc));
    if (servers.has(program.name)) {
      faults.push({ loc: [...loc, "name"], msg: "Two servers have this name.", type: "value_error" });
    }
    const known = left.get(program.name);
    const before = known !== undefined && transportOf(known) === "stdio" ? known : {};
    servers.set(program.name, changeProgram(before, program));
    left.delete(program.name);
  }
  for (const [list, transport, given] of remotes) {
    for (const [index, remote] of given.entries()) {
      const loc = ["body", "mcp_config", list, index];
      faults.push(...faultsOfUrl(remote.url, [...loc, "url"]));
      const found = [...left].find(
        ([, server]) =>
          transportOf(server) === transport &&
          (server["url"] === remote.url || hideUrl(String(server["url"])) === remote.url),
      );
      const url = found === undefined ? remote.url : String(found[1]["url"]);
      if (found === undefined) refuseMasks(remote.url, [...loc, "url"]);
      if (found === undefined && remote.api_key === secretMask) faults.push(unknownKey([...loc, "api_key"]));
      const isNameFree = found !== undefined && !servers.has(found[0]);
      const name = isNameFree
        ? found[0]
        : freeName(transport, (taken) => left.has(taken) || servers.has(taken));
      servers.set(name, changeRemote(found?.[1] ?? {}, { ...remote, url }, transport));
      if (found !== undefined) left.delete(found[0]);
    }
  }
  if (faults.length > 0) throw new Fault("caller", "validation", "The MCP servers are not valid.", faults);
  return Object.fromEntries(servers);
}

/** Refuses servers that newer clients describe wrongly; `loc` leads to the map. */
export function checkServers(servers: Servers, loc: readonly string[]): void {
  const faults = Object.entries(servers).flatMap(([name, server]): FieldFault[] => {
    if (typeof server["url"] === "string") return faultsOfUrl(server["url"], [...loc, name, "url"]);
    if (typeof server["command"] === "string" && server["command"] !== "") return [];
    return [{ loc: [...loc, name], msg: "A server has a url or a command.", type: "value_error" }];
  });
  if (faults.length > 0) throw new Fault("caller", "validation", "The MCP servers are not valid.", faults);
}

function changeRemote(before: JsonObject, remote: MCPRemoteServerUpdate, transport: Transport): JsonObject {
  const { auth: _, ...rest } = before;
  const key = changeSecret(keyOf(before), remote.api_key);
  return {
    ...rest,
    url: remote.url,
    transport: before["transport"] ?? transport,
    ...(remote.timeout === undefined ? {} : { timeout: remote.timeout }),
    ...(key === keyOf(before)
      ? pick(before, "auth")
      : key === null
        ? {}
        : { auth: { strategy: "bearer", value: key } }),
  };
}

function changeProgram(before: JsonObject, program: MCPStdioServerUpdate): JsonObject {
  const { env: storedEnv, ...rest } = before;
  const earlierEnv = (storedEnv ?? {}) as JsonObject;
  const names = Object.keys(program.env ?? earlierEnv);
  const named = Object.fromEntries(Object.entries(earlierEnv).filter(([name]) => names.includes(name)));
  const { env } = mergeChange({ env: named }, { env: program.env ?? {} }, ["body", "mcp_config"]);
  return { ...rest, transport: "stdio", command: program.command, args: program.args ?? [], env };
}

function faultsOfUrl(url: string, loc: (string | number)[]): FieldFault[] {
  const fault = (msg: string): FieldFault[] => [{ loc, msg, type: "url_parsing" }];
  if (!URL.canParse(url)) return fault("Send an address such as https://example.org/mcp.");
  const { protocol, hostname, username, password } = new URL(url);
  if (!["http:", "https:", "ws:", "wss:"].includes(protocol) || hostname === "") {
    return fault("An address begins with http, https, ws or wss and names a host.");
  }
  return username !== "" || password !== "" ? fault("Send the key as api_key, not inside the address.") : [];
}

function faultsOfProgram(program: MCPStdioServerUpdate, loc: (string | number)[]): FieldFault[] {
  const faults: FieldFault[] = [];
  const add = (field: string, msg: string): void => {
    faults.push({ loc: [...loc, field], msg, type: "value_error" });
  };
  if (!/^[a-zA-Z0-9_-]+$/.test(program.name))
    add("name", "A name has letters, digits, dashes and underscores.");
  if (!/^\S+$/.test(program.command))
    add("command", "Send the program alone; its arguments belong into args.");
  for (const name of Object.keys(program.env ?? {})) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) add("env", "A variable has letters, digits and underscores.");
  }
  return faults;
}

function unknownKey(loc: (string | number)[]): FieldFault {
  return { loc, msg: "No key is stored for this address. Send the key itself.", type: "value_error" };
}

function transportOf(server: JsonObject): Transport {
  if (typeof server["url"] !== "string") return "stdio";
  return server["transport"] === "sse" ? "sse" : "http";
}

/** The one text that proves who we are to a remote server, if it is of the kind that older clients know. */
function keyOf({ auth }: JsonObject): string | null {
  if (typeof auth === "string") return auth === "" || auth === "oauth" ? null : auth;
  const value = (auth as JsonObject | undefined | null)?.["value"];
  return typeof value === "string" && value !== "" ? value : null;
}

function freeName(transport: Transport, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number++) {
    const name = `${transport}_${number}`;
    if (!isTaken(name)) return name;
  }
}

function pick(object: JsonObject, key: string): JsonObject {
  return object[key] === undefined ? {} : { [key]: object[key] };
}
