import { expect, test } from "vitest";
import { toOuterHeaders } from "./port-headers.ts";

const context = {
  path: { sandboxId: "s", portKey: null, port: 3000, prefix: "/sandboxes/s/ports/3000", rest: "/" },
  publicAddress: "https://agents.example.org",
  remoteAddress: "",
};

test.each([
  "x-accel-redirect",
  "x-accel-buffering",
  "x-accel-expires",
  "x-sendfile",
  "x-sendfile-type",
  "x-lighttpd-send-file",
  "x-lighttpd-send-tempfile",
  "x-reproxy-url",
  "x-reproxy-file",
  "x-request-id",
])("security 14: %s from a sandbox commands no proxy and forges nothing", (name) => {
  const outer = toOuterHeaders({ [name]: "/internal/secret", "x-mine": "1" }, context, undefined);
  expect(outer).not.toHaveProperty(name);
  expect(outer).toMatchObject({ "x-mine": "1" });
});
