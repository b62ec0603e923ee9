import { availableParallelism } from "node:os";
import { userRoles, type UserRole } from "@convoke/protocol";
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
