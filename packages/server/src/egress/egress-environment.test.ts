import { expect, test } from "vitest";
import { egressEnvironment } from "./egress-environment.ts";

test("programs use the proxy in all spellings, reach servers inside directly, and trust the wall", () => {
  const environment = egressEnvironment({
    bundle: "/run/convoke/bundle.pem",
    authority: "/run/convoke/ca.pem",
    publicKeyDigest: "digest=",
  });
  for (const name of ["http_proxy", "HTTPS_PROXY", "ALL_PROXY", "grpc_proxy"]) {
    expect(environment[name]).toBe("http://127.0.0.1:3128");
  }
  expect(environment).toMatchObject({
    no_proxy: "localhost,127.0.0.1,::1",
    NO_PROXY: "localhost,127.0.0.1,::1",
    SSL_CERT_FILE: "/run/convoke/bundle.pem",
    GIT_SSL_CAINFO: "/run/convoke/bundle.pem",
    NODE_EXTRA_CA_CERTS: "/run/convoke/ca.pem",
    NODE_USE_ENV_PROXY: "1",
    CONVOKE_TRUSTED_KEY: "digest=",
  });
});
