import type { ServerConfig } from "../boot/config.ts";

type MakeStore = () => Promise<Partial<ServerConfig>>;

/** Servers of benches, scripts and the demo run without a test runner that could select another store. */
let makeStore: MakeStore = async () => ({});

/** Selects the store on which servers are tested from now on. */
export function testOn(make: MakeStore): void {
  makeStore = make;
}

/** The server configuration for the store of this test run. */
export async function readTestedStore(): Promise<Partial<ServerConfig>> {
  return await makeStore();
}
