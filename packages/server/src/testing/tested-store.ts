import type { ServerConfig } from "../boot/config.ts";

type MakeStore = () => Promise<Partial<ServerConfig>>;

/** Servers of benches, scripts and the demo have no runner of tests around them that could say something else. */
let makeStore: MakeStore = async () => ({});

/** Says on which store servers are tested from now on. */
export function testOn(make: MakeStore): void {
  makeStore = make;
}

/** What the configuration of a server has for the store that this run of the tests is about. */
export async function readTestedStore(): Promise<Partial<ServerConfig>> {
  return await makeStore();
}
