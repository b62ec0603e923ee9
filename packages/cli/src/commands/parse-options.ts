import { availableParallelism } from "node:os";
import type { UserRole } from "@convoke/protocol";
import { userRoles } from "@convoke/protocol/user-roles";
import { InvalidArgumentError } from "commander";

const logLevels = ["fatal", "error", "warn", "info", "debug", "silent"] as const;

export function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535 || text.trim() === "") {
    throw new InvalidArgumentError("The port must be a whole number from 0 to 65535.");
  }
  return port;
}

export function parseLogLevel(text: string): (typeof logLevels)[number] {
  const level = logLevels.find((name) => name === text);
  if (level === undefined)
    throw new InvalidArgumentError(`The level must be one of ${logLevels.join(", ")}.`);
  return level;
}

export function parseRole(text: string): UserRole {
  const role = userRoles.find((name) => name === text);
  if (role === undefined) throw new InvalidArgumentError(`The role must be one of ${userRoles.join(", ")}.`);
  return role;
}

/** In the spelling of the store. */
export function parseConversation(text: string): string {
  const digits = text.toLowerCase().replaceAll("-", "");
  if (!/^[0-9a-f]{32}$/.test(digits)) throw new InvalidArgumentError("It must be the id of a conversation.");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  return count;
}

const maxSeconds = 86_400;

export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() === "" || !(seconds >= 0 && seconds <= maxSeconds))
    throw new InvalidArgumentError(`It must be a number of seconds from 0 to ${maxSeconds}.`);
  return seconds;
}

/** They are printed at once. */
const maxEvents = 10_000;

export function parseEvents(text: string): number {
  const count = Number(text);
  if (text.trim() === "" || !Number.isInteger(count) || count < 0 || count > maxEvents)
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${maxEvents}.`);
  return count;
}

/** More would only wait for each other. */
const maxProcesses = 64;

export function parseProcesses(text: string): number {
  if (text === "auto") return Math.min(maxProcesses, availableParallelism());
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > maxProcesses)
    throw new InvalidArgumentError(`It must be auto or a whole number from 1 to ${maxProcesses}.`);
  return count;
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Whole seconds. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new InvalidArgumentError(
      "It must be a number of seconds, minutes, hours or days such as 90s, 30m, 6h or 2d.",
    );
  return Number(count) * unitSeconds[unit]!;
}

export function parseAmount(text: string): number {
  const amount = Number(text);
  if (text.trim() === "" || !Number.isFinite(amount) || amount < 0)
    throw new InvalidArgumentError("It must be an amount of US dollars such as 1.50.");
  return amount;
}

/** Adds one `name=value` to those before. */
export function parseTag(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be a name and a value such as team=docs.");
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
