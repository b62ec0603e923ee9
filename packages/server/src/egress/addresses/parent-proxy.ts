import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { formatTarget } from "../../lib/host-name.ts";
import { Unreachable } from "../records/refusal.ts";
import { nextReadable } from "../../lib/next-readable.ts";
import { orAborted } from "../../lib/or-aborted.ts";
import { buffered, type ConnectWait, connectTcp, whenConnected } from "./sockets.ts";

const maxHeadBytes = 16 * 1024;

/** A connection to the target through the machine's own HTTP proxy (`CONNECT`). */
export async function openThroughProxy(proxy: URL, wait: ConnectWait): Promise<Socket> {
  const { target, timeoutMs, signal } = wait;
  const host = proxy.hostname.replace(/^\[(.*)\]$/, "$1");
  const isTls = proxy.protocol === "https:";
  const port = Number(proxy.port) || (isTls ? 443 : 80);
  const name = formatTarget(target);
  const socket = isTls
    ? await whenConnected(
        connectTls({ host, port, ...buffered, ...(isIP(host) === 0 ? { servername: host } : {}) }),
        wait,
        "secureConnect",
      )
    : await whenConnected(connectTcp({ host, port }), wait);
  const login =
    proxy.username === "" && proxy.password === ""
      ? ""
      : `Proxy-Authorization: Basic ${Buffer.from(
          `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`,
        ).toString("base64")}\r\n`;
  socket.write(`CONNECT ${name} HTTP/1.1\r\nHost: ${name}\r\n${login}\r\n`);
  const timer = setTimeout(() => socket.destroy(new Error("timeout")), timeoutMs);
  try {
    const head = await orAborted(readHead(socket), signal);
    if (/^HTTP\/1\.[01] 2\d\d(?: |\r)/.test(head)) return socket;
    throw new Error(`status ${/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? "unreadable"}`);
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw error;
    throw new Unreachable(target, 502, "The machine's own proxy did not connect to it.", { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Up to the empty line; what follows stays in the socket. */
async function readHead(socket: Socket): Promise<string> {
  let bytes = Buffer.alloc(0);
  while (bytes.length < maxHeadBytes) {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) {
      if (socket.readableEnded || socket.destroyed) throw new Error("ended");
      await nextReadable(socket);
      continue;
    }
    bytes = Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf("\r\n\r\n");
    if (end === -1) continue;
    if (bytes.length > end + 4) socket.unshift(bytes.subarray(end + 4));
    return bytes.subarray(0, end).toString("latin1");
  }
  throw new Error("too long");
}
