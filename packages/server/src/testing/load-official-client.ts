type Package = typeof import("@openhands/typescript-client") &
  typeof import("@openhands/typescript-client/clients");

/**
 * Every export of the official client, unmodified. Its sockets need a browser's `window.WebSocket` or `require`, and an ES module of Node
 * has neither: so a `window` exists while the package loads.
 */
export async function loadOfficialClient(): Promise<Package> {
  Object.assign(globalThis, { window: { WebSocket } });
  try {
    const [main, clients] = await Promise.all([
      import("@openhands/typescript-client"),
      import("@openhands/typescript-client/clients"),
    ]);
    return { ...main, ...clients };
  } finally {
    Reflect.deleteProperty(globalThis, "window");
  }
}

export type OfficialClient = Package;
