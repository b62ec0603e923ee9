import type { NetworkPolicy, NetworkRules } from "@convoke/protocol";
import { Fault } from "../../lib/fault.ts";
import { isObject } from "../../lib/json-object.ts";
import { compilePolicy } from "./compiled-policy.ts";

/**
 * A policy from a flag or variable: `none`, `registries`, `all`, hosts with commas between (`registries,api.example.com`), or an object of
 * JSON. Throws an Error with a sentence that says what is wrong.
 */
export function parseNetwork(text: string): NetworkPolicy {
  const policy = readPolicy(text.trim());
  try {
    compilePolicy(policy);
  } catch (error) {
    if (error instanceof Fault) throw new Error(error.message, { cause: error });
    throw error;
  }
  return policy;
}

function readPolicy(text: string): NetworkPolicy {
  if (text === "none" || text === "registries" || text === "all") return text;
  if (text.startsWith("{")) return readRules(text);
  const entries = text.split(",").map((entry) => entry.trim());
  if (entries.includes("all") || entries.includes("none") || entries.includes(""))
    throw new Error(
      `The network must be none, registries, all, or hosts with commas between such as registries,api.example.com, not "${text}".`,
    );
  const allow = entries.filter((entry) => entry !== "registries");
  return { allow, ...(allow.length < entries.length ? { presets: ["registries"] } : {}) };
}

function readRules(text: string): NetworkPolicy {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (cause) {
    throw new Error(`The network is no JSON: ${text}`, { cause });
  }
  if (!isObject(given)) throw new Error(`The network is no JSON object: ${text}`);
  for (const [name, value] of Object.entries(given)) {
    const isRight = name === "intercept" ? typeof value === "boolean" : isTexts(value);
    if (!fields.has(name))
      throw new Error(`network.${name}: There is no such field. There are ${[...fields].join(", ")}.`);
    if (!isRight)
      throw new Error(
        `network.${name}: This must be ${name === "intercept" ? "true or false" : "a list of texts"}.`,
      );
    if (name === "presets" && (value as string[]).some((preset) => preset !== "registries"))
      throw new Error('network.presets: The only preset is "registries".');
  }
  return given;
}

/** By hand: a start does not load the schemas of the wire for it. */
const fields: ReadonlySet<string> = new Set([
  "allow",
  "read_only",
  "private",
  "deny",
  "presets",
  "intercept",
] satisfies (keyof NetworkRules)[]);

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
