import type { FieldFault } from "../../lib/fault.ts";
import type { McpRemote, McpServer } from "./mcp-server.ts";
import { isObject, objectOr, type JsonObject } from "../../lib/json-object.ts";

type Location = readonly (string | number)[];

/** The enabled servers of a configuration, and everything that is wrong with it; `loc` leads to the configuration. */
export type ReadServers = { readonly servers: McpServer[]; readonly faults: FieldFault[] };

const defaultCallTimeoutMs = 300_000;
const longestCallTimeoutMs = 3_600_000;

/**
 * Reads a map of servers by name, bare or below `mcpServers`, or the three lists of older clients. Unknown keys are passed
 * over, `type` is `transport`, `shttp` is `http`.
 */
export function readServers(config: unknown, loc: Location): ReadServers {
  const servers: McpServer[] = [];
  const faults: FieldFault[] = [];
  for (const [name, given] of Object.entries(serversByName(config))) {
    const place = [...loc, name];
    const fault = (msg: string, ...field: string[]): void => {
      faults.push({ loc: [...place, ...field], msg, type: "value_error" });
    };
    if (!isObject(given)) fault("A server is an object with a url or a command.");
    else if (given["enabled"] !== false) {
      const server = readServer(name, given, fault);
      if (server !== null) servers.push(server);
    }
  }
  return { servers, faults };
}

type Report = (msg: string, ...field: string[]) => void;

function readServer(name: string, given: JsonObject, fault: Report): McpServer | null {
  const callTimeoutMs = readTimeout(given["timeout"] ?? null, fault);
  const transport = transportOf(given);
  if (transport === null) {
    fault("Use stdio, http, streamable-http or sse.", "transport");
    return null;
  }
  if (transport === "stdio") {
    const { command, args = [], env = {}, cwd = null } = given;
    if (typeof command !== "string" || command.trim() === "")
      fault("A stdio server needs a command.", "command");
    else if (!isTexts(args ?? [])) fault("Send a list of texts.", "args");
    else if (!isTextMap(env ?? {})) fault("Send texts by name.", "env");
    else {
      return {
        name,
        callTimeoutMs,
        transport,
        command,
        args: (args ?? []) as string[],
        env: (env ?? {}) as Record<string, string>,
        cwd: typeof cwd === "string" && cwd !== "" ? cwd : null,
      };
    }
    return null;
  }
  const { url, headers = {} } = given;
  if (typeof url !== "string" || !isAddress(url)) {
    fault("Send an address such as https://example.org/mcp.", "url");
    return null;
  }
  if (hasLogin(url)) {
    // No request is ever made with one, and errors name the address.
    fault("Send a password or key in headers or auth, not inside the address.", "url");
    return null;
  }
  if (!isTextMap(headers ?? {})) {
    fault("Send texts by name.", "headers");
    return null;
  }
  const auth = readAuth(
    given["auth"] ?? given["api_key"] ?? null,
    (headers ?? {}) as Record<string, string>,
    fault,
  );
  return auth === null ? null : { name, callTimeoutMs, transport, url, ...auth };
}

function readAuth(
  auth: unknown,
  headers: Readonly<Record<string, string>>,
  fault: Report,
): Pick<McpRemote, "headers" | "oauth"> | null {
  // Without its value a header would be one of nobody.
  const withHeader = (name: string, value: string, before = "") => ({
    headers: value === "" ? headers : { ...headers, [name]: `${before}${value}` },
    oauth: null,
  });
  if (auth === null || auth === "" || auth === "none") return { headers, oauth: null };
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) {
    fault("Send either auth or an Authorization header.", "auth");
    return null;
  }
  if (auth === "oauth") return { headers, oauth: { authentication: {}, state: {} } };
  if (typeof auth === "string") return withHeader("Authorization", auth, "Bearer ");
  if (!isObject(auth)) {
    fault("Send an object with a strategy.", "auth");
    return null;
  }
  const text = (field: string): string => {
    const value = auth[field];
    return typeof value === "string" ? value : "";
  };
  switch (auth["strategy"]) {
    case "none":
      return { headers, oauth: null };
    case "bearer":
      return withHeader("Authorization", text("value"), "Bearer ");
    case "api_key": {
      const header = text("header_name");
      return header === ""
        ? withHeader("Authorization", text("value"), "Bearer ")
        : withHeader(header, text("value"));
    }
    case "basic": {
      const pair = Buffer.from(`${text("username")}:${text("password")}`, "utf8").toString("base64");
      return withHeader("Authorization", `Basic ${pair}`);
    }
    case "header":
      if (!isTextMap(auth["headers"] ?? {})) break;
      return { headers: { ...headers, ...(auth["headers"] as Record<string, string>) }, oauth: null };
    case "oauth2":
      return {
        headers,
        oauth: { authentication: objectOr(auth["authentication"]), state: objectOr(auth["state"]) },
      };
    default:
  }
  fault("The strategy is one of none, api_key, bearer, basic, header, oauth2.", "auth", "strategy");
  return null;
}

function transportOf(given: JsonObject): "stdio" | "http" | "sse" | null {
  const { url, command } = given;
  switch (given["transport"] ?? given["type"] ?? null) {
    case "stdio":
      return "stdio";
    case "http":
    case "shttp":
    case "streamable-http":
    case "streamable_http":
      return "http";
    case "sse":
      return "sse";
    case null:
      if (typeof command === "string" && typeof url !== "string") return "stdio";
      return typeof url === "string" && /\/sse(\/|\?|$)/.test(url) ? "sse" : "http";
    default:
      return null;
  }
}

/** The map itself, whatever it is wrapped in. */
export function serversByName(config: unknown): JsonObject {
  if (!isObject(config)) return {};
  if (isObject(config["mcpServers"])) return config["mcpServers"];
  const lists = ["sse_servers", "shttp_servers", "stdio_servers"].filter((key) => Array.isArray(config[key]));
  if (lists.length === 0) return config;
  const entries = lists.flatMap((list) =>
    (config[list] as unknown[]).filter(isObject).map((server, index): [string, JsonObject] => {
      const transport = list === "sse_servers" ? "sse" : list === "shttp_servers" ? "http" : "stdio";
      const name = typeof server["name"] === "string" ? server["name"] : `${transport}_${index + 1}`;
      return [name, { ...server, transport }];
    }),
  );
  return Object.fromEntries(entries);
}

function readTimeout(seconds: unknown, fault: Report): number {
  if (seconds === null) return defaultCallTimeoutMs;
  if (typeof seconds === "number" && seconds > 0) return Math.min(seconds * 1000, longestCallTimeoutMs);
  fault("Send a number of seconds greater than 0.", "timeout");
  return defaultCallTimeoutMs;
}

/** A variable in an address is filled in later. */
function sampleOf(url: string): string {
  return url.replaceAll(/\$\{(?:[^}$]|\$(?!\{))*\}/g, "x");
}

function isAddress(url: string): boolean {
  const sample = sampleOf(url);
  return URL.canParse(sample) && ["http:", "https:"].includes(new URL(sample).protocol);
}

function hasLogin(url: string): boolean {
  const { username, password } = new URL(sampleOf(url));
  return username !== "" || password !== "";
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isTextMap(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((item) => typeof item === "string");
}
