import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";

/**
 * Loaded into a tool host inside a sandbox (`node --import`): leads connections from a unix socket to TCP ports inside.
 * The caller's first line is a port; the forwarder answers `ok`, or one line that says why not, and from then on only passes bytes.
 */
const socketPath = "/run/convoke/ports.sock";
const longestLine = 8;

const server = createServer({ allowHalfOpen: true }, (caller) => {
  caller.on("error", () => caller.destroy());
  let line = "";
  const onData = (bytes: Buffer): void => {
    line += bytes.toString("latin1");
    const end = line.indexOf("\n");
    if (end === -1 && line.length <= longestLine) return;
    caller.off("data", onData);
    caller.pause();
    lead(caller, Number(line.slice(0, end)), Buffer.from(line.slice(end + 1), "latin1"));
  };
  caller.on("data", onData);
});
server.on("error", (error) => console.error(`No port of this sandbox can be reached: ${error.message}`));
rmSync(socketPath, { force: true });
server.listen(socketPath, () => chmodSync(socketPath, 0o600));
server.unref();

function lead(caller: Socket, port: number, first: Buffer): void {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return void caller.end("not a port\n");
  let isLed = false;
  const inner = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  inner.on("error", (error) => (isLed ? caller.destroy() : caller.end(`${error.message}\n`)));
  inner.once("connect", () => {
    isLed = true;
    caller.write("ok\n");
    inner.write(first);
    caller.pipe(inner).pipe(caller);
  });
  caller.on("close", () => inner.destroy());
}
