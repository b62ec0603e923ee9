/** A kind of machine that packages are built for. */
export type Target = {
  /** npm's and Node's name. */
  readonly cpu: "x64" | "arm64";
  /** Debian's name. */
  readonly architecture: "amd64" | "arm64";
  /** Programs that can strip its programs, the first that is installed is used. */
  readonly strippers: readonly string[];
};

export const targets: readonly Target[] = [
  { cpu: "x64", architecture: "amd64", strippers: ["x86_64-linux-gnu-strip", "llvm-strip"] },
  { cpu: "arm64", architecture: "arm64", strippers: ["aarch64-linux-gnu-strip", "llvm-strip"] },
];
