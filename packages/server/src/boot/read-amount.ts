import { ConfigError } from "../lib/config-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws a {@link ConfigError} for anything but a number from `least` up. */
export function readAmount(
  environment: Environment,
  name: string,
  fallback: number,
  least: number,
  isWhole = true,
): number {
  const text = environment[name];
  if (text === undefined || text === "") return fallback;
  const value = Number(text);
  if (Number.isFinite(value) && value >= least && (!isWhole || Number.isInteger(value))) return value;
  throw new ConfigError(
    `${name} must be a ${isWhole ? "whole " : ""}number from ${least} up, not "${text}".`,
  );
}
