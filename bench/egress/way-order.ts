/** What the process of the hosts gets. */
export type OriginOrder = { readonly key: string; readonly cert: string; readonly mebibytes: number };

export type OriginPorts = { readonly raw: number; readonly secure: number };

/** What the process of a proxy gets. */
export type WayOrder = {
  readonly kind: "egress" | "plain";
  /** Where it listens: a Unix socket. */
  readonly socketPath: string;
  readonly ports: OriginPorts;
  /** Of the host over TLS, as PEM. */
  readonly trusted: string;
};

/** The host over TLS, to which a secret is bound, and the one that sends raw bytes. */
export const names = { secure: "api.example.com:443", raw: "raw.example.com:9000" } as const;

export const placeholder = "cvk_TOKEN_0123456789abcdefghijklmn";
