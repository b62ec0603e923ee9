import { join } from "node:path";
import { describeToolHost } from "../contract.ts";
import { openServedHost } from "../testing/served-host.ts";

describeToolHost("tool host over a unix socket", async () =>
  openServedHost((dir) => ({ socket: join(dir, "host.sock") })),
);

describeToolHost("tool host over TCP", async () => openServedHost(() => ({ address: "127.0.0.1", port: 0 })));
