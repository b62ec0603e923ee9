import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A way to a server on 127.0.0.1 that can be taken away and given back. */
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
        // What breaks here is what the gate is for; the other side sees it as a closed connection.
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

  /** Ends every connection, and every new one until it is given back. */
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
