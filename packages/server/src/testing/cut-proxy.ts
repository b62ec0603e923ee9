import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { Random } from "./random.ts";

/** A proxy to a server on 127.0.0.1 whose connections break again and again. */
export type CutProxy = AsyncDisposable & {
  readonly port: number;
  /** Number of connections cut so far. */
  readonly cutCount: number;
  /** From now on connections are not cut. */
  heal(): void;
};

export type CutProxyOptions = {
  readonly targetPort: number;
  readonly random: Random;
  /** Each connection ends after 1 to 2^n bytes from the server; small counts are as likely as large ones. */
  readonly longestBytesPower: number;
  /** Or after at most this many milliseconds, whichever comes first. */
  readonly longestMs: number;
};

/**
 * Forwards bytes and cuts every connection at a random byte or moment: within the handshake, within a frame, or while idle; by an
 * orderly end or by a reset.
 */
export async function openCutProxy(options: CutProxyOptions): Promise<CutProxy> {
  const { targetPort, random, longestBytesPower, longestMs } = options;
  const open = new Set<() => void>();
  let cutCount = 0;
  let isHealed = false;

  function serve(client: Socket): void {
    const upstream = connect(targetPort, "127.0.0.1");
    let bytesLeft = isHealed ? Infinity : Math.ceil(2 ** (random.next() * longestBytesPower));
    const isReset = random.next() < 0.5;
    let isOver = false;
    const end = (): void => {
      isOver = true;
      clearTimeout(timer);
      open.delete(end);
      upstream.destroy();
      if (isReset) client.resetAndDestroy();
      else client.destroySoon();
    };
    const cut = (): void => {
      if (isOver) return;
      cutCount += 1;
      end();
    };
    const timer = setTimeout(cut, isHealed ? 2 ** 31 - 1 : random.next() * longestMs);
    open.add(end);
    client.setNoDelay();
    upstream.setNoDelay();
    client.on("data", (data) => {
      if (!upstream.write(data)) client.pause();
    });
    upstream.on("drain", () => client.resume());
    upstream.on("data", (data) => {
      const passed = data.subarray(0, Math.min(data.length, bytesLeft));
      bytesLeft -= passed.length;
      if (!client.write(passed)) upstream.pause();
      if (bytesLeft <= 0) cut();
    });
    client.on("drain", () => upstream.resume());
    for (const socket of [client, upstream]) {
      // Broken connections are the purpose of the proxy; the other side sees a closed connection.
      socket.on("error", end);
      socket.on("close", end);
    }
  }

  const server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get cutCount() {
      return cutCount;
    },
    heal: () => {
      isHealed = true;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const end of open) end();
      await closed;
    },
  };
}
