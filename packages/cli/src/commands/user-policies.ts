import { openPolicyStore, readConfig, type OpenedPolicyStore } from "@convoke/server/keys";
import { parseNetwork } from "@convoke/server/network";
import type { LeastWall, NetworkPolicy, UserPolicy } from "@convoke/protocol";
import { InvalidArgumentError, type Command } from "commander";
import { CommandError } from "../exit-codes.ts";
import { storeOverrides, type StoreOptions } from "./store-options.ts";
import { printJson } from "../print/json.ts";

/** A limit that a user does not have themselves. */
const unset = "default";

type Options = StoreOptions & { readonly json?: true };
type PolicyOptions = Options & {
  readonly conversations?: number | typeof unset;
  readonly runningWalls?: number | typeof unset;
  readonly leastWall?: LeastWall | typeof unset;
  readonly maxNetwork?: NetworkPolicy | typeof unset;
  readonly mayTurnOff?: boolean | typeof unset;
};

/** `convoke keys policies` and `set-policy`. */
export function addUserPolicies(keys: Command, withCommonOptions: (command: Command) => Command): void {
  withCommonOptions(keys.command("policies"))
    .description("List what users may have at most; * stands for all users")
    .action(list);
  withCommonOptions(keys.command("set-policy <user>"))
    .description(
      'Limit a user, or all with *; what is not named stays, "default" removes a limit; running servers follow within a second',
    )
    .option("--conversations <number>", "how many conversations may exist", numberFrom(0))
    .option("--running-walls <number>", "how many walls may run at one time, on all nodes", numberFrom(1))
    .option("--least-wall <wall>", "none, as_root or bubblewrap", readLeastWall)
    .option("--max-network <network>", "none, registries, all, or hosts with commas between them", (text) =>
      text === unset ? unset : readNetwork(text),
    )
    .option("--may-turn-off <answer>", "no: conversations cannot do without their wall", readAnswer)
    .action(set);
}

async function list(options: Options): Promise<void> {
  await using opened = await open(options);
  const policies = await opened.store.list();
  if (options.json === true) printJson("policies", policies);
  else if (policies.length === 0) console.log("No user is limited.");
  else for (const { userId, policy } of policies) console.log(line(userId, policy));
}

async function set(user: string, options: PolicyOptions): Promise<void> {
  await using opened = await open(options);
  if (!(await opened.isKnown(user)))
    throw new CommandError(`There is no user ${user}. See convoke keys users.`);
  const given = {
    conversations: options.conversations,
    running_walls: options.runningWalls,
    least_wall: options.leastWall,
    max_network: options.maxNetwork,
    may_turn_off: options.mayTurnOff,
  };
  const changes: UserPolicy = Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value === unset ? null : value]],
    ),
  );
  const policy = await opened.store.change(user, (before) => ({ ...before, ...changes }));
  if (options.json === true) printJson("policy", { userId: user, policy });
  else console.log(line(user, policy));
}

async function open(options: Options): Promise<OpenedPolicyStore> {
  const { dataDir, database } = readConfig(process.env, storeOverrides(options));
  return await openPolicyStore(dataDir, database);
}

function line(user: string, policy: UserPolicy): string {
  const shown = Object.entries(policy).map(
    ([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
  );
  return `${user.padEnd(12)}  ${shown.length === 0 ? "not limited" : shown.join(", ")}`;
}

function numberFrom(least: number): (text: string) => number | typeof unset {
  return (text) => {
    if (text === unset) return unset;
    const value = Number(text);
    if (text.trim() !== "" && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} on, or ${unset}.`);
  };
}

function readLeastWall(text: string): LeastWall | typeof unset {
  if (text === unset) return unset;
  if (text === "none" || text === "as_root" || text === "bubblewrap") return text;
  throw new InvalidArgumentError(`Give none, as_root, bubblewrap or ${unset}.`);
}

function readNetwork(text: string): NetworkPolicy {
  try {
    return parseNetwork(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function readAnswer(text: string): boolean | typeof unset {
  if (text === unset) return unset;
  if (text === "yes" || text === "no") return text === "yes";
  throw new InvalidArgumentError(`Give yes, no or ${unset}.`);
}
