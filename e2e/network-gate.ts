import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A proxy to a server on 127.0.0.1 that can be switched off and on. */
export class NetworkGate implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isOpen = true;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      if (!this.#isOpen) {
        client.resetAndDestroy();
        return;
      }
      const upstream = connect(targetPort, "127.0.0.1");
      const end = (): void => {
        client.destroy();
        upstream.destroy();
      };
      for (const socket of [client, upstream]) {
        socket.setNoDelay();
        this.#sockets.add(socket);
        // Broken connections are the purpose of the proxy; the other side sees a closed connection.
        socket.on("error", end);
        socket.on("close", () => {
          this.#sockets.delete(socket);
          end();
        });
      }
      client.pipe(upstream).pipe(client);
    });
  }

  static async open(targetPort: number): Promise<NetworkGate> {
    const gate = new NetworkGate(targetPort);
    await new Promise<void>((resolve) => gate.#server.listen(0, "127.0.0.1", resolve));
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Closes every connection, and every new one until it is switched on again. */
  cut(): void {
    this.#isOpen = false;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  restore(): void {
    this.#isOpen = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.cut();
    await closed;
  }
}
