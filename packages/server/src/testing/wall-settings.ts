import { findBubblewrap, ownAccount } from "../sandboxes/find-bubblewrap.ts";

/** Where bubblewrap does not work, servers of tests start without walls; the tests of walls themselves are skipped there by name. */
export const wallSettings: Readonly<Record<string, string>> = (
  await findBubblewrap({
    self: ownAccount(),
    unprivileged: { uid: 65_534, gid: 65_534 },
    environment: process.env,
  })
).isUsable
  ? {}
  : { CONVOKE_WALL: "off" };
