import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { createSecureContext } from "node:tls";
import { connectTcp } from "../../packages/server/src/egress/addresses/sockets.ts";
import { openEgress } from "../../packages/server/src/egress/open-egress.ts";
import { names, placeholder, type WayOrder } from "./way-order.ts";

/** One proxy in a process of its own, whose processor time is asked for: the way out of a wall, or a plain one. */
process.once("message", (order: WayOrder) => {
  void (order.kind === "egress" ? serveEgress(order) : servePlain(order)).then((certificate) => {
    process.send?.({ certificate });
    process.on("message", () => process.send?.(process.cpuUsage()));
  });
});

async function serveEgress({ socketPath, ports, trusted }: WayOrder): Promise<string> {
  const context = createSecureContext({ ca: trusted });
  const egress = await openEgress({
    socketPath,
    policy: { allow: Object.values(names) },
    limitedBy: [],
    secrets: () => [
      { name: "TOKEN", placeholder, value: "s3cret-value", hosts: ["api.example.com"], as: ["header"] },
    ],
    isOwnListener: () => false,
    onRecord: () => {},
    onUnexpected: (error) => console.error(error),
    resolve: async () => [{ address: "1.1.1.1", family: 4 }],
    connect: (_addresses, port) =>
      connectTcp({ host: "127.0.0.1", port: port === 443 ? ports.secure : ports.raw }),
    upstreamTrust: () => context,
  });
  return egress.certificate;
}

/** The least that a proxy does: no policy, Node's own buffers. */
async function servePlain({ socketPath, ports, trusted }: WayOrder): Promise<string> {
  const server = createServer();
  server.on("connect", ({ url }, client) => {
    const upstream = connect({ host: "127.0.0.1", port: url === names.secure ? ports.secure : ports.raw });
    upstream.once("connect", () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
    client.on("error", () => upstream.destroy()).pipe(upstream);
    upstream.on("error", () => client.destroy()).pipe(client);
  });
  server.listen(socketPath);
  await once(server, "listening");
  return trusted;
}
