import { Type, type Static } from "typebox";
import { choice, list, nullable, object, orNull } from "../schema.ts";

const text = (value: string) => Type.Optional(Type.String({ default: value }));

const runtime = choice(["local", "docker"]);

/** Facts about a server; times are in seconds. */
export const ServerInfo = object("ServerInfo", {
  uptime: Type.Number(),
  idle_time: Type.Number(),
  title: text("agent server"),
  version: text("0.1.0"),
  sdk_version: Type.Optional(Type.String()),
  tools_version: Type.Optional(Type.String()),
  workspace_version: Type.Optional(Type.String()),
  server_version: Type.Optional(Type.String()),
  usable_tools: list(Type.String(), { description: "What agents can ask for by name." }),
  runtime_idle_timeout_seconds: orNull(Type.Number({ description: "Nothing here ends for being idle." })),
  conversation_runtime: Type.Optional(runtime),
  available_conversation_runtimes: list(runtime),
  capabilities: list(Type.String()),
  docs: text("/docs"),
  redoc: text("/redoc"),
});
export type ServerInfo = Static<typeof ServerInfo>;

/** Address of the editor, or null. */
export const VSCodeUrlResponse = object("VSCodeUrlResponse", { url: nullable(Type.String()) });
export type VSCodeUrlResponse = Static<typeof VSCodeUrlResponse>;

/** Address of the desktop, or null. */
export const DesktopUrlResponse = object("DesktopUrlResponse", { url: nullable(Type.String()) });
export type DesktopUrlResponse = Static<typeof DesktopUrlResponse>;
