import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { Random } from "./random.ts";

/** A way to a server on 127.0.0.1 that breaks again and again. */
export type CutProxy = AsyncDisposable & {
  readonly port: number;
  /** Connections cut so far. */
  readonly cutCount: number;
  /** From now on connections live as long as they like. */
  heal(): void;
};

export type CutProxyOptions = {
  readonly targetPort: number;
  readonly random: Random;
  /** Each connection ends after 1 to 2^n bytes from the server, small counts as likely as large ones. */
  readonly longestBytesPower: number;
  /** Or after so many milliseconds at most, whichever comes first. */
  readonly longestMs: number;
};

/**
 * Passes bytes on and cuts every connection at a random byte or moment: within the handshake, within a frame, while nothing
 * happens; by an orderly end or by a reset.
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
      // What breaks here is what the proxy is for; the other side sees it as a closed connection.
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
